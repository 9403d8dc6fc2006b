import type { ChatState } from '../src/index.ts';

/** A client's state, for people. */
export function inWords(state: ChatState): string {
  switch (state.name) {
    case 'connecting':
      return 'Connecting…';
    case 'open':
      if (state.limitedUntil === undefined) return 'Live';
      return `YouTube wants fewer calls: the chat goes on at ${clock(state.limitedUntil)}.`;
    case 'waiting':
      return `${sentence(state.reason.message)} Trying again at ${clock(state.until)}.`;
    case 'ended':
      return sentence(state.reason.message);
  }
}

function sentence(message: string): string {
  const said = message.charAt(0).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(said) ? said : `${said}.`;
}

function clock(time: Date): string {
  return time.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', second: '2-digit' });
}
