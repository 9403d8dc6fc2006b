import { read, type Told } from './answer.ts';
import type { Call } from './seat.ts';
import type { Timers } from './timers.ts';

/** Where a page's calls go. */
export interface ServerOptions {
  /** The Tidegate server. */
  server: URL;
  stream: string;
  /** The tenant's own backend, which asks for the seat (S17). Heartbeats and renewals go to the server all the same. */
  tokenUrl?: URL | undefined;
  /** Whether the backend of another origin gets the page's cookies for it. */
  withCookies?: boolean;
}

/** Makes a seat's calls. */
export class Server {
  readonly #options: ServerOptions;
  readonly #timers: Timers;
  readonly #end = new AbortController();

  constructor(options: ServerOptions, timers: Timers) {
    this.#options = options;
    this.#timers = timers;
  }

  /** Makes one call. Whatever becomes of it is an answer. */
  async make(call: Call): Promise<Told> {
    const patience = new AbortController();
    const cancel = this.#timers.after(PATIENCE_MS, () => patience.abort());
    const signal = AbortSignal.any([patience.signal, this.#end.signal]);
    try {
      const response = await this.#fetch(call, signal);
      const text = await response.text();
      return read(response.status, parse(text));
    } catch {
      return read(0, undefined);
    } finally {
      cancel();
    }
  }

  /** Gives a seat or place back while the page goes away (S19). */
  leave(seat: string): void {
    navigator.sendBeacon(this.#address('leave'), JSON.stringify({ seat }));
  }

  /** Waits for no answer any more. */
  close(): void {
    this.#end.abort();
  }

  #fetch(call: Call, signal: AbortSignal): Promise<Response> {
    const { tokenUrl, withCookies } = this.#options;
    const common = { method: 'POST', body: JSON.stringify(call.body), cache: 'no-store', signal } as const;
    if (call.kind === 'admit' && tokenUrl !== undefined) {
      const headers = { 'content-type': 'application/json' };
      return fetch(tokenUrl, { ...common, headers, credentials: withCookies ? 'include' : 'same-origin' });
    }
    // As plain text, which the server reads as JSON all the same (S25): a page of another origin need not ask first.
    const keepalive = call.kind === 'leave';
    return fetch(this.#address(call.kind), { ...common, credentials: 'omit', keepalive });
  }

  #address(kind: Call['kind']): URL {
    return new URL(`v1/play/${encodeURIComponent(this.#options.stream)}/${kind}`, this.#options.server);
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Two tries fit into the 20 s of a seat (S18). */
const PATIENCE_MS = 8_000;
