import { expect } from 'vitest';
import {
  ChatClient,
  type ChatOptions,
  type ChatState,
  type Clock,
  type EventKind,
  type EventOf,
} from '../src/index.ts';
import { type Stage, staged } from './stage.ts';

/** A reader of the stand-in's rows. */
class Reader {
  readonly chat: ChatClient;
  /** The numbers of the rows, in the order they came. */
  readonly rows: number[] = [];

  constructor(stage: Stage, url: string, options: ChatOptions = {}) {
    this.chat = new ChatClient(url, options);
    this.chat.on('message', (message) => this.rows.push(Number(message.text?.replace('row ', ''))));
    stage.atEnd(() => this.chat.close());
  }

  /** Resolves with the next event of a kind. */
  next<K extends EventKind>(kind: K): Promise<EventOf<K>> {
    return new Promise((resolve) => {
      const hear = (event: EventOf<K>) => {
        this.chat.off(kind, hear as never);
        resolve(event);
      };
      this.chat.on(kind, hear as never);
    });
  }

  /** Resolves when it is so. */
  becomes<N extends ChatState['name']>(name: N): Promise<Extract<ChatState, { name: N }>> {
    return new Promise((resolve) => {
      const look = (state: ChatState) => {
        if (state.name !== name) return;
        this.chat.off('state', look);
        resolve(state as Extract<ChatState, { name: N }>);
      };
      this.chat.on('state', look);
    });
  }

  /** Resolves when so many more rows have come. */
  async more(count: number): Promise<void> {
    const enough = this.rows.length + count;
    while (this.rows.length < enough) await this.next('message');
  }

  /** C8: nothing twice, nothing missing. */
  expectEachRowOnce(): void {
    const [first = 0] = this.rows;
    expect(this.rows).toEqual(this.rows.map((_, index) => first + index));
  }
}

/** Goes twenty times as fast where it waits, for waits that nobody else measures. */
const hasty: Clock = {
  monotonic: () => performance.now() * 20,
  wall: () => Date.now(),
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms / 20);
      signal.addEventListener('abort', () => {
        clearTimeout(timer);
        resolve();
      });
    }),
};

staged.concurrent(
  'C11: a chat streams, and is resumed after broken connections with each row once (C8)',
  async ({ stage }) => {
    const standIn = await stage.standIn(20);
    const server = await stage.server(standIn);
    const line = await stage.line(server);
    const reader = new Reader(stage, line.url, { clock: hasty });
    const message = await reader.next('message');
    expect(message).toMatchObject({ schema: 1, kind: 'message', author: { name: expect.stringMatching(/^@viewer/) } });
    for (let cuts = 1; cuts <= 3; cuts += 1) {
      await reader.more(10);
      const lost = reader.becomes('waiting');
      line.cut();
      expect((await lost).reason.code).toBe('connection_lost');
    }
    await reader.more(40);
    reader.expectEachRowOnce();
    expect(reader.chat.counts).toMatchObject({ opened: 4, errors: 3, rateLimits: 0 });
  },
);

staged.concurrent(
  'C11: the upstream limits a running room: the connection stays, and no row is lost',
  async ({ stage }) => {
    const standIn = await stage.standIn(20);
    const server = await stage.server(standIn);
    const reader = new Reader(stage, server.events());
    await reader.more(10);
    const told = reader.next('error');
    await standIn.obey('fail 429 2');
    expect(await told).toMatchObject({ code: 'RATE_LIMITED', final: false });
    expect(reader.chat.state).toHaveProperty('limitedUntil');
    await reader.more(40);
    reader.expectEachRowOnce();
    expect(reader.chat.counts).toMatchObject({ opened: 1, errors: 0, rateLimits: 1 });
  },
);

staged.concurrent(
  'C11: a room that cannot open for a rate limit is asked again when the server said, not before',
  async ({ stage }) => {
    const standIn = await stage.standIn(20);
    const server = await stage.server(standIn);
    await standIn.obey('fail 429');
    const reader = new Reader(stage, server.events(), { random: () => 0 });
    const { reason, until } = await reader.becomes('waiting');
    expect(reason).toMatchObject({ code: 'rate_limited', status: 429 });
    await reader.becomes('connecting');
    expect(Date.now()).toBeGreaterThanOrEqual(until.getTime());
    await reader.more(10);
    expect(reader.chat.counts).toMatchObject({ opened: 1, errors: 0, rateLimits: 1 });
  },
);

staged.concurrent(
  'C11: a server that is killed and started again has another epoch: a gap, and the chat goes on',
  async ({ stage }) => {
    const standIn = await stage.standIn(20);
    const server = await stage.server(standIn);
    const reader = new Reader(stage, server.events(), { clock: hasty });
    await reader.more(10);
    const [epoch] = reader.chat.lastEventId?.split('-') ?? [];
    const lost = reader.becomes('waiting');
    await server.kill();
    await lost;
    const gap = reader.next('gap');
    await server.restart();
    await gap;
    await reader.more(10);
    expect(reader.chat.lastEventId).not.toContain(epoch);
    expect(reader.chat.counts.rateLimits).toBe(0);
  },
);

staged.concurrent('C11: the end of a chat ends the client, with the reason', async ({ stage }) => {
  const standIn = await stage.standIn(20);
  const reader = new Reader(stage, (await stage.server(standIn)).events());
  await reader.more(1);
  await standIn.obey('end');
  expect(await reader.becomes('ended')).toMatchObject({ reason: { code: 'ENDED' } });
});

staged.concurrent('C11: what is no chat ends the client, with what the server says of it', async ({ stage }) => {
  const off = new Reader(stage, (await stage.server()).events());
  expect(await off.becomes('ended')).toMatchObject({ reason: { code: 'chat_off', status: 404 } });
  const nameless = new Reader(stage, (await stage.server(await stage.standIn(1))).events('no-id'));
  const { reason } = await nameless.becomes('ended');
  expect(reason).toMatchObject({ code: 'bad_request', message: expect.stringContaining('no video id') });
});
