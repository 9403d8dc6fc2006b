/**
 * From the publisher to the screen, in milliseconds: what docs/BENCHMARKS.md says of it. `MEASURE=1 npx vitest run
 * test/glass.test.ts` prints it; without that it is left out, for a busy machine's figure says nothing.
 */
import { expect } from 'vitest';
import { staged } from './stage.ts';
import type { Viewer } from './viewer.ts';

const measured = process.env.MEASURE === undefined ? staged.skip : staged;

measured('glass to glass over MoQ', async ({ stage }) => {
  const server = await stage.demo();
  await report('MoQ', await stage.viewer({ server: server.url, stream: 'demo' }));
});

measured('glass to glass over LL-HLS', async ({ stage }) => {
  const server = await stage.demo();
  const viewer = await stage.viewer({ server: server.url, stream: 'demo' }, ({ page }) =>
    page.addInitScript(() => {
      Reflect.deleteProperty(globalThis, 'WebTransport');
    }),
  );
  await report('LL-HLS', viewer);
});

/** Looks at the picture for half a minute, after ten seconds in which the player finds its place. */
async function report(way: string, viewer: Viewer): Promise<void> {
  await viewer.reads('');
  const ages = await viewer.page.evaluate(look, { settle_ms: 10_000, time_ms: 30_000 });
  ages.sort((a, b) => a - b);
  const at = (share: number) => Math.round(ages[Math.floor(ages.length * share)] ?? Number.NaN);
  console.log(`${way}: ${ages.length} pictures, p50 ${at(0.5)} ms, p90 ${at(0.9)} ms, p99 ${at(0.99)} ms`);
  expect(ages.length).toBeGreaterThan(300);
}

/**
 * Runs in the page. The demo's pictures tell their numbers in eight boxes, lowest bit left; number 0 is sent whenever
 * the Unix time is a whole number of eight seconds, and 30 follow in each second.
 */
async function look({ settle_ms, time_ms }: { settle_ms: number; time_ms: number }): Promise<number[]> {
  const glass = new OffscreenCanvas(640, 360).getContext('2d', { willReadFrequently: true });
  const all = (root: ParentNode): Element[] =>
    [...root.querySelectorAll('*')].flatMap((e) => [e, ...(e.shadowRoot === null ? [] : all(e.shadowRoot))]);
  const number = (): number | undefined => {
    const seen = all(document).find(
      (e) => (e instanceof HTMLCanvasElement || e instanceof HTMLVideoElement) && e.getClientRects().length > 0,
    );
    if (!(seen instanceof HTMLCanvasElement || seen instanceof HTMLVideoElement) || glass === null) return undefined;
    glass.drawImage(seen, 0, 0, 640, 360);
    const { data } = glass.getImageData(0, 44, 640, 1);
    const bits = [0, 1, 2, 3, 4, 5, 6, 7].map((bit) => ((data[(68 + 72 * bit) * 4] ?? 0) > 127 ? 1 << bit : 0));
    return bits.reduce((sum, bit) => sum + bit, 0);
  };
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const begun = performance.now();
  const ages: number[] = [];
  let last: number | undefined;
  while (performance.now() - begun < settle_ms + time_ms) {
    await frame();
    const shown = number();
    if (shown !== undefined && shown !== last && performance.now() - begun > settle_ms) {
      const sent = (shown * 1000) / 30;
      ages.push((((Date.now() - sent) % 8000) + 8000) % 8000);
    }
    last = shown;
  }
  return ages;
}
