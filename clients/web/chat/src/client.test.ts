import { expect, onTestFinished, test } from 'vitest';
import { FakeServer, frame, HandClock, settled, states } from '../test/fakes.ts';
import { ChatClient, type ChatOptions } from './index.ts';

function read(server: FakeServer, options: ChatOptions = {}) {
  const clock = new HandClock();
  const chat = new ChatClient('http://chat.test/v1/chat/abcdefghij0/events', {
    fetch: server.fetch,
    clock,
    random: () => 0,
    ...options,
  });
  onTestFinished(() => chat.close());
  const texts: string[] = [];
  chat.on('message', (message) => texts.push(message.text ?? ''));
  return { chat, clock, texts, states: states(chat) };
}

const message = (text: string) => ({ kind: 'message', author: { name: '@ann' }, text });
const limited = (ms: number | undefined, final = false) => ({
  kind: 'error',
  code: 'RATE_LIMITED',
  message: 'wait',
  retry_after_ms: ms,
  final,
});

test('C11: events reach those who listen to their kind, to all, and to no other', async () => {
  const server = new FakeServer().opens();
  const { chat, texts } = read(server);
  const heard: string[] = [];
  chat.on('event', (event) => heard.push(event.kind)).on('viewer_count', (count) => heard.push(`${count.viewers}`));
  await settled();
  await server.sends(
    `retry: 3000\n\n:\n\n${frame(message('one'), 'a-1')}${frame({ kind: 'viewer_count', viewers: 7 }, 'a-2')}`,
  );
  await server.sends(frame({ kind: 'of_tomorrow' }, 'a-3'));
  expect(texts).toEqual(['one']);
  expect(heard).toEqual(['message', 'viewer_count', '7', 'of_tomorrow']);
  expect(chat.lastEventId).toBe('a-3');
  expect(chat.counts).toEqual({ events: 3, opened: 1, rateLimits: 0, errors: 0 });
});

test('C11: a frame may come in any pieces, and a letter too', async () => {
  const server = new FakeServer().opens();
  const { texts } = read(server);
  await settled();
  const bytes = new TextEncoder().encode(frame(message('größe 🎉'), 'a-1'));
  for (const byte of bytes) await server.sends(Uint8Array.of(byte));
  expect(texts).toEqual(['größe 🎉']);
});

test('C11: a broken connection is resumed behind the last event, after the wait that the server named', async () => {
  const server = new FakeServer().opens().opens();
  const { chat, clock, texts, states } = read(server, { random: () => 0.5 });
  await settled();
  await server.sends(`retry: 2000\n\n${frame(message('one'), 'a-1')}`);
  await server.breaks();
  expect(chat.state).toMatchObject({ name: 'waiting', reason: { code: 'connection_lost' } });
  expect(chat.state).toHaveProperty('until', new Date('2026-02-13T12:00:03Z'));
  await clock.pass(2_999);
  expect(server.requests).toHaveLength(1);
  await clock.pass(1);
  expect(server.requests.map((headers) => headers.get('last-event-id'))).toEqual([null, 'a-1']);
  await server.sends(frame(message('two'), 'a-2'));
  expect(texts).toEqual(['one', 'two']);
  expect(states.map((state) => state.name)).toEqual(['connecting', 'open', 'waiting', 'connecting', 'open']);
  expect(chat.counts).toMatchObject({ errors: 1, rateLimits: 0 });
});

test('C11: an unreachable server is asked at growing distances, and a first event makes it near again', async () => {
  const server = new FakeServer();
  const { chat, clock } = read(server);
  const waits: number[] = [];
  chat.on('state', (state) => state.name === 'waiting' && waits.push(state.until.getTime() - clock.wall()));
  for (const wait of [3_000, 6_000, 12_000]) await clock.pass(wait);
  expect(waits).toEqual([3_000, 6_000, 12_000, 24_000]);
  expect(chat.state).toMatchObject({
    reason: { code: 'unreachable', message: expect.stringContaining('ECONNREFUSED') },
  });
  server.opens();
  await clock.pass(24_000);
  await server.sends(frame(message('one'), 'a-1'));
  await server.ends();
  expect(waits.at(-1)).toBe(3_000);
  expect(chat.counts.errors).toBe(5);
});

test('C11: a 429 is waited out, by its header or its body, and counted apart', async () => {
  const server = new FakeServer()
    .refuses(429, { code: 'rate_limited', detail: 'come back', retry_after_ms: 6_500 }, { 'retry-after': '7' })
    .refuses(429, { code: 'rate_limited', detail: 'come back', retry_after_ms: 9_000 })
    .refuses(429, {})
    .opens();
  const { chat, clock } = read(server);
  for (const [tries, wait] of [7_000, 9_000, 30_000].entries()) {
    await clock.pass(wait - 1);
    expect(server.requests).toHaveLength(tries + 1);
    expect(chat.state).toMatchObject({ name: 'waiting', reason: { status: 429 } });
    await clock.pass(1);
  }
  expect(chat.state).toEqual({ name: 'open' });
  expect(chat.counts).toEqual({ events: 0, opened: 1, rateLimits: 3, errors: 0 });
});

test('C11: after RATE_LIMITED a lost connection is not made again before its time', async () => {
  const server = new FakeServer().opens().opens();
  const { chat, clock } = read(server);
  await settled();
  await server.sends(frame(message('one'), 'a-1') + frame(limited(20_000)));
  expect(chat.state).toEqual({ name: 'open', limitedUntil: new Date('2026-02-13T12:00:20Z') });
  await clock.pass(5_000);
  await server.breaks();
  await clock.pass(14_999);
  expect(server.requests).toHaveLength(1);
  await clock.pass(1);
  expect(server.requests).toHaveLength(2);
  expect(chat.counts).toMatchObject({ rateLimits: 1, errors: 1 });
});

test('C11: a room that waits keeps its connection, and is told when it no longer waits', async () => {
  const server = new FakeServer().opens();
  const { chat, clock, states } = read(server);
  await settled();
  await server.sends(frame(limited(4_000)));
  await clock.pass(3_999);
  expect(chat.state).toHaveProperty('limitedUntil');
  await clock.pass(1);
  expect(states.at(-1)).toEqual({ name: 'open' });
  expect(server.requests).toHaveLength(1);
});

test('C11: a final RATE_LIMITED is waited out, a final UPSTREAM_ERROR is tried again', async () => {
  const server = new FakeServer().opens().opens().opens();
  const { chat, clock } = read(server);
  await settled();
  await server.sends(frame(limited(40_000, true), 'a-9') + frame(message('never'), 'a-10'));
  expect(chat.state).toMatchObject({ name: 'waiting', reason: { code: 'RATE_LIMITED' } });
  await clock.pass(39_999);
  expect(server.requests).toHaveLength(1);
  await clock.pass(1);
  expect(server.requests[1]?.get('last-event-id')).toBe('a-9');
  await server.sends(frame({ kind: 'error', code: 'UPSTREAM_ERROR', message: 'changed', final: true }, 'b-1'));
  expect(chat.state).toMatchObject({ name: 'waiting', reason: { code: 'UPSTREAM_ERROR', message: 'changed' } });
  await clock.pass(3_000);
  expect(chat.counts).toMatchObject({ opened: 3, rateLimits: 1, errors: 1 });
});

test.each(['ENDED', 'GONE', 'OF_TOMORROW'])('C11: a final %s ends it', async (code) => {
  const server = new FakeServer().opens();
  const { chat, clock } = read(server);
  await settled();
  await server.sends(frame({ kind: 'error', code, message: 'over', final: true }, 'a-1'));
  expect(chat.state).toEqual({ name: 'ended', reason: { code, message: 'over' } });
  await clock.pass(1e9);
  expect(server.requests).toHaveLength(1);
});

test.each([400, 401, 403, 404, 405, 409, 410])('C11: a %i ends it, with what the server says', async (status) => {
  const server = new FakeServer().refuses(status, { code: 'not_live', detail: 'the video is no live stream' });
  const { chat, clock } = read(server);
  await clock.pass(1e9);
  const reason = { code: 'not_live', message: 'the video is no live stream', status };
  expect(chat.state).toEqual({ name: 'ended', reason });
  expect(server.requests).toHaveLength(1);
});

test.each([408, 425, 500, 502, 503])('C11: a %i is an ordinary error, tried again when told', async (status) => {
  const server = new FakeServer().refuses(status, { code: 'gate_queue_full' }, { 'retry-after': '9' }).opens();
  const { chat, clock } = read(server);
  await clock.pass(8_999);
  expect(server.requests).toHaveLength(1);
  await clock.pass(1);
  expect(chat.state.name).toBe('open');
  expect(chat.counts).toMatchObject({ rateLimits: 0, errors: 1 });
});

test('C11: an address that gives no events ends it', async () => {
  const page = new Response('<html>', { headers: { 'content-type': 'text/html' } });
  const { chat, clock } = read(new FakeServer().answers(page));
  await clock.pass(1e9);
  expect(chat.state).toMatchObject({ name: 'ended', reason: { code: 'not_a_stream' } });
});

test('C11: a connection on which nothing comes is taken for lost, and comments are signs of life', async () => {
  const server = new FakeServer().opens();
  const { chat, clock } = read(server);
  await clock.pass(44_999);
  await server.sends(':\n\n');
  await clock.pass(44_999);
  expect(chat.state.name).toBe('open');
  await clock.pass(1);
  expect(chat.state).toMatchObject({ name: 'waiting', reason: { code: 'silent' } });
});

test('C11: close() ends it at once, also in a listener and before the start', async () => {
  const server = new FakeServer().opens().opens();
  const { chat, texts, states } = read(server);
  chat.on('message', () => chat.close());
  await settled();
  await server.sends(frame(message('one'), 'a-1') + frame(message('two'), 'a-2'));
  expect(texts).toEqual(['one']);
  expect(states.at(-1)).toMatchObject({ name: 'ended', reason: { code: 'closed' } });
  const unborn = read(server);
  unborn.chat.close();
  await unborn.clock.pass(1e9);
  expect(server.requests).toHaveLength(1);
});

test('C11: an aborted signal ends it, whatever it does', async () => {
  for (const server of [new FakeServer().opens(), new FakeServer().refuses(429, {}), new FakeServer()]) {
    const controller = new AbortController();
    const { chat, clock } = read(server, { signal: controller.signal });
    await settled();
    controller.abort();
    expect(chat.state).toMatchObject({ name: 'ended', reason: { code: 'aborted' } });
    await clock.pass(1e9);
    expect(server.requests).toHaveLength(1);
  }
  const server = new FakeServer().opens();
  read(server, { signal: AbortSignal.abort() });
  await settled();
  expect(server.requests).toHaveLength(0);
});

test('C11: what cannot be read is counted, and costs nothing else', async () => {
  const server = new FakeServer().opens();
  const { chat, texts } = read(server);
  await settled();
  await server.sends('id: a-1\ndata: {"cut\n\nid: a-2\ndata: null\n\n');
  await server.sends(frame(message('one'), 'a-3'));
  expect(texts).toEqual(['one']);
  expect(chat.counts).toMatchObject({ events: 1, errors: 2 });
});

test('C11: it starts behind a given event, with given headers', async () => {
  const server = new FakeServer().opens();
  read(server, { lastEventId: 'a-41', headers: { Authorization: 'Bearer key' } });
  await settled();
  const [request] = server.requests;
  expect([request?.get('last-event-id'), request?.get('authorization')]).toEqual(['a-41', 'Bearer key']);
  expect(request?.get('accept')).toBe('text/event-stream');
});

test('a wrong address is told at once', () => {
  expect(() => new ChatClient('not an address')).toThrow(TypeError);
});
