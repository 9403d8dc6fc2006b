import { expect, test } from 'vitest';
import { inWords } from './words.ts';

test('C11: each state is said in words, with when it goes on', () => {
  const time = new Date(2026, 1, 13, 21, 5, 9);
  const reason = { code: 'connection_lost', message: 'the server ended the stream' };
  const at = time.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', second: '2-digit' });
  expect(inWords({ name: 'connecting' })).toBe('Connecting…');
  expect(inWords({ name: 'open' })).toBe('Live');
  expect(inWords({ name: 'open', limitedUntil: time })).toBe(`YouTube wants fewer calls: the chat goes on at ${at}.`);
  expect(inWords({ name: 'waiting', reason, until: time })).toBe(`The server ended the stream. Trying again at ${at}.`);
  expect(inWords({ name: 'ended', reason: { code: 'ENDED', message: 'the chat is over' } })).toBe('The chat is over.');
});
