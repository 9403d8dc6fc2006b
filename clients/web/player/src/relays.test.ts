import { expect, test } from 'vitest';
import type { Relay } from './answer.ts';
import { Relays } from './relays.ts';

const relay = (id: string, full = false): Relay => ({ id, url: `https://${id}`, hls_url: '', region: 'eu', full });

function fleet(ids: string[], random = 0): Relays {
  const relays = new Relays(() => random);
  relays.handleList(ids.map((id) => relay(id)));
  return relays;
}

/** Refuses every try, and gives the time of each. */
function refused(relays: Relays, tries: number, retryMs = 2000): { id: string; at: number }[] {
  const made: { id: string; at: number }[] = [];
  let now = 0;
  while (made.length < tries) {
    const next = relays.next(now);
    if (next.name === 'try') {
      made.push({ id: next.relay.id, at: now });
      relays.handleFull(next.relay.id, retryMs, now);
    } else {
      expect(next.full).toBe(true);
      now = next.until;
    }
  }
  return made;
}

test('E15: with every relay full it asks again after 2, 4, 8, 16 and 16 s, the whole list each time', () => {
  const at = (id: string, s: number) => ({ id, at: s * 1000 });
  const rounds = [0, 2, 6, 14, 30, 46];
  expect(refused(fleet(['a', 'b']), 12)).toEqual(rounds.flatMap((s) => [at('a', s), at('b', s)]));
});

test('E15: chance only adds to a wait', () => {
  expect(refused(fleet(['a'], 1), 3).map(({ at }) => at)).toEqual([0, 2200, 6600]);
});

test('E15: a full relay is held out for its retry time, and the next of the list is tried at once', () => {
  const relays = fleet(['a', 'b']);
  relays.handleFull('a', 2000, 0);
  expect(relays.next(0)).toMatchObject({ relay: { id: 'b' } });
  expect(relays.next(1999)).toMatchObject({ relay: { id: 'b' } });
  expect(relays.next(2000)).toMatchObject({ relay: { id: 'a' } });
});

test('E15: a relay that lets the viewer in makes the next round short again', () => {
  const relays = fleet(['a']);
  refused(relays, 4);
  relays.handleAdmitted('a');
  relays.handleFull('a', 2000, 100_000);
  expect(relays.next(100_000)).toEqual({ name: 'wait', until: 102_000, full: true });
});

test('E15: a relay may ask for more than the longest round, and none for a loop or an hour', () => {
  for (const [told, waited] of [
    [20_000, 20_000],
    [1e9, 60_000],
    [0, 250],
  ] as const) {
    const relays = fleet(['a']);
    relays.handleFull('a', told, 0);
    expect(relays.next(0)).toMatchObject({ until: waited });
  }
});

test('E14: a relay that is listed as full is tried after the others, for it may know this viewer (E11)', () => {
  const relays = new Relays(() => 0);
  relays.handleList([relay('near', true), relay('far')]);
  expect(relays.next(0)).toMatchObject({ relay: { id: 'far' } });
  relays.handleFailed('far', 0);
  expect(relays.next(0)).toMatchObject({ relay: { id: 'near' } });
});

test('E15: relays that cannot be reached are not called full', () => {
  const relays = fleet(['a', 'b']);
  relays.handleFailed('a', 0);
  relays.handleFailed('b', 0);
  expect(relays.next(0)).toEqual({ name: 'wait', until: 1000, full: false });
  expect(relays.next(1000)).toMatchObject({ relay: { id: 'a' } });
});

test('T3: a renewal tries the relay of its session first', () => {
  const relays = fleet(['a', 'b']);
  expect(relays.next(0, 'b')).toMatchObject({ relay: { id: 'b' } });
  expect(relays.next(0, 'gone')).toMatchObject({ relay: { id: 'a' } });
  relays.handleFull('b', 2000, 0);
  expect(relays.next(0, 'b')).toMatchObject({ relay: { id: 'a' } });
});

test('E14: a new list forgets who is not on it, and keeps who is held out', () => {
  const relays = fleet(['a', 'b']);
  relays.handleFull('a', 2000, 0);
  relays.handleList([relay('a'), relay('c')]);
  expect(relays.next(0)).toMatchObject({ relay: { id: 'c' } });
});

test('E12: without relays there is nothing to try', () => {
  expect(fleet([]).next(0)).toEqual({ name: 'wait', until: 2000, full: undefined });
});
