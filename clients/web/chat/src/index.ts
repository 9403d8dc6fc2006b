/** Reads live chats from Tidegate, in browsers and in Node. */
export { ChatClient, type ChatOptions, type Heard } from './client.ts';
export type { Clock } from './clock.ts';
export type * from './events.ts';
export type { ChatState, Counts, Reason } from './state.ts';
