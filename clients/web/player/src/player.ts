import { Keepsake } from './keepsake.ts';
import { nextTick } from './line.ts';
import { Picture } from './picture.ts';
import { Presence } from './presence.ts';
import { type Call, Seat } from './seat.ts';
import { Server } from './server.ts';
import { Sessions } from './sessions.ts';
import type { PlayerState } from './state.ts';
import { Timers } from './timers.ts';

/** What a player shows, and where it asks. */
export interface PlayerOptions {
  stream: string;
  server: URL;
  /** The tenant's own backend, which asks for the seat. */
  tokenUrl?: URL | undefined;
  /** Whether a backend of another origin gets the page's cookies for it. */
  withCookies: boolean;
  /** Takes an offer by itself. */
  autoJoin: boolean;
  region?: string | undefined;
  muted: boolean;
}

/**
 * Runs the machines of a seat and its picture in a page: makes their calls, opens their sessions, keeps their time.
 *
 * `tell` hears of each change, and of each second that a waiting line counts.
 */
export class Player {
  readonly #timers = new Timers();
  readonly #server: Server;
  readonly #sessions: Sessions;
  readonly #presence: Presence;
  readonly #keepsake: Keepsake;
  readonly #seat: Seat;
  readonly #picture = new Picture(Math.random);
  readonly #tell: (state: PlayerState) => void;
  #alarm: (() => void) | undefined;
  #wasAsking = false;
  #isClosed = false;

  constructor(stage: HTMLElement, options: PlayerOptions, tell: (state: PlayerState) => void) {
    const { stream, server, autoJoin, region, muted } = options;
    this.#tell = tell;
    this.#server = new Server(options, this.#timers);
    const sessions = new Sessions({
      stage,
      stream,
      timers: this.#timers,
      muted,
      tell: (id, event) => this.#turn((now) => this.#picture.handleSession(id, event, now)),
    });
    this.#sessions = sessions;
    this.#keepsake = new Keepsake(server, stream);
    this.#seat = new Seat({
      seat: this.#keepsake.take(),
      autoJoin,
      region,
      get hls() {
        return sessions.isHls;
      },
      random: Math.random,
      nonce: () => crypto.randomUUID(),
    });
    this.#seat.hide(document.hidden, performance.now());
    this.#presence = new Presence({
      hide: (hidden) => this.#turn((now) => this.#seat.hide(hidden, now)),
      away: (farewell) => this.#away(farewell),
      back: () => {
        if (this.#wasAsking) this.play();
      },
    });
  }

  get state(): PlayerState {
    return this.#seat.state;
  }

  /** The seat or place that it holds. */
  get seat(): string | undefined {
    return this.#seat.seat;
  }

  play(): void {
    this.#turn((now) => this.#seat.play(now));
  }

  join(): void {
    this.#turn((now) => this.#seat.join(now));
  }

  leave(): void {
    this.#turn(() => this.#seat.leave());
  }

  mute(muted: boolean): void {
    this.#sessions.mute(muted);
  }

  /** Gives the seat back and ends everything. */
  close(): void {
    if (this.#isClosed) return;
    this.leave();
    this.#isClosed = true;
    this.#alarm?.();
    this.#presence.close();
    this.#timers.close();
  }

  #away(farewell: boolean): void {
    const { seat, state } = this.#seat;
    this.#wasAsking = !RESTING.has(state.name);
    if (!farewell) {
      this.#keepsake.put(seat);
      return;
    }
    if (seat !== undefined) this.#server.leave(seat);
    this.#turn(() => {
      this.#seat.leave();
      // The beacon has said it.
      while (this.#seat.pollCall() !== undefined);
    });
  }

  /** Does one thing, and then all that follows from it and is due. */
  #turn(act: (now: number) => void): void {
    if (this.#isClosed) return;
    const now = performance.now();
    act(now);
    this.#seat.handleTimeout(now);
    this.#picture.handleGrant(this.#seat.grant, now);
    this.#picture.handleTimeout(now);
    this.#obey(now);
    this.#seat.handlePicture(this.#picture.state);
    for (let call = this.#seat.pollCall(); call !== undefined; call = this.#seat.pollCall()) void this.#make(call);
    this.#setAlarm(now);
    this.#tell(this.#seat.state);
  }

  #obey(now: number): void {
    for (let order = this.#picture.pollOrder(); order !== undefined; order = this.#picture.pollOrder()) {
      if (order.name === 'renew') this.#seat.handleTokenRefused(now);
      else if (order.name === 'beat') this.#seat.handleRemoved(now);
      else this.#sessions.obey(order);
    }
  }

  async #make(call: Call): Promise<void> {
    const told = await this.#server.make(call);
    this.#turn((now) => this.#seat.handleAnswer(call, told, now));
  }

  #setAlarm(now: number): void {
    this.#alarm?.();
    const dues = [this.#seat.pollTimeout(), this.#picture.pollTimeout(), nextTick(this.#seat.state, now)];
    const due = Math.min(...dues.filter((due) => due !== undefined));
    this.#alarm = Number.isFinite(due) ? this.#timers.after(due - now, () => this.#turn(() => {})) : undefined;
  }
}

/** Nothing is asked for. */
const RESTING: ReadonlySet<PlayerState['name']> = new Set(['idle', 'lost', 'kicked', 'ended', 'refused']);
