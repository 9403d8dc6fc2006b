/** Shows a live stream of Tidegate in a page. `@tidegate/player/define` makes `<tidegate-player>` known. */
export type { Lost, Relay } from './answer.ts';
export { type StateDetail, TidegatePlayer } from './element.ts';
export { type Order, Picture, type SessionEvent } from './picture.ts';
export { type Next, Relays } from './relays.ts';
export { type Call, type Grant, Seat, type SeatOptions } from './seat.ts';
export type { PictureState, PlayerState } from './state.ts';
export { type Words, words } from './words.ts';
