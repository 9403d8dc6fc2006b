import { expect, test } from 'vitest';
import type { Relay } from './answer.ts';
import { type Order, Picture, retryMs, type SessionEvent } from './picture.ts';

const relay = (id: string): Relay => ({ id, url: `https://${id}`, hls_url: '', region: 'eu', full: false });
const closed = (code: number | undefined, reason = ''): SessionEvent => ({ name: 'ended', code, reason });
const EDGE_FULL = closed(0x5746, 'EDGE_FULL retry_ms=2000');

/** A picture under a clock that is moved by hand. Orders are written short: `open 1 a t1`, `show 1`, `close 1`. */
class Drive {
  now = 0;
  readonly picture = new Picture(() => 0);

  grant(token: string, ...ids: string[]): this {
    this.picture.handleGrant({ token, relays: ids.map(relay) }, this.now);
    return this;
  }

  session(id: number, event: SessionEvent): this {
    this.picture.handleSession(id, event, this.now);
    return this;
  }

  pass(ms: number): this {
    const end = this.now + ms;
    for (let due = this.picture.pollTimeout(); due !== undefined && due <= end; due = this.picture.pollTimeout()) {
      this.now = Math.max(this.now, due);
      this.picture.handleTimeout(this.now);
      if (this.picture.pollTimeout() === due) break;
    }
    this.now = end;
    return this;
  }

  orders(): string[] {
    const orders: string[] = [];
    for (let order = this.picture.pollOrder(); order !== undefined; order = this.picture.pollOrder()) {
      orders.push(short(order));
    }
    return orders;
  }
}

function short(order: Order): string {
  if (order.name === 'open') return `open ${order.id} ${order.relay.id} ${order.token}`;
  return 'id' in order ? `${order.name} ${order.id}` : order.name;
}

test('E15: the nearest relay is opened, and shown with its first frame', () => {
  const drive = new Drive().grant('t1', 'a', 'b');
  expect(drive.orders()).toEqual(['open 1 a t1']);
  expect(drive.picture.state).toBe('connecting');
  drive.session(1, { name: 'playing' });
  expect(drive.orders()).toEqual(['show 1']);
  expect(drive.picture.state).toBe('playing');
  expect(drive.picture.pollTimeout()).toBeUndefined();
});

test('E15: EDGE_FULL goes to the next of the list at once, with the same token', () => {
  const drive = new Drive().grant('t1', 'a', 'b');
  drive.session(1, EDGE_FULL);
  expect(drive.orders()).toEqual(['open 1 a t1', 'open 2 b t1']);
  expect(drive.picture.state).toBe('connecting');
  drive.session(2, { name: 'playing' });
  expect(drive.picture.state).toBe('playing');
});

test('E15: with every relay full it says so, and asks again after 2, 4, 8, 16 s with the same token', () => {
  const drive = new Drive().grant('t1', 'a');
  let id = 1;
  for (const wait of [2000, 4000, 8000, 16_000, 16_000]) {
    expect(drive.orders()).toEqual([`open ${id} a t1`]);
    drive.session(id, EDGE_FULL);
    expect(drive.picture.state).toBe('relays_full');
    drive.pass(wait - 1);
    expect(drive.orders()).toEqual([]);
    drive.pass(1);
    expect(drive.picture.state, 'while it tries').toBe('relays_full');
    id += 1;
  }
  drive.session(id, { name: 'playing' });
  expect(drive.picture.state).toBe('playing');
});

test('E15: a renewal while every relay is full brings the next try its token, and no try of its own', () => {
  const drive = new Drive().grant('t1', 'a').session(1, EDGE_FULL).pass(1000).grant('t2', 'a');
  expect(drive.orders()).toEqual(['open 1 a t1']);
  drive.pass(1000);
  expect(drive.orders()).toEqual(['open 2 a t2']);
});

test('T3: a renewal opens a second session at the same relay, and the first goes on until the second has a frame', () => {
  const drive = new Drive().grant('t1', 'a', 'b').session(1, EDGE_FULL).session(2, { name: 'playing' });
  drive.orders();
  drive.pass(60_000).grant('t2', 'a', 'b');
  expect(drive.orders()).toEqual(['open 3 b t2']);
  expect(drive.picture.state).toBe('playing');
  drive.session(3, { name: 'playing' });
  expect(drive.orders()).toEqual(['show 3', 'close 2']);
  drive.session(2, closed(0x574b, 'RENEWED'));
  expect(drive.orders()).toEqual([]);
  expect(drive.picture.state).toBe('playing');
});

test('E9: a renewal that is refused costs nothing: the picture goes on, and it is tried again', () => {
  const drive = new Drive().grant('t1', 'a').session(1, { name: 'playing' });
  drive.orders();
  drive.grant('t2', 'a').session(2, EDGE_FULL);
  expect(drive.picture.state).toBe('playing');
  expect(drive.orders()).toEqual(['open 2 a t2']);
  drive.pass(2000);
  expect(drive.orders()).toEqual(['open 3 a t2']);
});

test('T3: a token that was renewed while its session opened is replaced behind it', () => {
  const drive = new Drive().grant('t1', 'a').grant('t2', 'a');
  drive.session(1, { name: 'playing' });
  expect(drive.orders()).toEqual(['open 1 a t1', 'show 1', 'open 2 a t2']);
});

test('E11: a line that was lost is made again at the same relay at once', () => {
  const drive = new Drive().grant('t1', 'a', 'b').session(1, { name: 'playing' }).pass(5000);
  drive.session(1, closed(undefined));
  expect(drive.orders()).toEqual(['open 1 a t1', 'show 1', 'close 1', 'open 2 a t1']);
  expect(drive.picture.state).toBe('connecting');
});

test('O9: a relay that stops sends its viewers to the next one', () => {
  const drive = new Drive().grant('t1', 'a', 'b').session(1, { name: 'playing' }).pass(5000);
  drive.session(1, closed(0x574d, 'STOPPING'));
  expect(drive.orders().at(-1)).toBe('open 2 b t1');
});

test.each([
  ['E1', 0x0002],
  ['E2', 0x5747],
  ['E4', 0x574c],
])('%s: a token that a relay does not take is renewed (0x%s)', (_rule, code) => {
  const drive = new Drive().grant('t1', 'a').session(1, closed(code));
  expect(drive.orders()).toEqual(['open 1 a t1', 'renew']);
  drive.pass(500).grant('t2', 'a').pass(500);
  expect(drive.orders()).toEqual(['open 2 a t2']);
});

test('T6: a session that a relay ends with REMOVED has the seat asked for', () => {
  const drive = new Drive().grant('t1', 'a').session(1, { name: 'playing' });
  drive.session(1, closed(0x5749, 'REMOVED'));
  expect(drive.orders().slice(2)).toEqual(['close 1', 'beat']);
  drive.picture.handleGrant(undefined, drive.now);
  expect(drive.pass(1e6).orders()).toEqual([]);
});

test('E3: a tenant whose sessions are used up is as full as a relay', () => {
  const drive = new Drive().grant('t1', 'a').session(1, closed(0x5748, 'scope full'));
  expect(drive.picture.state).toBe('relays_full');
  expect(drive.picture.pollTimeout()).toBe(2000);
});

test('E15: a relay that does not answer is left, and none that does is a lost connection', () => {
  const drive = new Drive().grant('t1', 'a', 'b').session(1, closed(undefined)).pass(15_000);
  expect(drive.orders()).toEqual(['open 1 a t1', 'open 2 b t1', 'close 2', 'open 3 a t1']);
  drive.session(3, closed(undefined));
  drive.orders();
  drive.session(4, closed(undefined));
  expect(drive.picture.state).toBe('unreachable');
  // And stays one while it is tried again.
  expect(drive.pass(4_000).orders().at(-1)).toMatch(/^open/);
  expect(drive.picture.state).toBe('unreachable');
});

test('a stream that nobody publishes yet is waited for, in its session', () => {
  const drive = new Drive().grant('t1', 'a').session(1, { name: 'silent' });
  expect(drive.picture.state).toBe('not_started');
  expect(drive.picture.pollTimeout()).toBeUndefined();
  drive.session(1, { name: 'playing' });
  expect(drive.picture.state).toBe('playing');
});

test('S19: the end of a seat closes what is open, and a new one begins anew', () => {
  const drive = new Drive().grant('t1', 'a').session(1, { name: 'playing' }).grant('t2', 'a');
  drive.orders();
  drive.picture.handleGrant(undefined, drive.now);
  expect(drive.orders()).toEqual(['close 2', 'close 1']);
  drive.session(2, { name: 'playing' });
  expect(drive.picture.state).toBe('connecting');
  expect(drive.grant('t3', 'a').orders()).toEqual(['open 3 a t3']);
});

test('E12: a seat without relays goes on being one, and a renewal without keeps those that were known', () => {
  const drive = new Drive().grant('t1');
  expect(drive.pass(60_000).orders()).toEqual([]);
  expect(drive.picture.state).toBe('connecting');
  drive.grant('t2', 'a').pass(2000);
  drive.session(1, { name: 'playing' }).grant('t3');
  expect(drive.orders()).toEqual(['open 1 a t2', 'show 1', 'open 2 a t3']);
});

test('E8: a refusal says when to come back', () => {
  expect(retryMs('EDGE_FULL retry_ms=2500')).toBe(2500);
  expect(retryMs('EDGE_FULL')).toBe(2000);
});
