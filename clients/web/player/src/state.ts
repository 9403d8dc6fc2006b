import type { Lost } from './answer.ts';

/** How a player is, for its line, its buttons and the page. Times are milliseconds of the clock that only goes forward. */
export type PlayerState =
  /** Nobody has asked for a seat, or it was given back. */
  | { name: 'idle' }
  | { name: 'asking' }
  /** `lost`: an old place was asked for, and this is a new one. */
  | { name: 'wait'; position: number; lost?: Lost }
  /** A seat is held until `until`; `joining` once it was pressed. */
  | { name: 'offer'; until: number; joining: boolean }
  | { name: 'full'; until: number }
  | { name: 'capped'; code: string }
  | { name: 'limited'; until: number }
  | { name: 'in'; picture: PictureState }
  | { name: 'lost' }
  | { name: 'kicked' }
  | { name: 'not_started' }
  | { name: 'ended' }
  /** No answer; `seated` while a seat is held and the picture may go on. */
  | { name: 'unanswered'; seated: boolean }
  /** The page is set up wrongly: no such stream, a stream that is not public. */
  | { name: 'refused'; code: string; detail: string };

/** How the picture of a seat is. */
export type PictureState =
  | 'connecting'
  | 'playing'
  /** Every relay is full (E15). */
  | 'relays_full'
  /** There is a session, and nobody publishes yet. */
  | 'not_started'
  /** No relay answers. */
  | 'unreachable';
