import type { PlayerState } from './state.ts';
import type { Words } from './words.ts';

/** The one line under the video; empty while the picture plays, and before anybody asked. */
export function line(state: PlayerState, words: Words, now: number): string {
  switch (state.name) {
    case 'idle':
      return '';
    case 'wait': {
      const place = fill(words.wait, 'position', state.position);
      return state.lost === undefined ? place : `${words.place_gone} ${place}`;
    }
    case 'offer':
      return fill(words.offer, 'offer_s', seconds(state.until, now));
    case 'full':
      return fill(words.full, 'retry_s', seconds(state.until, now));
    case 'limited':
      return fill(words.limited, 's', seconds(state.until, now));
    case 'in':
      return pictureLine(state.picture, words);
    case 'asking':
    case 'capped':
    case 'lost':
    case 'kicked':
    case 'not_started':
    case 'ended':
    case 'unanswered':
    case 'refused':
      return words[state.name];
  }
}

/** What changes when there is something new to say: not the seconds, of which nobody wants to hear each. */
export function news(state: PlayerState): string {
  return JSON.stringify({ ...state, until: undefined, joining: undefined });
}

/** When the line is another one though nothing happened: with the next second. */
export function nextTick(state: PlayerState, now: number): number | undefined {
  if (!('until' in state) || state.until <= now) return undefined;
  return state.until - (seconds(state.until, now) - 1) * 1000;
}

/** Whole seconds left, as a person counts them. */
export function seconds(until: number, now: number): number {
  return Math.max(0, Math.ceil((until - now) / 1000));
}

function pictureLine(picture: Extract<PlayerState, { name: 'in' }>['picture'], words: Words): string {
  switch (picture) {
    case 'playing':
      return '';
    case 'connecting':
      return words.starting;
    case 'relays_full':
      return words.relays_full;
    case 'not_started':
      return words.not_started;
    case 'unreachable':
      return words.unanswered;
  }
}

function fill(text: string, name: string, value: number): string {
  return text.replace(`{${name}}`, String(value));
}
