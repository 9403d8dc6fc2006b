import { expect, test } from 'vitest';
import { read } from './answer.ts';

test('S27: relays that cannot be read are left out, and what is not told has a default', () => {
  const relay = { id: 'eu-1', url: 'https://r:4443', hls_url: '', region: 'eu', full: false };
  const body = { seat: 's', token: 't', token_expires_s: 120, relays: [relay, null, { id: 1 }, 'x'] };
  expect(read(200, body)).toEqual({
    name: 'in',
    seat: 's',
    token: 't',
    lifeMs: 120_000,
    beatMs: 5000,
    relays: [relay],
  });
});

test('S17: a backend that hands on the body and not the status is understood', () => {
  const body = { state: 'wait', seat: 's', position: 3, retry_after_ms: 2000 };
  expect(read(200, body)).toEqual(read(409, body));
});

test.each([
  [0, undefined],
  [200, null],
  [200, []],
  [201, { seat: 's', token: 't' }],
  [500, '<html>'],
  [502, {}],
  [503, { code: 'not_ready' }],
  [408, { code: 'request_timeout' }],
])('a %i with %j is no answer', (status, body) => {
  expect(read(status, body)).toEqual({ name: 'nothing', retryMs: undefined });
});

test.each([
  [409, { state: 'wait', seat: 's', position: 1.5, retry_after_ms: 1 }],
  [409, { state: 'wait', seat: '', position: 1, retry_after_ms: 1 }],
  [409, { state: 'offer', seat: 's', retry_after_ms: 1 }],
  [409, { state: 'full' }],
  [401, null],
])('a %i with %j is refused with its status', (status, body) => {
  expect(read(status, body)).toMatchObject({ name: 'refused', code: `http_${status}` });
});

test('a slip of units puts no page to sleep for a year', () => {
  expect(read(429, { retry_after_ms: 1e15 })).toEqual({ name: 'limited', retryMs: 86_400_000 });
  expect(read(429, { retry_after_ms: -1 })).toEqual({ name: 'limited', retryMs: 10_000 });
});
