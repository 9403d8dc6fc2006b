import { expect } from 'vitest';
import { staged } from '../test/stage.ts';
import { frames, renewOften, sessions, watch } from '../test/watching.ts';

staged('T3: over ten renewals no frame is seen for longer than 100 ms', async ({ stage }) => {
  const server = await stage.demo();
  const viewer = await watch(stage, server, {}, renewOften);
  await viewer.page.waitForFunction(() => drawn.some(({ session, seen }) => session === 10 && seen), undefined, {
    timeout: 120_000,
  });
  await frames(viewer, (await viewer.page.evaluate(() => drawn.filter(({ seen }) => seen).length)) + 60);
  const seen = (await viewer.page.evaluate(() => drawn)).filter(({ seen }) => seen);
  const steps = seen.slice(1).map((frame, index) => {
    const before = seen[index] ?? frame;
    return { screen: frame.at - before.at, stream: frame.time - before.time };
  });
  const [screen, stream] = [steps.map(({ screen }) => screen), steps.map(({ stream }) => stream)];
  console.info(
    `${(await sessions(viewer)).length} sessions, ${seen.length} frames: at most ${Math.max(...screen)} ms on the screen, ` +
      `steps of ${Math.min(...stream)} to ${Math.max(...stream)} ms in the stream`,
  );
  expect(Math.max(...screen)).toBeLessThanOrEqual(100);
  expect(Math.max(...stream)).toBeLessThanOrEqual(100);
  expect(Math.min(...stream)).toBeGreaterThanOrEqual(-100);
});
