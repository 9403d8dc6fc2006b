/** The picture, in a real browser, from real relays. */
import { expect } from 'vitest';
import { staged } from './stage.ts';
import { frames, renewOften, sessions, token, watch } from './watching.ts';

const ASKING = 'Finding you a seat…';
const STARTING = 'You have a seat. Starting the picture…';
const NOT_STARTED = 'The stream has not started.';

staged('the picture moves over MoQ, without a line, and is heard when somebody wants it', async ({ stage }) => {
  const server = await stage.demo();
  const viewer = await watch(stage, server);
  await frames(viewer, 30);
  expect(await viewer.lines()).toEqual([ASKING, STARTING, '']);
  expect(await sessions(viewer)).toHaveLength(1);
  expect(await viewer.page.evaluate(() => loudness())).toBe(0);
  await viewer.button('Sound on').click();
  expect(await viewer.player.evaluate((player) => (player as HTMLElement & { muted: boolean }).muted)).toBe(false);
  await viewer.page.waitForFunction(() => loudness() > 0);
});

staged('nobody publishes yet', async ({ stage }) => {
  const server = await stage.demo();
  const stream = await server.stream({ viewer_cap: 1 });
  const viewer = await watch(stage, server, { stream });
  await viewer.reads(NOT_STARTED);
  expect(await viewer.lines()).toEqual([ASKING, STARTING, NOT_STARTED]);
});

staged(
  'T3: each renewal has two sessions for a moment, and the picture goes over to one that runs',
  async ({ stage }) => {
    const server = await stage.demo();
    const viewer = await watch(stage, server, {}, renewOften);
    await viewer.page.waitForFunction(() => opened.length > 4);
    await viewer.page.waitForFunction(() => drawn.some(({ session, seen }) => session === 4 && seen));
    expect(await viewer.lines()).toEqual([ASKING, STARTING, '']);
    const tokens = (await sessions(viewer)).map(({ url }) => token(url));
    expect(new Set(tokens).size).toBe(tokens.length);
    const frames = await viewer.page.evaluate(() => drawn);
    for (const renewal of [1, 2, 3, 4]) {
      const [before, after] = [renewal - 1, renewal].map((of) => frames.filter(({ session }) => session === of));
      // It had a frame to show before it was seen, and from then on it was the only one.
      expect(after?.[0]?.seen, `renewal ${renewal}`).toBe(false);
      const shown = after?.find(({ seen }) => seen)?.at ?? 0;
      expect(before?.at(-1)?.at, `renewal ${renewal}`).toBeLessThanOrEqual(shown);
    }
  },
);

staged('S21: a kick ends the picture within 2 s', async ({ stage }) => {
  const server = await stage.demo();
  const viewer = await watch(stage, server);
  await frames(viewer, 30);
  const seat = await viewer.seat();
  const kicked = await viewer.page.evaluate(() => performance.now());
  await server.tenant('POST', '/v1/streams/demo/kick', { seat });
  await viewer.reads('You were removed from this stream.');
  const last = await viewer.page.evaluate(() => drawn.at(-1)?.at ?? 0);
  expect(last - kicked).toBeLessThan(2_000);
  expect(await sessions(viewer)).toMatchObject([{ code: 0x5749 }]);
});
