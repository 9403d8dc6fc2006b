import { build } from 'vite';

/** A module and all that it imports as one file, as a page's bundler makes it; not squeezed, so that it can be read. */
export async function bundled(entry: string): Promise<string> {
  const lib = { entry, formats: ['es' as const] };
  const made = await build({ configFile: false, logLevel: 'warn', build: { lib, write: false, minify: false } });
  const [output] = Array.isArray(made) ? made : [];
  const [chunk] = output?.output ?? [];
  if (chunk?.type !== 'chunk') throw new Error('vite made no chunk');
  return chunk.code;
}
