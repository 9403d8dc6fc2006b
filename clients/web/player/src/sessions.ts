import type { Relay } from './answer.ts';
import { HlsSession } from './hls_session.ts';
import { MoqSession } from './moq_session.ts';
import type { Order, SessionEvent } from './picture.ts';
import type { Session, SessionOptions } from './session.ts';
import type { Timers } from './timers.ts';

/** What the sessions of one player need. */
export interface SessionsOptions {
  /** Where their pictures are put. */
  stage: HTMLElement;
  stream: string;
  timers: Timers;
  muted: boolean;
  tell: (id: number, event: SessionEvent) => void;
}

/** Opens, shows and closes sessions as the picture's machine orders, over MoQ where that goes and LL-HLS where not. */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #open = new Map<number, { session: Session; relay: Relay }>();
  #shown: number | undefined;
  /** Relays that MoQ did not reach: a network may let no QUIC through. Where it ever came through, a relay was away. */
  readonly #silent = new Set<string>();
  #reached = false;

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** Whether pictures come as LL-HLS, as the statistics want to know. */
  get isHls(): boolean {
    const shown = this.#seen();
    return shown === undefined ? !canMoq() : shown.session instanceof HlsSession;
  }

  obey(order: Extract<Order, { id: number }>): void {
    if (order.name === 'open') this.#begin(order);
    else if (order.name === 'show') this.#show(order.id);
    else this.#close(order.id);
  }

  mute(muted: boolean): void {
    this.#options.muted = muted;
    for (const { session } of this.#open.values()) session.mute(muted);
  }

  #begin({ id, relay, token }: Extract<Order, { name: 'open' }>): void {
    const seen = this.#seen();
    if (seen?.session instanceof HlsSession && seen.relay.id === relay.id) {
      void this.#renew(id, seen.session, relay, token);
    } else {
      this.#connect(id, relay, token);
    }
  }

  #connect(id: number, relay: Relay, token: string): void {
    const isBlocked = this.#silent.has(relay.id) && !this.#reached && relay.hls_url !== '';
    const isMoq = canMoq() && !isBlocked;
    try {
      const options = this.#sessionOptions(id, relay, isMoq, token);
      const session = isMoq ? new MoqSession(options) : new HlsSession(options);
      session.element.hidden = true;
      this.#options.stage.append(session.element);
      this.#open.set(id, { session, relay });
    } catch (error) {
      queueMicrotask(() => this.#options.tell(id, { name: 'ended', code: undefined, reason: String(error) }));
    }
  }

  #sessionOptions(id: number, relay: Relay, isMoq: boolean, token: string): SessionOptions {
    const { stream, timers, muted } = this.#options;
    if (!isMoq && relay.hls_url === '') throw new Error('this relay serves no LL-HLS');
    const place = isMoq ? [relay.url, stream] : [relay.hls_url, stream, 'index.m3u8'];
    const url = new URL(place.join('/').replace(/([^:])\/{2,}/g, '$1/'));
    url.searchParams.set('jwt', token);
    const tell = (event: SessionEvent) => {
      if (event.name === 'ended') this.#ended(id, relay, isMoq, event.code);
      this.#options.tell(id, event);
    };
    return { url, certSha256: relay.cert_sha256, muted, before: () => this.#seen()?.session, tell, timers };
  }

  /** An LL-HLS session goes on as it is when its relay takes the new token: the same picture under a new number. */
  async #renew(id: number, session: HlsSession, relay: Relay, token: string): Promise<void> {
    const taken = await session.renew(token).catch(() => false);
    if (!taken) return this.#connect(id, relay, token);
    this.#open.set(id, { session, relay });
    this.#options.tell(id, { name: 'playing' });
  }

  #ended(id: number, relay: Relay, isMoq: boolean, code: number | undefined): void {
    if (code === undefined && id !== this.#shown) {
      if (isMoq) this.#silent.add(relay.id);
      else this.#silent.delete(relay.id);
    }
    // One that is seen keeps its last frame until it is told to go.
    if (id !== this.#shown) this.#close(id);
  }

  #show(id: number): void {
    const open = this.#open.get(id);
    if (open === undefined) return;
    this.#shown = id;
    if (open.session instanceof MoqSession) this.#reached = true;
    open.session.show();
    open.session.element.hidden = false;
  }

  #close(id: number): void {
    const open = this.#open.get(id);
    this.#open.delete(id);
    if (this.#shown === id) this.#shown = undefined;
    const isShared = [...this.#open.values()].some(({ session }) => session === open?.session);
    if (!isShared) open?.session.close();
  }

  #seen(): { session: Session; relay: Relay } | undefined {
    return this.#shown === undefined ? undefined : this.#open.get(this.#shown);
  }
}

function canMoq(): boolean {
  return 'WebTransport' in globalThis && 'VideoDecoder' in globalThis;
}
