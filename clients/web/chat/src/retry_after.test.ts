import { expect, test } from 'vitest';
import { LONGEST_WAIT_MS, retryAfter } from './retry_after.ts';

const NOON = Date.parse('2026-02-13T12:00:00Z');
const wait = (headers: Record<string, string>) => retryAfter(new Headers(headers), NOON);

test('C11: Retry-After is read as seconds', () => {
  expect(wait({ 'retry-after': '7' })).toBe(7_000);
  expect(wait({ 'retry-after': ' 0 ' })).toBe(0);
  expect(wait({ 'retry-after': '99999999999999999999' })).toBe(LONGEST_WAIT_MS);
});

test('C11: Retry-After is read as a date, in each of its three forms', () => {
  for (const date of ['Fri, 13 Feb 2026 12:01:00 GMT', 'Friday, 13-Feb-26 12:01:00 GMT', 'Fri Feb 13 12:01:00 2026']) {
    expect(wait({ 'retry-after': date }), date).toBe(60_000);
  }
  expect(wait({ 'retry-after': 'Fri, 13 Feb 2026 11:00:00 GMT' }), 'one that has passed').toBe(0);
});

test("C11: a date counts from the server's clock", () => {
  const headers = { date: 'Fri, 13 Feb 2026 09:00:00 GMT', 'retry-after': 'Fri, 13 Feb 2026 09:00:30 GMT' };
  expect(wait(headers)).toBe(30_000);
});

test('C11: what is neither is no wait', () => {
  for (const wrong of ['', '-1', '1.5', 'soon', '5 s']) {
    expect(wait({ 'retry-after': wrong }), wrong).toBeUndefined();
  }
  expect(wait({})).toBeUndefined();
});
