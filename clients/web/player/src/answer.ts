/** A relay, as an answer lists it (S27). */
export interface Relay {
  id: string;
  /** Where its sessions are opened. */
  url: string;
  /** Where its LL-HLS is; empty where it serves none. */
  hls_url: string;
  region: string;
  /** Hash of its own certificate; in development only. */
  cert_sha256?: string;
  /** It takes no newcomers now. */
  full: boolean;
}

/** What became of the place that a page came back for (S8). */
export type Lost = 'expired' | 'left' | 'unknown';

/** What an answer to one of the page's calls says, whichever call it was. */
export type Told =
  | { name: 'in'; seat: string; token: string; lifeMs: number; beatMs: number; relays: Relay[]; lost?: Lost }
  | { name: 'wait'; seat: string; position: number; retryMs: number; lost?: Lost }
  | { name: 'offer'; seat: string; leftMs: number; retryMs: number }
  | { name: 'full'; retryMs: number; lost?: Lost }
  /** The tenant's seats or money are used up. A place that it was asked with is kept (S13, S15). */
  | { name: 'capped'; code: string; seat?: string; retryMs: number | undefined }
  | { name: 'limited'; retryMs: number }
  /** The heartbeat was heard. */
  | { name: 'kept'; nextMs: number }
  | { name: 'renewed'; token: string; lifeMs: number; relays: Relay[] }
  | { name: 'gone' }
  | { name: 'kicked' }
  | { name: 'ended' }
  | { name: 'not_started'; retryMs: number | undefined }
  /** Nothing that asking again would change. */
  | { name: 'refused'; code: string; detail: string }
  /** The server cannot be reached, is in trouble, or says what nobody understands. */
  | { name: 'nothing'; retryMs: number | undefined };

/** Reads an answer; status 0 is none. Whatever a server or something between sends, this gives a `Told`. */
export function read(status: number, body: unknown): Told {
  const said: Said = typeof body === 'object' && body !== null ? body : {};
  const retryMs = duration(said.retry_after_ms, 1);
  if (status >= 200 && status < 300) return granted(said) ?? { name: 'nothing', retryMs: undefined };
  if (said.code === undefined) {
    const waiting = inLine(said);
    if (waiting !== undefined) return waiting;
  }
  // Without a status there was no answer.
  return status < 400 ? { name: 'nothing', retryMs: undefined } : problem(status, said, retryMs);
}

function granted(said: Said): Told | undefined {
  const lifeMs = duration(said.token_expires_s, 1000);
  if (isText(said.token) && lifeMs !== undefined) {
    const { token } = said;
    const relays = Array.isArray(said.relays) ? said.relays.filter(isRelay) : [];
    if (!isText(said.seat)) return { name: 'renewed', token, lifeMs, relays };
    const beatMs = duration(said.heartbeat_s, 1000) ?? BEAT_MS;
    return { name: 'in', seat: said.seat, token, lifeMs, beatMs, relays, ...lostOf(said) };
  }
  const nextMs = duration(said.next_ms, 1);
  if (nextMs !== undefined) return { name: 'kept', nextMs };
  // A tenant's backend may hand on the body and not the status.
  return inLine(said);
}

function inLine(said: Said): Told | undefined {
  const retryMs = duration(said.retry_after_ms, 1);
  if (retryMs === undefined) return undefined;
  if (said.state === 'full') return { name: 'full', retryMs, ...lostOf(said) };
  if (!isText(said.seat)) return undefined;
  const { seat } = said;
  const leftMs = duration(said.offer_s, 1000);
  if (said.state === 'offer' && leftMs !== undefined) return { name: 'offer', seat, leftMs, retryMs };
  const isPlace = said.state === 'wait' && Number.isSafeInteger(said.position);
  return isPlace ? { name: 'wait', seat, position: said.position as number, retryMs, ...lostOf(said) } : undefined;
}

function problem(status: number, said: Said, retryMs: number | undefined): Told {
  const code = isText(said.code) ? said.code : `http_${status}`;
  switch (code) {
    case 'tenant_viewer_cap':
    case 'spend_cap_reached':
      return { name: 'capped', code, retryMs, ...(isText(said.seat) ? { seat: said.seat } : {}) };
    case 'seat_gone':
      return { name: 'gone' };
    case 'stream_ended':
      return { name: 'ended' };
    case 'kicked':
      return { name: 'kicked' };
    case 'not_live':
      return { name: 'not_started', retryMs };
  }
  if (status === 429) return { name: 'limited', retryMs: retryMs ?? LIMIT_MS };
  if (status >= 500 || status === 408 || status === 425) return { name: 'nothing', retryMs };
  return { name: 'refused', code, detail: isText(said.detail) ? said.detail : `the server answered ${status}` };
}

/** What bodies may have, before it is looked at. */
type Said = { [field in Field]?: unknown };
type Field =
  | 'state'
  | 'seat'
  | 'token'
  | 'token_expires_s'
  | 'heartbeat_s'
  | 'relays'
  | 'position'
  | 'offer_s'
  | 'retry_after_ms'
  | 'next_ms'
  | 'lost'
  | 'code'
  | 'detail';

function isText(said: unknown): said is string {
  return typeof said === 'string' && said !== '';
}

function duration(said: unknown, unitMs: number): number | undefined {
  const isTime = typeof said === 'number' && Number.isFinite(said) && said >= 0;
  return isTime ? Math.min(said * unitMs, LONGEST_MS) : undefined;
}

function lostOf(said: Said): { lost?: Lost } {
  const { lost } = said;
  return lost === 'expired' || lost === 'left' || lost === 'unknown' ? { lost } : {};
}

function isRelay(said: unknown): said is Relay {
  if (typeof said !== 'object' || said === null) return false;
  const { id, url, hls_url } = said as Partial<Relay>;
  return typeof id === 'string' && typeof url === 'string' && typeof hls_url === 'string';
}

/** Rule S18, for an answer that does not say. */
const BEAT_MS = 5_000;
/** A 429 that says nothing of time. */
const LIMIT_MS = 10_000;
/** Nobody means more than a day; a slip of units must not put a page to sleep for a year. */
const LONGEST_MS = 24 * 3_600_000;
