import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { milliseconds, type Outcome, refusal } from './answer.ts';
import { backoff } from './backoff.ts';
import { type Clock, systemClock } from './clock.ts';
import { type ChatEvent, type EventKind, type EventOf, type Failure, isEvent, isTheEnd } from './events.ts';
import { Listeners } from './listeners.ts';
import type { ChatState, Counts, Reason } from './state.ts';

/** What can be listened to: each kind of event by its name, `event` for all of them, and `state`. */
export type Heard = { [K in EventKind]: EventOf<K> } & { event: ChatEvent; state: ChatState };

/** What a client may be told. */
export interface ChatOptions {
  /** Aborting it is `close()`. */
  signal?: AbortSignal;
  /** Goes on behind this event, as `lastEventId` of an earlier client told it. */
  lastEventId?: string;
  /** Sent with each request. */
  headers?: Record<string, string>;
  /** A connection on which nothing came for so long is taken for lost: 45 s, three of the server's signs of life. */
  silenceMs?: number;
  /** Another `fetch`. */
  fetch?: typeof fetch;
  /** Another clock. */
  clock?: Clock;
  /** Other chance than `Math.random`: from 0 to 1. */
  random?: () => number;
}

/**
 * Reads a live chat: `GET /v1/chat/{name}/events` of a Tidegate server.
 *
 * ```ts
 * const chat = new ChatClient('http://localhost:8080/v1/chat/VIDEO/events');
 * chat.on('message', (message) => console.log(message.author.name, message.text));
 * chat.on('state', (state) => console.log(state.name));
 * ```
 *
 * It begins by itself once the code that made it has run, so that no listener comes too late. A connection that is
 * lost is made anew behind the last event (`Last-Event-ID`): nothing twice, and where something is missing, a `gap`
 * says so. What the server says of when to come back is kept to, whichever way it says it.
 *
 * ```text
 *  connecting ──▶ open ──▶ waiting ──▶ connecting …
 *       │          │ ▲        ▲
 *       │          └─┴ limitedUntil: the room waits, the connection stays
 *       ├── 429, 5xx, unreachable ────┘
 *       └── 4xx, a final error, close() ──▶ ended
 * ```
 */
export class ChatClient {
  /** What it has counted. */
  readonly counts: Counts = { events: 0, opened: 0, rateLimits: 0, errors: 0 };
  readonly #url: URL;
  readonly #headers: Record<string, string>;
  readonly #fetch: typeof fetch;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #silenceMs: number;
  readonly #listeners = new Listeners<Heard>();
  /** Ends everything: what is under way, and each wait. */
  readonly #end = new AbortController();
  #state: ChatState = { name: 'connecting' };
  #lastEventId: string | undefined;
  #retryMs = RETRY_MS;
  /** Until when no connection is made, whatever becomes of the one there is. */
  #limitedUntil = 0;
  /** Errors since something last arrived. */
  #failures = 0;

  /** Throws a `TypeError` where `url` is none. A page may leave out its own origin. */
  constructor(url: string | URL, options: ChatOptions = {}) {
    this.#url = new URL(url, globalThis.location?.href);
    this.#headers = { ...options.headers };
    // Called with its own `this`: a browser's fetch refuses another one.
    this.#fetch = options.fetch ?? ((...request) => fetch(...request));
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? Math.random;
    this.#silenceMs = options.silenceMs ?? SILENCE_MS;
    this.#lastEventId = options.lastEventId;
    const { signal } = options;
    const abort = () => this.#finish({ code: 'aborted', message: 'the signal was aborted' });
    signal?.addEventListener('abort', abort, { once: true, signal: this.#end.signal });
    queueMicrotask(() => {
      if (signal?.aborted) abort();
      void this.#run();
    });
  }

  /** How it is. */
  get state(): ChatState {
    return this.#state;
  }

  /** The resume point behind the last event, to go on from in another client. */
  get lastEventId(): string | undefined {
    return this.#lastEventId;
  }

  /** Calls `listener` for each event of a kind, for every `event`, or at each change of `state`. */
  on<K extends keyof Heard>(name: K, listener: (heard: Heard[K]) => void): this {
    this.#listeners.add(name, listener);
    return this;
  }

  /** Takes a listener away. */
  off<K extends keyof Heard>(name: K, listener: (heard: Heard[K]) => void): this {
    this.#listeners.remove(name, listener);
    return this;
  }

  /** Leaves the chat. Nothing more is told but the last state. */
  close(): void {
    this.#finish({ code: 'closed', message: 'the client was closed' });
  }

  async #run(): Promise<void> {
    while (!this.#end.signal.aborted) {
      this.#become({ name: 'connecting' });
      const outcome = await this.#connect();
      if (this.#end.signal.aborted) return;
      if (outcome.name === 'over') return this.#finish(outcome.reason);
      const wait = this.#waitAfter(outcome);
      this.#become({ name: 'waiting', reason: outcome.reason, until: new Date(this.#clock.wall() + wait) });
      await this.#clock.sleep(wait, this.#end.signal);
    }
  }

  #waitAfter(outcome: Exclude<Outcome, { name: 'over' }>): number {
    if (outcome.name === 'limited') {
      this.#noteLimit(outcome.retryAfterMs);
    } else {
      this.counts.errors += 1;
    }
    const toldMs = Math.max(outcome.retryAfterMs ?? 0, this.#limitedUntil - this.#clock.monotonic());
    // A rate limit is no failure: it has its own time, and what went wrong before it is not worse for it.
    const failures = outcome.name === 'limited' ? 0 : this.#failures++;
    return backoff({ baseMs: this.#retryMs, failures, toldMs, random: this.#random() });
  }

  #noteLimit(retryAfterMs = LIMIT_MS): number {
    this.counts.rateLimits += 1;
    this.#limitedUntil = Math.max(this.#limitedUntil, this.#clock.monotonic() + retryAfterMs);
    return retryAfterMs;
  }

  /** One connection, from the request to its end. */
  async #connect(): Promise<Outcome> {
    const attempt = new AbortController();
    const { signal } = attempt;
    this.#end.signal.addEventListener('abort', () => attempt.abort(), { signal });
    const id = this.#lastEventId;
    const resume: Record<string, string> = id === undefined ? {} : { 'Last-Event-ID': id };
    const headers = { ...this.#headers, Accept: 'text/event-stream', ...resume };
    try {
      const response = await this.#fetch(this.#url, { headers, signal, cache: 'no-store' });
      const type = response.headers.get('content-type') ?? '';
      if (response.status !== 200 || !type.startsWith('text/event-stream') || response.body === null) {
        return await refusal(response, this.#clock.wall());
      }
      this.counts.opened += 1;
      this.#become({ name: 'open' });
      return await this.#read(response.body, attempt);
    } catch (error) {
      return failed('unreachable', `the server cannot be reached: ${inWords(error)}`);
    } finally {
      attempt.abort();
    }
  }

  async #read(body: ReadableStream<Uint8Array>, attempt: AbortController): Promise<Outcome> {
    let last: Outcome | undefined;
    const parser = createParser({
      maxBufferSize: LONGEST_EVENT,
      onRetry: (ms) => {
        this.#retryMs = Math.min(Math.max(ms, SHORTEST_RETRY_MS), LONGEST_RETRY_MS);
      },
      onEvent: (message) => {
        // Whoever closed the client in a listener wants nothing more, and nothing follows a final error.
        if (this.#end.signal.aborted || last !== undefined) return;
        last = this.#take(message, attempt.signal);
      },
    });
    const decoder = new TextDecoder();
    const reader = body.getReader();
    const silence = new Silence(this.#clock, this.#silenceMs, attempt);
    try {
      while (last === undefined) {
        const { done, value } = await reader.read();
        if (done) return failed('connection_lost', 'the server ended the stream');
        silence.broken();
        parser.feed(decoder.decode(value, { stream: true }));
      }
      return last;
    } catch (error) {
      if (silence.isOver) return failed('silent', `nothing came for ${this.#silenceMs / 1000} s`);
      return failed('connection_lost', `the connection was lost: ${inWords(error)}`);
    }
  }

  /** Hands one event on. What ends the stream comes back. */
  #take(message: EventSourceMessage, connection: AbortSignal): Outcome | undefined {
    if (message.id !== undefined) this.#lastEventId = message.id;
    const event = parse(message.data);
    if (event === undefined) {
      this.counts.errors += 1;
      return undefined;
    }
    this.counts.events += 1;
    if (event.kind !== 'error') this.#failures = 0;
    const outcome = event.kind === 'error' ? this.#heed(event, connection) : undefined;
    this.#listeners.tell('event', event);
    this.#listeners.tell(event.kind, event as never);
    return outcome;
  }

  #heed(failure: Failure, connection: AbortSignal): Outcome | undefined {
    const reason: Reason = { code: failure.code, message: failure.message };
    const retryAfterMs = milliseconds(failure.retry_after_ms);
    if (isTheEnd(failure)) return { name: 'over', reason };
    if (failure.final) {
      return { name: failure.code === 'RATE_LIMITED' ? 'limited' : 'failed', reason, retryAfterMs };
    }
    if (failure.code === 'RATE_LIMITED') void this.#holdRoom(this.#noteLimit(retryAfterMs), connection);
    return undefined;
  }

  /** Says that the room waits, and when it no longer does. */
  async #holdRoom(ms: number, connection: AbortSignal): Promise<void> {
    const state: ChatState = { name: 'open', limitedUntil: new Date(this.#clock.wall() + ms) };
    this.#become(state);
    await this.#clock.sleep(ms, connection);
    if (this.#state === state && !connection.aborted) this.#become({ name: 'open' });
  }

  #finish(reason: Reason): void {
    if (this.#end.signal.aborted) return;
    this.#end.abort();
    this.#become({ name: 'ended', reason });
  }

  #become(state: ChatState): void {
    this.#state = state;
    this.#listeners.tell('state', state);
  }
}

/** Ends a connection on which nothing comes: a lost one says nothing of it. */
class Silence {
  isOver = false;
  readonly #clock: Clock;
  #brokenAt: number;

  constructor(clock: Clock, ms: number, connection: AbortController) {
    this.#clock = clock;
    this.#brokenAt = clock.monotonic();
    void this.#watch(ms, connection);
  }

  broken(): void {
    this.#brokenAt = this.#clock.monotonic();
  }

  async #watch(ms: number, connection: AbortController): Promise<void> {
    while (!connection.signal.aborted) {
      const left = this.#brokenAt + ms - this.#clock.monotonic();
      if (left <= 0) {
        this.isOver = true;
        return connection.abort();
      }
      await this.#clock.sleep(left, connection.signal);
    }
  }
}

function parse(data: string): ChatEvent | undefined {
  try {
    const value: unknown = JSON.parse(data);
    return isEvent(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function failed(code: string, message: string): Outcome {
  return { name: 'failed', reason: { code, message }, retryAfterMs: undefined };
}

/** Node says what really happened in the cause. */
function inWords(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error && error.cause.message !== '' ? error.cause.message : error.message;
}

/** Between a loss and the first try until the server says otherwise; what Tidegate says too. */
const RETRY_MS = 3_000;
/** A server that writes 0 wants its viewers back quickly, and not a loop. */
const SHORTEST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 600_000;
/** A rate limit that says nothing of time. The gate waits as long. */
const LIMIT_MS = 30_000;
/** Tidegate says something every 15 s. */
const SILENCE_MS = 45_000;
/** Characters; Tidegate's largest events have some ten thousand. */
const LONGEST_EVENT = 8 << 20;
