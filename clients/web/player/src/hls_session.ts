import type Hls from 'hls.js';
import type { ErrorData, HlsConfig, LoadPolicy, RetryConfig } from 'hls.js';
import { EDGE_FULL, REMOVED, TOKEN_EXPIRED, TOKEN_IN_USE, UNAUTHORIZED } from './closing.ts';
import type { Session, SessionOptions } from './session.ts';

/** A session over LL-HLS, for a browser or a network without WebTransport (E17). */
export class HlsSession implements Session {
  readonly element = document.createElement('video');
  readonly seenMs = undefined;
  readonly bufferMs = undefined;
  readonly #options: SessionOptions;
  #hls: Hls | undefined;
  /** The playlist of what is played, beside which a renewed token is handed in. */
  #playlist: string | undefined;
  #isOver = false;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.element.muted = true;
    this.element.playsInline = true;
    this.element.disableRemotePlayback = true;
    this.element.addEventListener('playing', () => options.tell({ name: 'playing' }), { once: true });
    this.#run().catch((error: unknown) => this.#over(undefined, String(error)));
  }

  show(): void {
    this.element.muted = this.#options.muted;
  }

  mute(muted: boolean): void {
    this.#options.muted = muted;
    this.element.muted = muted;
  }

  /** Goes on with a renewed token; answers whether the relay took it. */
  async renew(token: string): Promise<boolean> {
    if (this.#playlist === undefined || this.#isOver) return false;
    const address = new URL('token', this.#playlist);
    const response = await fetch(address, { method: 'POST', body: token, credentials: 'omit' });
    return response.status === 204;
  }

  close(): void {
    this.#isOver = true;
    this.#hls?.destroy();
    this.element.removeAttribute('src');
    this.element.load();
    this.element.remove();
  }

  async #run(): Promise<void> {
    // Most viewers need none of it.
    const { default: Hls } = await import('hls.js');
    if (this.#isOver) return;
    if (!Hls.isSupported()) return this.#playNatively();
    const hls = new Hls({
      lowLatencyMode: true,
      maxLiveSyncPlaybackRate: 1.25,
      backBufferLength: 30,
      ...impatient(Hls.DefaultConfig),
    });
    this.#hls = hls;
    hls.on(Hls.Events.LEVEL_LOADED, (_, { details }) => {
      this.#playlist = details.url;
    });
    hls.on(Hls.Events.MANIFEST_PARSED, () => this.#play());
    hls.on(Hls.Events.ERROR, (_, error) => this.#heed(error));
    hls.loadSource(this.#options.url.href);
    hls.attachMedia(this.element);
  }

  /** Safari on a phone plays HLS by itself, and says little of what goes wrong. */
  #playNatively(): void {
    this.element.addEventListener('error', () => this.#over(undefined, this.element.error?.message ?? ''));
    this.element.src = this.#options.url.href;
    this.#play();
  }

  #play(): void {
    this.element.play().catch((error: unknown) => {
      if (!(error instanceof DOMException && error.name === 'AbortError')) this.#over(undefined, String(error));
    });
  }

  #heed(error: ErrorData): void {
    const status = error.response?.code ?? 0;
    const code = CODES[status];
    if (code !== undefined) this.#over(code, reason(error));
    else if (error.fatal) this.#over(undefined, error.details);
  }

  #over(code: number | undefined, reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#options.tell({ name: 'ended', code, reason });
  }
}

/** What a relay refuses is not asked for again, but told: when the next try is, and where, is not for hls.js to say. */
function impatient({ manifestLoadPolicy, playlistLoadPolicy, fragLoadPolicy }: HlsConfig): Partial<HlsConfig> {
  const policy = ({ default: base }: LoadPolicy): LoadPolicy => ({
    default: { ...base, errorRetry: base.errorRetry && { ...base.errorRetry, shouldRetry: isNoRefusal } },
  });
  return {
    manifestLoadPolicy: policy(manifestLoadPolicy),
    playlistLoadPolicy: policy(playlistLoadPolicy),
    fragLoadPolicy: policy(fragLoadPolicy),
  };
}

const isNoRefusal: NonNullable<RetryConfig['shouldRetry']> = (_config, _count, _isTimeout, response, retry) =>
  retry && CODES[response?.code ?? 0] === undefined;

/** A refusal in the words of a session's close. */
function reason({ networkDetails }: ErrorData): string {
  const request: unknown = networkDetails;
  if (!(request instanceof XMLHttpRequest)) return '';
  try {
    const { retry_after_ms } = JSON.parse(request.responseText) as { retry_after_ms?: number };
    if (retry_after_ms !== undefined) return `retry_ms=${Math.round(retry_after_ms)}`;
  } catch {
    // Something between says no.
  }
  return '';
}

/** What a refusal of a playlist says, as the close of a session would. */
const CODES: Record<number, number> = {
  401: UNAUTHORIZED,
  403: REMOVED,
  409: TOKEN_IN_USE,
  // The session is over, and its token with it.
  410: TOKEN_EXPIRED,
  503: EDGE_FULL,
};
