import type { ErrorCode, Event, Failure } from './schema.ts';

export type {
  About,
  Amount,
  Author,
  Badge,
  BadgeKind,
  BannerKind,
  Choice,
  Emoji,
  ErrorCode,
  Failure,
  Money,
  Run,
  StreamState,
  StreamStatus,
  TextRun,
  Words,
} from './schema.ts';

/** One event of a live chat: one object of the API's schema `Event`. */
export type ChatEvent = Event;
/** What an event is: also the name that it is listened to by. */
export type EventKind = ChatEvent['kind'];
/** An event of one kind. */
export type EventOf<K extends EventKind> = Extract<ChatEvent, { kind: K }>;

/** Whether something that came over the wire looks like an event. What is in it is the server's word. */
export function isEvent(value: unknown): value is ChatEvent {
  return typeof value === 'object' && value !== null && 'kind' in value && typeof value.kind === 'string';
}

/** Whether this error says that nothing will ever come again: who asks anew is told the same. */
export function isTheEnd(failure: Failure): boolean {
  return failure.final && !HEALS.includes(failure.code);
}

/** After these a room can be opened again later. */
const HEALS: ErrorCode[] = ['RATE_LIMITED', 'UPSTREAM_ERROR'];
