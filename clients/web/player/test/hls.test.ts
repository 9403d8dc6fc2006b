/** The picture where there is no WebTransport, or nothing comes through it. */
import type { Request } from 'playwright-core';
import { HlsRelay } from './hls_relay.ts';
import { staged } from './stage.ts';
import type { Viewer } from './viewer.ts';
import { renewOften, sessions, watch } from './watching.ts';

const ASKING = 'Finding you a seat…';
const STARTING = 'You have a seat. Starting the picture…';
const FULL = 'The stream is full. Waiting for a seat...';

staged.concurrent(
  'E17: without WebTransport the picture moves over LL-HLS, and is renewed without a break',
  async ({ stage, expect }) => {
    const server = await stage.demo();
    const beats: unknown[] = [];
    const answers: string[] = [];
    const viewer = await watch(stage, server, {}, async (viewer) => {
      await without(viewer);
      await renewOften(viewer);
      viewer.page.on('request', (request) => isBeat(request) && beats.push(request.postDataJSON().hls));
      viewer.page.on('response', (response) => {
        const { pathname } = new URL(response.url());
        const last = pathname.split('/').at(-1);
        if (pathname.startsWith('/hls/') && (last === 'index.m3u8' || last === 'token'))
          answers.push(`${last} ${response.status()}`);
      });
    });
    await playedTo(viewer, 5);
    expect(await viewer.lines()).toEqual([ASKING, STARTING, '']);
    // The first renewal comes after three seconds, and the picture went on with it.
    const renewals = answers.filter((answer) => answer.startsWith('token'));
    expect(answers[0]).toBe('index.m3u8 200');
    expect(answers.filter((answer) => answer.startsWith('index'))).toHaveLength(1);
    expect(renewals.length).toBeGreaterThanOrEqual(1);
    expect(new Set(renewals)).toEqual(new Set(['token 204']));
    expect(await viewer.player.locator('video').count()).toBe(1);
    await expect.poll(() => beats, { timeout: 6_000 }).toContain(true);
    expect(await server.tenant('GET', '/v1/streams/demo/stats')).toMatchObject({ viewers: { hls: 1 } });
  },
);

staged.concurrent(
  'E8: a full relay says so over HTTP too, and is asked again with the same token',
  async ({ stage, expect }) => {
    const server = await stage.demo();
    const relay = await new HlsRelay().serve(stage);
    relay.refuse = () =>
      relay.opened.length === 1 ? { status: 503, code: 'EDGE_FULL', retry_after_ms: 1_000 } : undefined;
    const viewer = await watch(stage, server, {}, async (viewer) => {
      await without(viewer);
      await relay.standIn(viewer);
    });
    await playedTo(viewer, 1);
    expect(await viewer.lines()).toEqual([ASKING, STARTING, FULL, '']);
    expect(relay.opened).toHaveLength(2);
    expect(relay.opened[1]).toBe(relay.opened[0]);
  },
);

staged.concurrent('E2: a token that is in use is renewed', async ({ stage, expect }) => {
  const server = await stage.demo();
  const relay = await new HlsRelay().serve(stage);
  relay.refuse = (token) => (token === relay.opened[0] ? { status: 409, code: 'TOKEN_IN_USE' } : undefined);
  const viewer = await watch(stage, server, {}, async (viewer) => {
    await without(viewer);
    await relay.standIn(viewer);
  });
  await playedTo(viewer, 1);
  expect(relay.opened.at(-1)).not.toBe(relay.opened[0]);
  expect(await viewer.lines()).toEqual([ASKING, STARTING, 'Connection lost. Trying again…', '']);
});

staged.concurrent('E17: a network that lets no QUIC through gets LL-HLS', async ({ stage, expect }) => {
  const server = await stage.demo();
  const relay = await new HlsRelay().serve(stage);
  // Nobody answers at the discard port.
  const viewer = await watch(stage, server, {}, (viewer) => relay.standIn(viewer, 'https://127.0.0.1:9'));
  await playedTo(viewer, 1);
  expect(await sessions(viewer)).toHaveLength(1);
  expect(relay.opened).toHaveLength(1);
});

/** Takes WebTransport away, as browsers without it have none. */
function without({ page }: Viewer): Promise<unknown> {
  return page.addInitScript(() => {
    delete (globalThis as { WebTransport?: unknown }).WebTransport;
  });
}

/** Waits until so many seconds of it were seen. */
async function playedTo({ page }: Viewer, seconds: number): Promise<void> {
  await page.waitForFunction((seconds) => {
    const video = document.querySelector('tidegate-player')?.shadowRoot?.querySelector('video');
    return (
      video !== null && video !== undefined && !video.hidden && video.videoWidth > 0 && video.currentTime >= seconds
    );
  }, seconds);
}

function isBeat(request: Request): boolean {
  return request.url().endsWith('/hb');
}
