/** Which relay a real browser goes to, of real ones. */
import { staged } from './stage.ts';
import { frames, sessions, token, watch } from './watching.ts';

const ASKING = 'Finding you a seat…';
const STARTING = 'You have a seat. Starting the picture…';
const NOT_STARTED = 'The stream has not started.';
const FULL = 'The stream is full. Waiting for a seat...';
/** A relay that is stopped again and again may break off before its last word is out; another time it is not. */
const STRAINED = { retry: 3 };

staged.concurrent(
  'E15: from a saturated relay it goes to the next, with the same token',
  STRAINED,
  async ({ stage, expect }) => {
    const server = await stage.demo();
    const near = '[relay]\nregion = "eu-west"\n';
    const relay = await stage.relay(server, `${near}admission = "off"\n`);
    const relays = await server.watcher('demo', 'eu-west');
    const listed = async () => (await relays()).map(({ url }) => url);
    const patience = { timeout: 20_000, interval: 500 };
    await expect.poll(async () => (await listed())[0], patience).toBe(relay.url);
    const viewer = await watch(stage, server, { region: 'eu-west' }, ({ page }) =>
      page.route('**/admit', async (route) => {
        // The answer was made while the relay was open, and comes when it no longer is.
        const response = await route.fetch();
        relay.set(near);
        stage.atEnd(relay.strain());
        await expect.poll(listed, patience).not.toContain(relay.url);
        await route.fulfill({ response });
      }),
    );
    await frames(viewer, 10);
    const [first, second] = await sessions(viewer);
    expect(first).toMatchObject({ code: 0x5746, reason: 'EDGE_FULL retry_ms=2000' });
    expect(first?.url).toMatch(relay.url);
    expect(second?.url).not.toMatch(relay.url);
    expect(token(second?.url)).toBe(token(first?.url));
    expect(await viewer.lines()).toEqual([ASKING, STARTING, '']);
  },
);

staged.concurrent(
  'E15: with every relay full it waits 2, 4, 8 and 16 s, on one token',
  STRAINED,
  async ({ stage, expect }) => {
    const server = await stage.server();
    const stream = await server.stream({ viewer_cap: 2 });
    const relay = await stage.relay(server);
    const letOff = relay.strain();
    stage.atEnd(letOff);
    const relays = await server.watcher(stream);
    const full = async () => (await relays()).map(({ full }) => full);
    await expect.poll(full, { timeout: 20_000, interval: 500 }).toEqual([true]);
    const viewer = await watch(stage, server, { stream });
    await viewer.reads(FULL);
    await viewer.page.waitForFunction(() => opened[3]?.code !== undefined);
    // Settings open it at once, where it would take ten calm seconds by itself (E6).
    letOff();
    relay.set('[relay]\nadmission = "off"\n');
    await viewer.reads(NOT_STARTED);
    const tries = await sessions(viewer);
    expect(tries.map(({ code }) => code)).toEqual([0x5746, 0x5746, 0x5746, 0x5746, undefined]);
    const gaps = tries.slice(1).map(({ at }, index) => Math.floor((at - (tries[index]?.at ?? 0)) / 1000));
    expect(gaps).toEqual([2, 4, 8, 16]);
    expect(new Set(tries.map(({ url }) => token(url))).size).toBe(1);
    expect(await viewer.lines()).toEqual([ASKING, STARTING, FULL, NOT_STARTED]);
    // Longer than a seat lives without a heartbeat.
    const { seats } = await server.tenant('GET', `/v1/streams/${stream}/seats`);
    expect(seats).toMatchObject([{ id: await viewer.seat() }]);
  },
);

staged.concurrent(
  'E11: a relay that dies is left for the next of its fleet, which has the same picture',
  async ({ stage, expect }) => {
    const server = await stage.demo();
    const relay = await stage.relay(server, '[relay]\nregion = "eu-west"\nadmission = "off"\n');
    const relays = await server.watcher('demo', 'eu-west');
    await expect.poll(async () => (await relays())[0]?.url, { timeout: 20_000, interval: 500 }).toBe(relay.url);
    const viewer = await watch(stage, server, { region: 'eu-west' });
    await frames(viewer, 30);
    expect((await sessions(viewer)).map(({ url }) => new URL(url).origin)).toEqual([relay.url]);
    await viewer.forget();
    await relay.kill();
    await viewer.page.waitForFunction(() => drawn.some(({ session, seen }) => session > 0 && seen));
    expect(new URL((await sessions(viewer)).at(-1)?.url ?? '').origin).not.toBe(relay.url);
    expect(await viewer.lines()).toEqual([STARTING, '']);
  },
);
