import type { Relay, Told } from './answer.ts';
import type { PictureState, PlayerState } from './state.ts';

/** A call to make. Its answer comes back with it, so that one of an earlier life changes nothing. */
export interface Call {
  kind: 'admit' | 'hb' | 'token' | 'leave';
  body: { seat?: string; token?: string; join?: true; hidden?: boolean; hls?: true; region?: string; nonce?: string };
}

/** What a seat gives: with this a relay lets its viewer in. A renewal makes another one. */
export interface Grant {
  token: string;
  relays: Relay[];
}

/** What a page chooses, and where chance comes from. */
export interface SeatOptions {
  /** The seat id that an earlier load of the page was given. */
  seat?: string | undefined;
  /** Takes an offer by itself. */
  autoJoin?: boolean;
  /** The picture will come as LL-HLS. */
  hls?: boolean;
  region?: string | undefined;
  /** From 0 to 1. */
  random: () => number;
  /** A new unguessable text of at least 16 characters. */
  nonce: () => string;
}

/**
 * One viewer's way to a seat and through it. It calls nobody and reads no clock: what to call comes out of `pollCall`,
 * what became of it goes into `handleAnswer`, and `pollTimeout` says when `handleTimeout` is due.
 *
 * ```text
 *  out ──play──▶ asking: wait · offer · full · capped · limited · no answer ──▶ seated: heartbeats, renewals
 *   ▲              │ kicked, ended, refused                                        │ leave, gone, kicked, ended
 *   └──────────────┴───────────────────────────────────────────────────────────────┘
 * ```
 */
export class Seat {
  readonly #options: SeatOptions;
  #stage: Stage = { name: 'out', shown: { name: 'idle' } };
  #seat: string | undefined;
  #nonce: string;
  #hidden = false;
  #picture: PictureState = 'connecting';
  readonly #calls: Call[] = [];

  constructor(options: SeatOptions) {
    this.#options = options;
    this.#seat = options.seat;
    this.#nonce = options.nonce();
  }

  /** How the player is. */
  get state(): PlayerState {
    const stage = this.#stage;
    if (stage.name !== 'seated') return stage.shown;
    return stage.failures > 0 ? { name: 'unanswered', seated: true } : { name: 'in', picture: this.#picture };
  }

  /** The seat id to keep for a reload. */
  get seat(): string | undefined {
    return this.#seat;
  }

  /** What the picture may be fetched with; the same object until a renewal. */
  get grant(): Grant | undefined {
    return this.#stage.name === 'seated' ? this.#stage.grant : undefined;
  }

  /** Asks for a seat, unless that is under way. */
  play(now: number): void {
    if (this.#stage.name !== 'out') return;
    this.#stage = { name: 'asking', shown: { name: 'asking' }, due: now, join: false, failures: 0 };
    this.handleTimeout(now);
  }

  /** Takes the seat that is offered. */
  join(now: number): void {
    const stage = this.#stage;
    if (stage.name !== 'asking' || stage.shown.name !== 'offer') return;
    this.#takeOffer(stage, stage.shown.until, now);
    this.handleTimeout(now);
  }

  /** Gives the seat or place back. */
  leave(): void {
    this.#calls.length = 0;
    if (this.#seat !== undefined) this.#calls.push({ kind: 'leave', body: { seat: this.#seat } });
    this.#seat = undefined;
    this.#nonce = this.#options.nonce();
    this.#out({ name: 'idle' });
  }

  /** Tells the server at once that the page is hidden or seen, as its patience depends on it (S3, S18). */
  hide(hidden: boolean, now: number): void {
    if (this.#hidden === hidden) return;
    this.#hidden = hidden;
    if (this.#stage.name === 'seated') this.#stage.beatDue = now;
    if (this.#stage.name === 'asking' && this.#seat !== undefined && hidden) this.#stage.due = now;
    this.handleTimeout(now);
  }

  /** How the picture is, as whoever shows it knows. */
  handlePicture(picture: PictureState): void {
    this.#picture = picture;
  }

  /** A relay says that the seat is freed (T6). The server knows why. */
  handleRemoved(now: number): void {
    if (this.#stage.name !== 'seated') return;
    this.#stage.beatDue = now;
    this.handleTimeout(now);
  }

  /** A relay does not take the token: another one is needed, and not in a loop. */
  handleTokenRefused(now: number): void {
    const stage = this.#stage;
    if (stage.name !== 'seated') return;
    stage.renewDue = Math.min(stage.renewDue, Math.max(now, stage.renewedAt + RENEWALS_APART_MS));
    this.handleTimeout(now);
  }

  /** What became of a call. */
  handleAnswer(call: Call, told: Told, now: number): void {
    const stage = this.#stage;
    if (stage.name === 'asking' && stage.call === call) {
      delete stage.call;
      this.#heed(stage, call, told, now);
    } else if (stage.name === 'seated' && stage.beat === call) {
      delete stage.beat;
      this.#heedBeat(stage, call, told, now);
    } else if (stage.name === 'seated' && stage.renewal === call) {
      delete stage.renewal;
      this.#heedRenewal(stage, told, now);
    }
    this.handleTimeout(now);
  }

  /** Makes the calls that are due. */
  handleTimeout(now: number): void {
    const stage = this.#stage;
    if (stage.name === 'asking' && stage.call === undefined && stage.due <= now) {
      stage.call = this.#call('admit', this.#ask(stage));
    }
    if (stage.name !== 'seated') return;
    const { token } = stage.grant;
    const seat = this.#seat as string;
    if (stage.beat === undefined && stage.beatDue <= now) {
      const hls = this.#options.hls ? { hls: true as const } : {};
      stage.beat = this.#call('hb', { seat, token, hidden: this.#hidden, ...hls });
    }
    if (stage.renewal === undefined && stage.renewDue <= now) stage.renewal = this.#call('token', { seat, token });
  }

  /** When `handleTimeout` is next due. */
  pollTimeout(): number | undefined {
    const stage = this.#stage;
    const dues: number[] = [];
    if (stage.name === 'asking' && stage.call === undefined) dues.push(stage.due);
    if (stage.name === 'seated' && stage.beat === undefined) dues.push(stage.beatDue);
    if (stage.name === 'seated' && stage.renewal === undefined) dues.push(stage.renewDue);
    return dues.length > 0 ? Math.min(...dues) : undefined;
  }

  /** The next call to make. */
  pollCall(): Call | undefined {
    return this.#calls.shift();
  }

  #call(kind: Call['kind'], body: Call['body']): Call {
    const call = { kind, body };
    this.#calls.push(call);
    return call;
  }

  #ask(stage: Asking): Call['body'] {
    const { hls, region } = this.#options;
    return {
      ...(this.#seat === undefined ? { nonce: this.#nonce } : { seat: this.#seat }),
      ...(stage.join ? { join: true } : {}),
      ...(this.#hidden ? { hidden: true } : {}),
      ...(hls ? { hls: true } : {}),
      ...(region === undefined ? {} : { region }),
    };
  }

  #heed(stage: Asking, call: Call, told: Told, now: number): void {
    if (told.name !== 'nothing') stage.failures = 0;
    switch (told.name) {
      case 'in':
        this.#sit(told, now);
        return;
      case 'wait':
        stage.shown = { name: 'wait', position: told.position, ...this.#lost(stage, told) };
        this.#keep(stage, told.seat, now + told.retryMs);
        break;
      case 'offer': {
        // A press may have come while this answer was on its way.
        const pressed = stage.join && !call.body.join;
        stage.join = pressed;
        stage.shown = { name: 'offer', until: now + told.leftMs, joining: pressed };
        this.#keep(stage, told.seat, now + told.retryMs);
        if (pressed || this.#options.autoJoin) this.#takeOffer(stage, now + told.leftMs, now);
        return;
      }
      case 'full':
        this.#seat = undefined;
        stage.due = this.#later(now, told.retryMs);
        stage.shown = { name: 'full', until: stage.due };
        break;
      case 'capped':
        stage.shown = { name: 'capped', code: told.code };
        // A place with a frozen offer lasts as long as it is asked for (S15).
        if (told.seat !== undefined) this.#keep(stage, told.seat, now + FROZEN_MS);
        else stage.due = this.#later(now, told.retryMs ?? CAPPED_MS);
        break;
      case 'limited':
        stage.due = this.#later(now, told.retryMs);
        stage.shown = { name: 'limited', until: stage.due };
        return;
      case 'not_started':
        stage.due = this.#later(now, told.retryMs ?? NOT_STARTED_MS);
        stage.shown = { name: 'not_started' };
        break;
      case 'gone':
        this.#out({ name: 'lost' });
        return;
      case 'kicked':
      case 'ended':
        this.#out({ name: told.name });
        return;
      case 'refused':
        this.#out(told);
        return;
      case 'kept':
      case 'renewed':
      case 'nothing':
        stage.due = this.#again(now, stage.failures++, told.name === 'nothing' ? told.retryMs : undefined);
        stage.shown = { name: 'unanswered', seated: false };
        return;
    }
    stage.join = false;
    this.#tellHidden(stage, call, now);
  }

  #heedBeat(stage: Seated, call: Call, told: Told, now: number): void {
    if (this.#isOver(told)) return;
    if (told.name === 'kept') {
      stage.failures = 0;
      const said = call.body.hidden === this.#hidden;
      stage.beatDue = said ? now + Math.max(told.nextMs, SHORTEST_BEAT_MS) : now;
    } else if (told.name === 'limited') {
      stage.beatDue = now + told.retryMs;
    } else {
      stage.beatDue = this.#again(now, stage.failures++, told.name === 'nothing' ? told.retryMs : undefined);
    }
  }

  #heedRenewal(stage: Seated, told: Told, now: number): void {
    if (this.#isOver(told)) return;
    if (told.name === 'renewed' || told.name === 'in') {
      stage.grant = { token: told.token, relays: told.relays };
      stage.renewedAt = now;
      stage.renewDue = this.#renewal(now, told.lifeMs);
      stage.renewFailures = 0;
    } else {
      const retryMs = told.name === 'nothing' || told.name === 'limited' ? told.retryMs : undefined;
      stage.renewDue = this.#again(now, stage.renewFailures++, retryMs);
    }
  }

  /** A seat ends only by what says so. */
  #isOver(told: Told): boolean {
    if (told.name === 'gone') this.#out({ name: 'lost' });
    else if (told.name === 'kicked' || told.name === 'ended') this.#out({ name: told.name });
    else if (told.name === 'refused' && told.code === 'stream_not_found') this.#out({ name: 'ended' });
    else return false;
    return true;
  }

  #sit(told: Extract<Told, { name: 'in' }>, now: number): void {
    this.#seat = told.seat;
    this.#picture = 'connecting';
    this.#stage = {
      name: 'seated',
      grant: { token: told.token, relays: told.relays },
      beatDue: now + Math.max(told.beatMs, SHORTEST_BEAT_MS),
      renewDue: this.#renewal(now, told.lifeMs),
      renewedAt: now,
      failures: 0,
      renewFailures: 0,
    };
  }

  #out(shown: PlayerState): void {
    this.#stage = { name: 'out', shown };
  }

  #keep(stage: Asking, seat: string, due: number): void {
    this.#seat = seat;
    stage.due = due;
  }

  #takeOffer(stage: Asking, until: number, now: number): void {
    stage.join = true;
    stage.due = now;
    stage.shown = { name: 'offer', until, joining: true };
  }

  /** The hint that an old place is gone stays as long as the new one does. */
  #lost(stage: Asking, told: Extract<Told, { name: 'wait' }>): Pick<Extract<PlayerState, { name: 'wait' }>, 'lost'> {
    const { shown } = stage;
    const before = shown.name === 'wait' && this.#seat === told.seat ? shown.lost : undefined;
    const lost = told.lost ?? before;
    return lost === undefined ? {} : { lost };
  }

  #tellHidden(stage: Asking, call: Call, now: number): void {
    if (this.#hidden && !call.body.hidden && this.#seat !== undefined) stage.due = now;
  }

  #renewal(now: number, lifeMs: number): number {
    return now + lifeMs * (0.6 + 0.15 * this.#options.random());
  }

  /** Never before what was told, and later by chance: everybody was told the same. */
  #later(now: number, ms: number): number {
    return now + ms * (1 + 0.25 * this.#options.random());
  }

  /** After so many failures in a row. Who holds something asks on while the server still keeps it. */
  #again(now: number, failures: number, toldMs = 0): number {
    const longest = this.#seat === undefined ? LONGEST_BACKOFF_MS : LONGEST_BACKOFF_HELD_MS;
    const grown = Math.min(FIRST_BACKOFF_MS * 2 ** Math.min(failures, 16), longest);
    return now + Math.max(grown * (0.5 + this.#options.random()), Math.min(toldMs, longest));
  }
}

type Stage = Out | Asking | Seated;
type Out = { name: 'out'; shown: PlayerState };
type Asking = { name: 'asking'; shown: PlayerState; due: number; call?: Call; join: boolean; failures: number };
type Seated = {
  name: 'seated';
  grant: Grant;
  beatDue: number;
  beat?: Call;
  renewDue: number;
  renewal?: Call;
  renewedAt: number;
  /** Heartbeats without an answer, in a row. */
  failures: number;
  renewFailures: number;
};

/** An unanswered call is made again after about this, then twice as long. */
const FIRST_BACKOFF_MS = 1_000;
const LONGEST_BACKOFF_MS = 16_000;
/** With chance on top 6 s: three tries within the 20 s of a seat (S18) and two within the 15 s of a place (S3). */
const LONGEST_BACKOFF_HELD_MS = 4_000;
/** How often a place with a frozen offer is asked for. */
const FROZEN_MS = 5_000;
/** A spend cap is raised by a person. */
const CAPPED_MS = 30_000;
const NOT_STARTED_MS = 10_000;
/** A server that says 0 wants no loop. */
const SHORTEST_BEAT_MS = 500;
const RENEWALS_APART_MS = 2_000;
