import type { Relay } from './answer.ts';
import { EDGE_FULL, REMOVED, SCOPE_FULL, TOKEN_EXPIRED, TOKEN_IN_USE, UNAUTHORIZED } from './closing.ts';
import { Relays } from './relays.ts';
import type { Grant } from './seat.ts';
import type { PictureState } from './state.ts';

/** What becomes of a session that was opened. */
export type SessionEvent =
  /** The relay let it in; nobody publishes yet. */
  | { name: 'silent' }
  /** The first frame is there. */
  | { name: 'playing' }
  /** `code`: how the relay closed it; `undefined` where it could not be reached or was lost. */
  | { name: 'ended'; code: number | undefined; reason: string };

/** What to do with sessions. */
export type Order =
  | { name: 'open'; id: number; relay: Relay; token: string }
  /** Its picture is the one to see, and its sound the one to hear. */
  | { name: 'show'; id: number }
  | { name: 'close'; id: number }
  /** The token is no good any more. */
  | { name: 'renew' }
  /** The seat may be gone: ask. */
  | { name: 'beat' };

/**
 * The picture of a seat: which relay, and one session after another without a gap (E15, T3). A renewed token opens a
 * second session while the first goes on, and takes its place with its first frame. Opens nothing and reads no clock.
 */
export class Picture {
  readonly #relays: Relays;
  readonly #orders: Order[] = [];
  #grant: Grant | undefined;
  /** What is seen. */
  #shown: Running | undefined;
  /** What is to be seen next. */
  #next: Running | undefined;
  /** When the next try is due, if one is wanted. */
  #due: number | undefined;
  #lastId = 0;
  #state: PictureState = 'connecting';

  constructor(random: () => number) {
    this.#relays = new Relays(random);
  }

  get state(): PictureState {
    return this.#state;
  }

  /** Takes a seat's grant, a renewed one, or the end of the seat. */
  handleGrant(grant: Grant | undefined, now: number): void {
    if (grant === this.#grant) return;
    this.#grant = grant;
    if (grant === undefined) {
      this.#close(this.#next);
      this.#close(this.#shown);
      this.#next = this.#shown = this.#due = undefined;
      this.#state = 'connecting';
      return;
    }
    // A control that has just started knows no relay for a moment; those that were there still are.
    if (grant.relays.length > 0) this.#relays.handleList(grant.relays);
    if (this.#next === undefined) this.#due = now;
    this.handleTimeout(now);
  }

  /** What became of a session. */
  handleSession(id: number, event: SessionEvent, now: number): void {
    const isNext = this.#next?.id === id;
    if (!isNext && this.#shown?.id !== id) return;
    if (event.name === 'ended') {
      if (isNext) this.#nextEnded(this.#next as Running, event, now);
      else this.#shownEnded(this.#shown as Running, event, now);
    } else {
      if (isNext) this.#show(this.#next as Running, now);
      this.#state = event.name === 'playing' ? 'playing' : 'not_started';
    }
    this.handleTimeout(now);
  }

  /** Tries the next relay, if it is time. */
  handleTimeout(now: number): void {
    const late = this.#next;
    if (late !== undefined && late.since + ATTEMPT_MS <= now) {
      this.#close(late);
      this.#nextEnded(late, { name: 'ended', code: undefined, reason: 'no answer' }, now);
    }
    while (this.#due !== undefined && this.#due <= now && this.#grant !== undefined) this.#try(this.#grant, now);
  }

  /** When `handleTimeout` is next due. */
  pollTimeout(): number | undefined {
    const dues = [this.#due, this.#next && this.#next.since + ATTEMPT_MS].filter((due) => due !== undefined);
    return dues.length > 0 ? Math.min(...dues) : undefined;
  }

  /** The next thing to do. */
  pollOrder(): Order | undefined {
    return this.#orders.shift();
  }

  #try(grant: Grant, now: number): void {
    const next = this.#relays.next(now, this.#shown?.relay.id);
    if (next.name === 'wait') {
      this.#due = next.until;
      if (this.#shown === undefined && next.full !== undefined) this.#state = next.full ? 'relays_full' : 'unreachable';
      return;
    }
    this.#due = undefined;
    const { token } = grant;
    this.#next = { id: ++this.#lastId, relay: next.relay, token, since: now };
    this.#orders.push({ name: 'open', id: this.#lastId, relay: next.relay, token });
    // What was said of all relays holds until one of them lets it in: nobody wants to hear of each try.
    const isSaid = this.#state === 'relays_full' || this.#state === 'unreachable';
    if (this.#shown === undefined && !isSaid) this.#state = 'connecting';
  }

  #show(running: Running, now: number): void {
    this.#orders.push({ name: 'show', id: running.id });
    this.#close(this.#shown);
    this.#shown = { ...running, since: now };
    this.#next = undefined;
    this.#relays.handleAdmitted(running.relay.id);
    if (this.#grant !== undefined && this.#grant.token !== running.token) this.#due = now;
  }

  #nextEnded(next: Running, ended: Ended, now: number): void {
    this.#next = undefined;
    this.#due = now;
    if (ended.code === EDGE_FULL || ended.code === SCOPE_FULL) {
      this.#relays.handleFull(next.relay.id, retryMs(ended.reason), now);
      return;
    }
    this.#relays.handleFailed(next.relay.id, now);
    this.#heed(ended.code);
  }

  #shownEnded(shown: Running, ended: Ended, now: number): void {
    this.#close(shown);
    this.#shown = undefined;
    this.#state = 'connecting';
    if (this.#next !== undefined) return;
    this.#due = now;
    this.#heed(ended.code);
    // A relay that ends what it has just begun, or stops, is not tried again at once; a line that was lost may be back.
    const lasted = now - shown.since >= LASTING_MS;
    if (ended.code !== undefined || !lasted) this.#relays.handleFailed(shown.relay.id, now);
  }

  #heed(code: number | undefined): void {
    if (code === REMOVED) this.#orders.push({ name: 'beat' });
    if (code === UNAUTHORIZED || code === TOKEN_IN_USE || code === TOKEN_EXPIRED) this.#orders.push({ name: 'renew' });
  }

  #close(running: Running | undefined): void {
    if (running !== undefined) this.#orders.push({ name: 'close', id: running.id });
  }
}

type Running = { id: number; relay: Relay; token: string; since: number };
type Ended = Extract<SessionEvent, { name: 'ended' }>;

/** What a refusal says of when to come back: `EDGE_FULL retry_ms=2000` (E8). */
export function retryMs(reason: string): number {
  const told = /\bretry_ms=(\d+)/.exec(reason)?.[1];
  return told === undefined ? RETRY_MS : Number(told);
}

/** A refusal that says nothing of time; what a relay's `--admission-retry-ms` is. */
const RETRY_MS = 2_000;
/** From the first packet to the first frame, or to knowing that there is none. */
const ATTEMPT_MS = 15_000;
const LASTING_MS = 5_000;
