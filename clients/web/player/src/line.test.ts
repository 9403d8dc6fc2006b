import { expect, test } from 'vitest';
import { line, news, nextTick } from './line.ts';
import type { PlayerState } from './state.ts';
import { words, wordsOf } from './words.ts';

const en = wordsOf('en');

/** The table of the player: an answer, and its line. */
test.each<[rule: string, state: PlayerState, line: string]>([
  ['S2: asking', { name: 'asking' }, 'Finding you a seat…'],
  ['S3: wait', { name: 'wait', position: 7 }, 'You are number 7 in line.'],
  [
    'S8: wait, an old place is gone',
    { name: 'wait', position: 7, lost: 'expired' },
    'Your old place is gone. You are number 7 in line.',
  ],
  ['S5: offer', { name: 'offer', until: 9_001, joining: false }, 'A seat is free. Press Join within 10 s.'],
  ['S4: full', { name: 'full', until: 30_000 }, 'The stream and its line are full. Trying again in 30 s.'],
  ['S2: in, connecting', { name: 'in', picture: 'connecting' }, 'You have a seat. Starting the picture…'],
  ['S2: in, playing', { name: 'in', picture: 'playing' }, ''],
  ['E15: every relay full', { name: 'in', picture: 'relays_full' }, 'The stream is full. Waiting for a seat...'],
  ['S18: seat lost', { name: 'lost' }, 'Your seat was given up. Press Play to ask again.'],
  ['S21: kicked', { name: 'kicked' }, 'You were removed from this stream.'],
  ['S13: tenant’s cap', { name: 'capped', code: 'tenant_viewer_cap' }, 'This stream cannot take more viewers now.'],
  ['S15: spend cap', { name: 'capped', code: 'spend_cap_reached' }, 'This stream cannot take more viewers now.'],
  ['S16: limited', { name: 'limited', until: 4_000 }, 'Too many tries from your network. Trying again in 4 s.'],
  ['not live yet', { name: 'not_started' }, 'The stream has not started.'],
  ['nobody publishes yet', { name: 'in', picture: 'not_started' }, 'The stream has not started.'],
  ['S25: ended', { name: 'ended' }, 'The stream has ended.'],
  ['no answer', { name: 'unanswered', seated: false }, 'Connection lost. Trying again…'],
  ['no relay answers', { name: 'in', picture: 'unreachable' }, 'Connection lost. Trying again…'],
  ['S17: refused', { name: 'refused', code: 'server_admission', detail: '' }, 'This stream cannot be shown here.'],
  ['nobody asked', { name: 'idle' }, ''],
])('%s', (_rule, state, said) => {
  expect(line(state, en, 0)).toBe(said);
});

test('every language says everything, with the same things to fill in', () => {
  const holes = (text: string) => text.match(/\{\w+\}/g) ?? [];
  for (const [language, own] of Object.entries(words)) {
    for (const key of Object.keys(en) as (keyof typeof en)[]) {
      expect(own[key], `${language}.${key}`).toBeTruthy();
      expect(holes(own[key]), `${language}.${key}`).toEqual(holes(en[key]));
    }
    for (const [sentence, button] of [
      [own.offer, own.join],
      [own.lost, own.play],
    ] as const) {
      expect(sentence, `${language} names the button`).toContain(button);
    }
  }
});

test('a language is found by its longest known tag', () => {
  expect(wordsOf('de-AT')).toBe(words.de);
  expect(wordsOf('ES')).toBe(words.es);
  expect(wordsOf('')).toBe(words.en);
  expect(wordsOf('tlh')).toBe(words.en);
});

test('seconds run down by themselves, and are no news', () => {
  const offer: PlayerState = { name: 'offer', until: 10_000, joining: false };
  expect(nextTick(offer, 0)).toBe(1000);
  expect(nextTick(offer, 1000)).toBe(2000);
  expect(nextTick(offer, 9_999)).toBe(10_000);
  expect(nextTick(offer, 10_000)).toBeUndefined();
  expect(nextTick({ name: 'asking' }, 0)).toBeUndefined();
  expect(news(offer)).toBe(news({ ...offer, until: 8_000 }));
  expect(news({ name: 'wait', position: 2 })).not.toBe(news({ name: 'wait', position: 1 }));
});
