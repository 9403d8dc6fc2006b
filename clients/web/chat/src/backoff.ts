/** How long to wait after a failure, and what spreads those who all failed in one instant. */
export interface Backoff {
  /** The first wait: what the server's `retry:` says. */
  baseMs: number;
  /** Failures in a row before this one. */
  failures: number;
  /** What the answer asked for, or a rate limit that is still on. */
  toldMs: number;
  /** From 0 to 1. */
  random: number;
}

/**
 * Milliseconds to the next try: never before what was told, twice as long with each failure, and later by up to one
 * base, because everybody lost the connection at the same moment and would come back at the same one.
 */
export function backoff({ baseMs, failures, toldMs, random }: Backoff): number {
  const grown = Math.min(baseMs * 2 ** Math.min(failures, 16), Math.max(baseMs, LONGEST_BACKOFF_MS));
  return Math.max(grown, toldMs) + random * Math.min(grown, baseMs * 4);
}

/** A server that is back is found within about a minute. */
const LONGEST_BACKOFF_MS = 60_000;
