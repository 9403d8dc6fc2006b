import { expect, test } from 'vitest';
import { backoff } from './backoff.ts';

const usual = { baseMs: 3_000, failures: 0, toldMs: 0, random: 0 };

test("C11: the first wait is the server's, and each further one twice as long up to a minute", () => {
  const waits = [0, 1, 2, 3, 4, 5, 60].map((failures) => backoff({ ...usual, failures }));
  expect(waits).toEqual([3_000, 6_000, 12_000, 24_000, 48_000, 60_000, 60_000]);
  expect(backoff({ ...usual, baseMs: 90_000 }), 'the server may ask for more').toBe(90_000);
});

test('C11: chance only adds to a wait, and never much', () => {
  expect(backoff({ ...usual, random: 0.5 })).toBe(4_500);
  expect(backoff({ ...usual, toldMs: 20_000, random: 0 })).toBe(20_000);
  expect(backoff({ ...usual, toldMs: 20_000, random: 1 })).toBe(23_000);
  expect(backoff({ ...usual, failures: 60, random: 1 })).toBe(72_000);
});
