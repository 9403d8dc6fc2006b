/**
 * The wait that a `Retry-After` header asks for, in milliseconds: whole seconds or an HTTP date (RFC 9110). A date
 * counts from the server's own clock (`Date`) where that is told, so that a wrong one here does no harm.
 */
export function retryAfter(headers: Headers, wallMs: number): number | undefined {
  const told = headers.get('retry-after')?.trim();
  if (told === undefined) return undefined;
  if (/^\d+$/.test(told)) return Math.min(Number(told) * 1000, LONGEST_WAIT_MS);
  const until = httpDate(told);
  if (until === undefined) return undefined;
  const now = httpDate(headers.get('date')?.trim() ?? '') ?? wallMs;
  return Math.min(Math.max(until - now, 0), LONGEST_WAIT_MS);
}

/** Nothing but a date: `Date.parse` alone would take "-1" for one. */
function httpDate(text: string): number | undefined {
  if (!/^[A-Z][a-z]+,? .*\d\d:\d\d:\d\d/.test(text)) return undefined;
  // The oldest of the three forms names no zone, and all are GMT.
  const ms = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(ms) ? undefined : ms;
}

/** Nobody means more than a day; a slip of units must not put a page to sleep for a year. */
export const LONGEST_WAIT_MS = 24 * 3_600_000;
