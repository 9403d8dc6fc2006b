import type { SessionEvent } from './picture.ts';
import type { Timers } from './timers.ts';

/** One session with a relay, and the picture that comes of it. */
export interface Session {
  /** What shows the picture. */
  readonly element: HTMLElement;
  /** The media time that is seen, in milliseconds. */
  readonly seenMs: number | undefined;
  /** How long it holds a frame back against a network that is not even, in milliseconds. */
  readonly bufferMs: number | undefined;
  /** From now on it is seen and heard. */
  show(): void;
  mute(muted: boolean): void;
  close(): void;
}

/** What a session is opened with. */
export interface SessionOptions {
  /** Where it is opened, with stream and token. */
  url: URL;
  /** The certificate that the relay must have; in development only (E14). */
  certSha256: string | undefined;
  muted: boolean;
  /** The one whose picture it is to follow, if one is seen. */
  before: () => Session | undefined;
  tell: (event: SessionEvent) => void;
  timers: Timers;
}
