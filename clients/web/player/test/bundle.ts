import { build } from 'vite';

/**
 * A module and all that it imports, as a page's bundler makes it: each file's text by its name.
 *
 * Left out is what the media package brings for browsers without a decoder of sound, which is under the LGPL.
 */
export async function bundled(entry: string, name: string): Promise<Map<string, string>> {
  const made = await build({
    configFile: false,
    logLevel: 'warn',
    build: {
      write: false,
      minify: true,
      target: 'es2022',
      modulePreload: false,
      rolldownOptions: {
        input: entry,
        external: ['@libav.js/variant-opus-af', '@kixelated/libavjs-webcodecs-polyfill'],
        preserveEntrySignatures: 'strict',
        output: { entryFileNames: `${name}.js`, chunkFileNames: `${name}-[name].js`, postBanner: LICENCES },
      },
    },
  });
  const [output] = Array.isArray(made) ? made : [made];
  if (output === undefined || !('output' in output)) throw new Error('vite made nothing');
  const chunks = output.output.filter((file) => file.type === 'chunk');
  return new Map(chunks.map(({ fileName, code }) => [fileName, code]));
}

/** Of what is in it from others. */
const LICENCES =
  '/* With code of @moq/net, @moq/watch, @moq/hang, @moq/signals (MIT OR Apache-2.0, moq-dev) and of hls.js (Apache-2.0, Dailymotion). */';
