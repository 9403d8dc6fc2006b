/** Every row of the player's table, in a real browser, against a real server. */
import { expect } from 'vitest';
import { staged } from './stage.ts';

const STARTING = 'You have a seat. Starting the picture…';
const PLACE = (position: number) => `You are number ${position} in line.`;
const GONE = (position: number) => `Your old place is gone. ${PLACE(position)}`;

staged.concurrent('S2: asking, then a seat', async ({ stage }) => {
  const server = await stage.server();
  const stream = await server.stream({ viewer_cap: 1 });
  const viewer = await stage.viewer({ server: server.url, stream });
  await viewer.reads(STARTING);
  expect(await viewer.lines()).toEqual(['Finding you a seat…', STARTING]);
  expect(await server.viewers(stream)).toMatchObject({ seats: 1 });
});

staged.concurrent(
  'S3, S5: a place in line moves up, is offered a seat, and takes it by the keyboard',
  async ({ stage }) => {
    const server = await stage.server();
    const stream = await server.stream({ viewer_cap: 1, queue_max: 2 });
    const [seated, first] = [await server.seat(stream), await server.seat(stream)];
    const viewer = await stage.viewer({ server: server.url, stream });
    await viewer.reads(PLACE(2));
    await server.page(stream, 'leave', { seat: first });
    await viewer.reads(PLACE(1));
    await server.page(stream, 'leave', { seat: seated });
    await viewer.reads('A seat is free. Press Join within 10 s.');
    const join = viewer.button('Join');
    await join.waitFor();
    // The seconds go on for the eyes, and are said once.
    await viewer.reads('A seat is free. Press Join within 9 s.');
    expect(await viewer.said.textContent()).toBe('A seat is free. Press Join within 10 s.');
    // Nobody has to find it: it has the focus.
    await viewer.page.keyboard.press('Enter');
    await viewer.reads(STARTING);
    expect(await join.isVisible()).toBe(false);
    expect(await server.viewers(stream)).toMatchObject({ seats: 1, queued: 0 });
  },
);

staged.concurrent('S5: with auto-join it joins by itself', async ({ stage }) => {
  const server = await stage.server();
  const stream = await server.stream({ viewer_cap: 1, queue_max: 1 });
  const seated = await server.seat(stream);
  const viewer = await stage.viewer({ server: server.url, stream, 'auto-join': '' });
  await viewer.reads(PLACE(1));
  await server.page(stream, 'leave', { seat: seated });
  await viewer.reads(STARTING);
  expect(await viewer.button('Join').isVisible()).toBe(false);
});

staged.concurrent(
  'S5: an offer that nobody takes counts its ten seconds down, and then the place is gone',
  async ({ stage }) => {
    const server = await stage.server();
    const stream = await server.stream({ viewer_cap: 1, queue_max: 1 });
    const seated = await server.seat(stream);
    const viewer = await stage.viewer({ server: server.url, stream });
    await viewer.reads(PLACE(1));
    const place = await viewer.seat();
    await server.page(stream, 'leave', { seat: seated });
    await viewer.reads('A seat is free. Press Join within 1 s.');
    // Whoever lets an offer lapse is a newcomer, and here finds the seat free.
    await viewer.reads(STARTING);
    const lines = await viewer.lines();
    const seconds = [10, 9, 8, 7, 6, 5, 4, 3, 2, 1].map((left) => `A seat is free. Press Join within ${left} s.`);
    expect(lines.filter((line) => line.includes('Join') && !line.includes(' 0 s'))).toEqual(seconds);
    expect(await viewer.seat()).not.toBe(place);
  },
);

staged.concurrent('S4: a full stream with a full line says when it tries again', async ({ stage }) => {
  const server = await stage.server();
  const stream = await server.stream({ viewer_cap: 1 });
  await server.seat(stream);
  const viewer = await stage.viewer({ server: server.url, stream });
  await viewer.reads('The stream and its line are full. Trying again in 30 s.');
  await viewer.reads('The stream and its line are full. Trying again in 29 s.');
  expect(await viewer.said.textContent()).toBe('The stream and its line are full. Trying again in 30 s.');
});

staged.concurrent('S18: a seat that is gone is said to be, and Play asks again', async ({ stage }) => {
  const server = await stage.server();
  const stream = await server.stream({ viewer_cap: 1 });
  const viewer = await stage.viewer({ server: server.url, stream });
  await viewer.reads(STARTING);
  const before = await viewer.seat();
  await server.page(stream, 'leave', { seat: before });
  await viewer.reads('Your seat was given up. Press Play to ask again.');
  await viewer.forget();
  await viewer.button('Play').focus();
  await viewer.page.keyboard.press('Space');
  await viewer.reads(STARTING);
  expect(await viewer.seat()).not.toBe(before);
});

staged.concurrent('S21: who was kicked is told so, and has no button', async ({ stage }) => {
  const server = await stage.server();
  const stream = await server.stream({ viewer_cap: 1 });
  const viewer = await stage.viewer({ server: server.url, stream });
  await viewer.reads(STARTING);
  await server.tenant('POST', `/v1/streams/${stream}/kick`, { seat: await viewer.seat() });
  await viewer.reads('You were removed from this stream.');
  expect(await viewer.player.getByRole('button').count()).toBe(0);
});

staged.concurrent("S13: the tenant's seats are used up by another stream", async ({ stage }) => {
  const server = await stage.server();
  await stage.command('tenant', 'set', 'main', '--viewer-cap', '1', '--data', server.data);
  const [other, stream] = [await server.stream({ viewer_cap: 1 }), await server.stream({ viewer_cap: 1 })];
  await server.seat(other);
  const viewer = await stage.viewer({ server: server.url, stream });
  await viewer.reads('This stream cannot take more viewers now.');
  const last = await viewer.page.evaluate(() => heard.at(-1)?.state);
  expect(last).toEqual({ name: 'capped', code: 'tenant_viewer_cap' });
});

staged.concurrent('S15: at the spend cap', async ({ stage }) => {
  const server = await stage.server();
  const stream = await server.stream({ viewer_cap: 1 });
  // Nothing is priced yet, so this one answer is written here.
  const body = { status: 402, code: 'spend_cap_reached', detail: 'the money of this month is used up' };
  const viewer = await stage.viewer({ server: server.url, stream }, ({ page }) =>
    page.route('**/admit', (route) =>
      route.fulfill({ status: 402, json: body, headers: { 'access-control-allow-origin': '*' } }),
    ),
  );
  await viewer.reads('This stream cannot take more viewers now.');
});

staged.concurrent('S16: too many tries from one address', async ({ stage }) => {
  const server = await stage.server('[control]\npage_burst = 5\npage_refill_ms = 3000\n');
  const stream = await server.stream({ viewer_cap: 1 });
  for (let ask = 0; ask < 6; ask += 1) await server.seat(stream);
  const viewer = await stage.viewer({ server: server.url, stream });
  await viewer.reads(/^Too many tries from your network. Trying again in [123] s\.$/);
  await viewer.reads('The stream and its line are full. Trying again in 30 s.');
});

staged.concurrent('S25: a stream that is ended has ended, seated or not', async ({ stage }) => {
  const server = await stage.server();
  const stream = await server.stream({ viewer_cap: 1 });
  const viewer = await stage.viewer({ server: server.url, stream });
  await viewer.reads(STARTING);
  await server.tenant('POST', `/v1/streams/${stream}/end`);
  await viewer.reads('The stream has ended.');
  const late = await stage.viewer({ server: server.url, stream });
  await late.reads('The stream has ended.');
  expect(await late.lines()).toEqual(['Finding you a seat…', 'The stream has ended.']);
});

staged.concurrent('D1: without an answer it tries on, and finds its place as it was', async ({ stage }) => {
  const server = await stage.server();
  const stream = await server.stream({ viewer_cap: 1, queue_max: 1 });
  await server.seat(stream);
  const viewer = await stage.viewer({ server: server.url, stream });
  await viewer.reads(PLACE(1));
  const place = await viewer.seat();
  await server.kill();
  await viewer.reads('Connection lost. Trying again…');
  await viewer.forget();
  await server.restart();
  await viewer.reads(PLACE(1));
  expect(await viewer.seat()).toBe(place);
});

staged.concurrent('D1: a seat goes on over a restart of the server', async ({ stage }) => {
  const server = await stage.server();
  const stream = await server.stream({ viewer_cap: 1 });
  const viewer = await stage.viewer({ server: server.url, stream });
  await viewer.reads(STARTING);
  const seat = await viewer.seat();
  await server.kill();
  await viewer.reads('Connection lost. Trying again…');
  await viewer.forget();
  await server.restart();
  await viewer.reads(STARTING);
  expect(await viewer.seat()).toBe(seat);
});

staged.concurrent('S17: a stream that is not public is not shown without the backend', async ({ stage }) => {
  const server = await stage.server();
  const stream = await server.stream({ viewer_cap: 1, public: false });
  const viewer = await stage.viewer({ server: server.url, stream });
  await viewer.reads('This stream cannot be shown here.');
  expect(await viewer.page.evaluate(() => heard.at(-1)?.state)).toMatchObject({ code: 'server_admission' });
});

staged.concurrent("S17: with token-url the tenant's own backend asks for the seat", async ({ stage }) => {
  const server = await stage.server();
  const stream = await server.stream({ viewer_cap: 1, public: false });
  const asked: unknown[] = [];
  const backend = await stage.web(async (request, response) => {
    response.setHeader('access-control-allow-origin', '*').setHeader('access-control-allow-headers', 'content-type');
    if (request.method === 'OPTIONS') return response.end();
    const ask = JSON.parse((await request.toArray()).join('')) as object;
    asked.push(ask);
    const answer = await server.tenant('POST', `/v1/streams/${stream}/viewer-tokens`, {
      ...ask,
      viewer: 'customer-17',
    });
    return response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
  });
  const viewer = await stage.viewer({ server: server.url, stream, 'token-url': `${backend}/seat` });
  await viewer.reads(STARTING);
  expect(asked).toEqual([{ nonce: expect.stringMatching(/^[0-9a-f-]{36}$/) }]);
  const { seats } = await server.tenant('GET', `/v1/streams/${stream}/seats`);
  expect(seats).toMatchObject([{ id: await viewer.seat(), viewer: 'customer-17' }]);
});

staged.concurrent(
  'S3: a reload keeps the place, and going elsewhere gives it back at once (S19)',
  async ({ stage, expect }) => {
    const server = await stage.server();
    const stream = await server.stream({ viewer_cap: 1, queue_max: 2 });
    await server.seat(stream);
    const viewer = await stage.viewer({ server: server.url, stream });
    await viewer.reads(PLACE(1));
    const place = await viewer.seat();
    await server.seat(stream);
    await viewer.page.reload();
    await viewer.reads(PLACE(1));
    expect(await viewer.seat()).toBe(place);
    expect(await server.viewers(stream)).toMatchObject({ queued: 2 });
    await viewer.page.getByRole('link', { name: 'elsewhere' }).click();
    await expect.poll(() => server.viewers(stream), { timeout: 5_000 }).toMatchObject({ queued: 1 });
  },
);

staged.concurrent('S18: a hidden tab says so at once, and a reload is no hidden tab', async ({ stage, expect }) => {
  const server = await stage.server();
  const stream = await server.stream({ viewer_cap: 1 });
  const viewer = await stage.viewer({ server: server.url, stream });
  await viewer.reads(STARTING);
  const seats = async () => (await server.tenant('GET', `/v1/streams/${stream}/seats`)).seats;
  const seat = await viewer.seat();
  const look = (hidden: boolean) =>
    viewer.page.evaluate((hidden) => {
      Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    }, hidden);
  await look(true);
  await expect.poll(seats, { timeout: 3_000 }).toMatchObject([{ id: seat, hidden: true }]);
  await look(false);
  await expect.poll(seats, { timeout: 3_000 }).toMatchObject([{ id: seat, hidden: false }]);
  const said: unknown[] = [];
  viewer.page.on('request', (request) => said.push(request.postDataJSON()?.hidden));
  await viewer.page.reload();
  await viewer.reads(STARTING);
  expect(said).not.toContain(true);
  expect(await seats()).toMatchObject([{ id: seat, hidden: false }]);
});

staged.concurrent('S8: an old place that is gone is said to be', async ({ stage }) => {
  const server = await stage.server();
  const stream = await server.stream({ viewer_cap: 1, queue_max: 2 });
  await server.seat(stream);
  const viewer = await stage.viewer({ server: server.url, stream });
  await viewer.reads(PLACE(1));
  await server.page(stream, 'leave', { seat: await viewer.seat() });
  await viewer.reads(GONE(1));
});

staged.concurrent.for([
  {
    lang: 'de',
    place: 'Sie sind Nummer 1 in der Warteschlange.',
    offer: 'Ein Platz ist frei. Drücken Sie innerhalb von 10 s auf Beitreten.',
    join: 'Beitreten',
  },
  {
    lang: 'es-MX',
    place: 'Eres el número 1 de la cola.',
    offer: 'Hay una plaza libre. Pulsa Entrar antes de 10 s.',
    join: 'Entrar',
  },
  {
    lang: 'ja',
    place: '順番待ちの1番目です。',
    offer: '席が空きました。10秒以内に「参加」を押してください。',
    join: '参加',
  },
])('the line and its button speak $lang', async ({ lang, place, offer, join }, { stage }) => {
  const server = await stage.server();
  const stream = await server.stream({ viewer_cap: 1, queue_max: 1 });
  const seated = await server.seat(stream);
  const viewer = await stage.viewer({ server: server.url, stream, lang });
  await viewer.reads(place);
  await server.page(stream, 'leave', { seat: seated });
  await viewer.reads(offer);
  await viewer.button(join).click();
  await viewer.player
    .evaluate((player) => player.shadowRoot?.querySelectorAll('[aria-live]').length)
    .then((live) => {
      expect(live).toBe(1);
    });
});

staged.concurrent('the page draws its own line', async ({ stage, expect }) => {
  const server = await stage.server();
  const stream = await server.stream({ viewer_cap: 1 });
  const viewer = await stage.viewer({ server: server.url, stream, 'no-line': '', 'click-to-play': '' });
  await viewer.player.waitFor({ state: 'attached' });
  const states = await viewer.player.evaluate(async (player) => {
    const own = player as HTMLElement & { state: { name: string }; play(): void; leave(): void };
    const becomes = (name: string) =>
      new Promise<void>((resolve) =>
        player.addEventListener('tidegate:state', () => {
          if (own.state.name === name) resolve();
        }),
      );
    const before = own.state.name;
    const seated = becomes('in');
    own.play();
    await seated;
    const left = becomes('idle');
    own.leave();
    await left;
    return [before, own.state.name];
  });
  expect(states).toEqual(['idle', 'idle']);
  expect(await viewer.line.isVisible()).toBe(false);
  await expect.poll(() => server.viewers(stream), { timeout: 5_000 }).toMatchObject({ seats: 0 });
});
