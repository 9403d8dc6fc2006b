import type { Relay } from './answer.ts';

/** What to do for a picture now. */
export type Next =
  | { name: 'try'; relay: Relay }
  /**
   * Nobody can be tried before `until`; `full` when at least one relay is there and has no room (E15), `undefined`
   * when there is none to try.
   */
  | { name: 'wait'; until: number; full: boolean | undefined };

/**
 * Which relay to try (E15). It opens nothing and reads no clock: what became of a try goes in, the next one comes out.
 *
 * A relay that is full is held out for its retry time, one that cannot be reached likewise. When all are held out a
 * round is over: the next begins after the longest time that was told, doubled with each round, up to 16 s.
 */
export class Relays {
  readonly #random: () => number;
  #list: Relay[] = [];
  /** Relays that are held out, by id. */
  readonly #held = new Map<string, { until: number; full: boolean }>();
  #round = 0;
  /** The longest time that a relay told in this round. */
  #toldMs = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** Takes the list of an answer, nearest first. A relay that it calls full comes after the others. */
  handleList(list: Relay[]): void {
    this.#list = [...list].sort((a, b) => Number(a.full) - Number(b.full));
    const ids = new Set(list.map((relay) => relay.id));
    for (const id of this.#held.keys()) if (!ids.has(id)) this.#held.delete(id);
  }

  /** A relay closed with `EDGE_FULL`, or for the tenant's sessions. */
  handleFull(id: string, retryMs: number, now: number): void {
    const bounded = Math.min(Math.max(retryMs, SHORTEST_RETRY_MS), LONGEST_RETRY_MS);
    this.#hold(id, bounded, true, now);
  }

  /** A relay could not be reached, or ended the session. */
  handleFailed(id: string, now: number): void {
    this.#hold(id, FAILED_MS, false, now);
  }

  /** A relay let the viewer in and sends. */
  handleAdmitted(id: string): void {
    this.#held.delete(id);
    this.#round = 0;
    this.#toldMs = 0;
  }

  /** The relay to try, `first` before all others if it is not held out. */
  next(now: number, first?: string): Next {
    const free = this.#list.filter((relay) => (this.#held.get(relay.id)?.until ?? 0) <= now);
    const relay = free.find(({ id }) => id === first) ?? free[0];
    if (relay !== undefined) return { name: 'try', relay };
    const held = [...this.#held.values()];
    if (held.length === 0) return { name: 'wait', until: now + NO_RELAY_MS, full: undefined };
    const until = Math.min(...held.map((hold) => hold.until));
    return { name: 'wait', until, full: held.some((hold) => hold.full) };
  }

  #hold(id: string, ms: number, full: boolean, now: number): void {
    this.#held.set(id, { until: now + ms, full });
    this.#toldMs = Math.max(this.#toldMs, ms);
    const isOver = this.#list.every((relay) => (this.#held.get(relay.id)?.until ?? 0) > now);
    if (isOver) this.#endRound(now);
  }

  /** Everybody is held out to the same time, so that the next round begins with the nearest. */
  #endRound(now: number): void {
    const grown = Math.min(this.#toldMs * 2 ** Math.min(this.#round, 16), LONGEST_ROUND_MS);
    // By chance later by up to a tenth: everybody was refused at the same moment.
    const until = now + Math.max(grown, this.#toldMs) * (1 + 0.1 * this.#random());
    this.#round += 1;
    this.#toldMs = 0;
    for (const hold of this.#held.values()) hold.until = until;
  }
}

/** Rule E15. */
const LONGEST_ROUND_MS = 16_000;
const SHORTEST_RETRY_MS = 250;
/** A relay may ask for more than a round's longest wait, and not for an hour. */
const LONGEST_RETRY_MS = 60_000;
/** A relay that cannot be reached; twice as long with each round. */
const FAILED_MS = 1_000;
/** No relay reports: a renewal brings the next list. */
const NO_RELAY_MS = 2_000;
