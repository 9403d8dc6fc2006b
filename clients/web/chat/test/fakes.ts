import type { ChatClient, ChatState, Clock } from '../src/index.ts';

/** A clock that stands still until it is told to go. */
export class HandClock implements Clock {
  #now = 0;
  #sleepers: { due: number; wake: () => void }[] = [];

  monotonic(): number {
    return this.#now;
  }

  wall(): number {
    return NOON + this.#now;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve();
      this.#sleepers.push({ due: this.#now + ms, wake: resolve });
      signal.addEventListener('abort', () => resolve());
    });
  }

  /** Lets time pass, and everything happen that is due in it. */
  async pass(ms: number): Promise<void> {
    await settled();
    this.#now += ms;
    const due = this.#sleepers.filter((sleeper) => sleeper.due <= this.#now);
    this.#sleepers = this.#sleepers.filter((sleeper) => sleeper.due > this.#now);
    for (const { wake } of due) wake();
    await settled();
  }
}

/** A server of which each answer is written by the test. */
export class FakeServer {
  /** The headers of each request. */
  readonly requests: Headers[] = [];
  readonly #answers: (() => Response)[] = [];
  #stream: ReadableStreamDefaultController<Uint8Array> | undefined;

  readonly fetch: typeof fetch = async (_url, init) => {
    this.requests.push(new Headers(init?.headers));
    const answer = this.#answers.shift();
    if (answer === undefined) throw new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
    const response = answer();
    const stream = this.#stream;
    init?.signal?.addEventListener('abort', () => stream?.error(new DOMException('aborted', 'AbortError')));
    return response;
  };

  /** Answers the next request with a stream of events. */
  opens(): this {
    this.#answers.push(() => {
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => {
          this.#stream = controller;
        },
      });
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    });
    return this;
  }

  /** Answers the next request with a problem. */
  refuses(status: number, problem: object, headers: Record<string, string> = {}): this {
    const all = { 'content-type': 'application/problem+json', ...headers };
    this.#answers.push(() => new Response(JSON.stringify(problem), { status, headers: all }));
    return this;
  }

  answers(response: Response): this {
    this.#answers.push(() => response);
    return this;
  }

  async sends(sent: string | Uint8Array): Promise<void> {
    this.#stream?.enqueue(typeof sent === 'string' ? new TextEncoder().encode(sent) : sent);
    await settled();
  }

  async ends(): Promise<void> {
    this.#stream?.close();
    await settled();
  }

  async breaks(): Promise<void> {
    this.#stream?.error(new TypeError('terminated', { cause: new Error('other side closed') }));
    await settled();
  }
}

/** One frame. */
export function frame(event: { kind: string; [field: string]: unknown }, id?: string): string {
  const head = id === undefined ? '' : `id: ${id}\n`;
  return `${head}event: ${event.kind}\ndata: ${JSON.stringify({ schema: 1, ...event })}\n\n`;
}

/** Everything that can happen without time passing has happened. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** All states of a client, in order. */
export function states(chat: ChatClient): ChatState[] {
  const all: ChatState[] = [];
  chat.on('state', (state) => all.push(state));
  return all;
}

const NOON = Date.parse('2026-02-13T12:00:00Z');
