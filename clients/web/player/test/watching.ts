import { record } from './recorder.ts';
import type { Server, Stage } from './stage.ts';
import type { Viewer } from './viewer.ts';

/** A page with a player that writes down its sessions and frames. */
export async function watch(
  stage: Stage,
  server: Server,
  attributes: Record<string, string> = {},
  prepare: (viewer: Viewer) => unknown = () => {},
): Promise<Viewer> {
  return stage.viewer({ server: server.url, stream: 'demo', ...attributes }, async (viewer) => {
    await viewer.page.addInitScript(record);
    await prepare(viewer);
  });
}

/** Waits until so many frames were seen. */
export async function frames(viewer: Viewer, count: number): Promise<void> {
  await viewer.page.waitForFunction((count) => drawn.filter(({ seen }) => seen).length >= count, count);
}

/** The sessions that its player opened. */
export function sessions(viewer: Viewer): Promise<typeof globalThis.opened> {
  return viewer.page.evaluate(() => globalThis.opened);
}

/** The token that a session was opened with. */
export function token(url = ''): string | null {
  return new URL(url).searchParams.get('jwt');
}

/** Makes the page believe that its tokens end soon: the server gives none for less than 30 s. */
export function renewOften({ page }: Viewer): Promise<unknown> {
  return page.addInitScript(() => {
    const read = Response.prototype.text;
    Response.prototype.text = async function () {
      return (await read.call(this)).replace(/"token_expires_s":\d+/, '"token_expires_s":5');
    };
  });
}
