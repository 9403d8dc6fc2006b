import { expect, test } from 'vitest';
import type { Told } from './answer.ts';
import { read } from './answer.ts';
import { type Call, Seat, type SeatOptions } from './seat.ts';

/** A seat under a clock that is moved by hand; every call is recorded with its time. */
class Drive {
  now = 0;
  readonly made: { at: number; call: Call }[] = [];
  readonly seat: Seat;

  constructor(options: Partial<SeatOptions> = {}) {
    let nonces = 0;
    this.seat = new Seat({ random: () => 0, nonce: () => `nonce-of-16-chars-${nonces++}`, ...options });
  }

  /** Takes the calls that were made. */
  calls(): Call[] {
    for (let call = this.seat.pollCall(); call !== undefined; call = this.seat.pollCall()) {
      this.made.push({ at: this.now, call });
    }
    return this.made.splice(0).map(({ call }) => call);
  }

  /** Takes the one call that was made. */
  call(kind: Call['kind']): Call {
    const calls = this.calls();
    expect(calls.map((call) => call.kind)).toEqual([kind]);
    return calls[0] as Call;
  }

  pass(ms: number): this {
    const end = this.now + ms;
    for (;;) {
      const due = this.seat.pollTimeout();
      if (due === undefined || due > end) break;
      this.now = Math.max(this.now, due);
      this.seat.handleTimeout(this.now);
    }
    this.now = end;
    return this;
  }

  answer(call: Call, told: Told): this {
    this.seat.handleAnswer(call, told, this.now);
    return this;
  }

  /** Answers the one call that was made as the server would. */
  answers(kind: Call['kind'], status: number, body: unknown): this {
    return this.answer(this.call(kind), read(status, body));
  }

  play(): this {
    this.seat.play(this.now);
    return this;
  }

  seated(): this {
    return this.play().answers('admit', 201, IN);
  }
}

const IN = { state: 'in', seat: 's1', token: 't1', token_expires_s: 120, heartbeat_s: 5, relays: [] };
const wait = (position: number, more = {}) => ({ state: 'wait', seat: 's1', position, retry_after_ms: 2000, ...more });
const OFFER = { state: 'offer', seat: 's1', offer_s: 10, retry_after_ms: 2000 };

test('S2: a free seat is in at once, with its token', () => {
  const drive = new Drive().play();
  expect(drive.seat.state).toEqual({ name: 'asking' });
  const call = drive.call('admit');
  expect(call.body).toEqual({ nonce: 'nonce-of-16-chars-0' });
  drive.answer(call, read(201, IN));
  expect(drive.seat.state).toEqual({ name: 'in', picture: 'connecting' });
  expect(drive.seat.grant).toEqual({ token: 't1', relays: [] });
  expect(drive.seat.seat).toBe('s1');
});

test('S3: a place is asked for again with its seat, exactly when it was told', () => {
  const drive = new Drive({ random: () => 0.9 }).play().answers('admit', 409, wait(7, { retry_after_ms: 2013 }));
  expect(drive.seat.state).toEqual({ name: 'wait', position: 7 });
  expect(drive.pass(2012).calls()).toEqual([]);
  expect(drive.pass(1).call('admit').body).toEqual({ seat: 's1' });
  expect(drive.pass(60_000).calls(), 'one ask at a time').toEqual([]);
});

test('S3: a place says at once that its page is hidden, and needs no hurry when it is seen again', () => {
  const drive = new Drive().play().answers('admit', 409, wait(2));
  drive.seat.hide(true, drive.now);
  const ask = drive.call('admit');
  expect(ask.body).toEqual({ seat: 's1', hidden: true });
  drive.seat.hide(false, drive.now);
  drive.answer(ask, read(409, wait(2)));
  expect(drive.calls()).toEqual([]);
  drive.pass(2000).calls();
});

test('S3: a page hidden while an ask is on its way says so with the next one, at once', () => {
  const drive = new Drive().play().answers('admit', 409, wait(2)).pass(2000);
  const ask = drive.call('admit');
  drive.seat.hide(true, drive.now);
  expect(drive.calls()).toEqual([]);
  expect(drive.answer(ask, read(409, wait(2))).call('admit').body).toEqual({ seat: 's1', hidden: true });
});

test('S4: a full line is asked again after its time, later by chance, and names no seat', () => {
  const full = { state: 'full', retry_s: 30, retry_after_ms: 30_000 };
  const drive = new Drive({ random: () => 0.4 }).play().answers('admit', 409, full);
  expect(drive.seat.state).toEqual({ name: 'full', until: 33_000 });
  expect(drive.pass(32_999).calls()).toEqual([]);
  expect(drive.pass(1).call('admit').body).toEqual({ nonce: 'nonce-of-16-chars-0' });
});

test('S5: an offer is taken by a press within its time', () => {
  const drive = new Drive().play().answers('admit', 409, OFFER);
  expect(drive.seat.state).toEqual({ name: 'offer', until: 10_000, joining: false });
  drive.pass(2000).answers('admit', 409, { ...OFFER, offer_s: 8 });
  expect(drive.seat.state).toEqual({ name: 'offer', until: 10_000, joining: false });
  drive.seat.join(drive.now);
  expect(drive.seat.state).toMatchObject({ joining: true });
  const ask = drive.call('admit');
  expect(ask.body).toEqual({ seat: 's1', join: true });
  drive.seat.join(drive.now);
  expect(drive.calls(), 'a second press changes nothing').toEqual([]);
  drive.answer(ask, read(201, IN));
  expect(drive.seat.state.name).toBe('in');
});

test('S5: a press while an ask is on its way is not lost', () => {
  const drive = new Drive().play().answers('admit', 409, OFFER).pass(2000);
  const ask = drive.call('admit');
  drive.seat.join(drive.now);
  expect(drive.calls()).toEqual([]);
  drive.answer(ask, read(409, { ...OFFER, offer_s: 8 }));
  expect(drive.seat.state).toMatchObject({ name: 'offer', joining: true });
  expect(drive.call('admit').body.join).toBe(true);
});

test('S5: a join whose answer is lost is asked again as a join', () => {
  const drive = new Drive().play().answers('admit', 409, OFFER);
  drive.seat.join(drive.now);
  drive.answers('admit', 0, undefined);
  expect(drive.seat.state).toEqual({ name: 'unanswered', seated: false });
  expect(drive.pass(500).call('admit').body).toEqual({ seat: 's1', join: true });
});

test('S5: with auto-join an offer is taken by itself', () => {
  const drive = new Drive({ autoJoin: true }).play().answers('admit', 409, OFFER);
  expect(drive.call('admit').body).toEqual({ seat: 's1', join: true });
});

test('S5: an offer that lapsed is a new place at the back, and says so', () => {
  const drive = new Drive().play().answers('admit', 409, OFFER).pass(2000);
  drive.answers('admit', 409, wait(3, { seat: 's2', lost: 'expired' }));
  expect(drive.seat.state).toEqual({ name: 'wait', position: 3, lost: 'expired' });
  drive.pass(2000).answers('admit', 409, wait(2, { seat: 's2' }));
  expect(drive.seat.state, 'as long as this place lasts').toEqual({ name: 'wait', position: 2, lost: 'expired' });
  drive.pass(2000).answers('admit', 409, wait(2, { seat: 's3' }));
  expect(drive.seat.state).toEqual({ name: 'wait', position: 2 });
});

test('S8: a reload asks with the kept seat', () => {
  const drive = new Drive({ seat: 'kept' }).play();
  expect(drive.call('admit').body).toEqual({ seat: 'kept' });
});

test('S8: a kicked viewer is not asked for again', () => {
  const drive = new Drive().play().answers('admit', 403, { code: 'kicked', status: 403, retry_after_ms: 600_000 });
  expect(drive.seat.state).toEqual({ name: 'kicked' });
  expect(drive.pass(1e9).calls()).toEqual([]);
});

test('S13: at the tenant’s cap it is asked again when told', () => {
  const capped = { code: 'tenant_viewer_cap', status: 409, state: 'full', retry_after_ms: 8000 };
  const drive = new Drive().play().answers('admit', 409, capped);
  expect(drive.seat.state).toEqual({ name: 'capped', code: 'tenant_viewer_cap' });
  expect(drive.pass(7999).calls()).toEqual([]);
  drive.pass(1).call('admit');
});

test('S15: at the spend cap a place with its offer is kept by asking', () => {
  const drive = new Drive().play().answers('admit', 409, OFFER);
  drive.seat.join(drive.now);
  drive.answers('admit', 402, { code: 'spend_cap_reached', status: 402, seat: 's1' });
  expect(drive.seat.state).toEqual({ name: 'capped', code: 'spend_cap_reached' });
  expect(drive.pass(5000).call('admit').body).toEqual({ seat: 's1' });
});

test('S16: a rate limit is waited out, and its place is kept', () => {
  const drive = new Drive({ random: () => 1 }).play().answers('admit', 409, wait(4)).pass(2000);
  drive.answers('admit', 429, { code: 'rate_limited', status: 429, retry_after_ms: 4000 });
  expect(drive.seat.state).toEqual({ name: 'limited', until: 7000 });
  expect(drive.pass(4999).calls()).toEqual([]);
  expect(drive.pass(1).call('admit').body.seat).toBe('s1');
});

test('S17: a stream whose seats its own server gives, and a stream that is not there, are said once', () => {
  for (const [status, code] of [
    [403, 'server_admission'],
    [404, 'stream_not_found'],
    [400, 'bad_request'],
  ] as const) {
    const drive = new Drive().play().answers('admit', status, { code, detail: 'why' });
    expect(drive.seat.state).toEqual({ name: 'refused', code, detail: 'why' });
    expect(drive.pass(1e9).calls()).toEqual([]);
  }
});

test('S18: a seat is kept by heartbeats at the times that it is told', () => {
  const drive = new Drive().seated();
  expect(drive.pass(4999).calls()).toEqual([]);
  const beat = drive.pass(1).call('hb');
  expect(beat.body).toEqual({ seat: 's1', token: 't1', hidden: false });
  drive.answer(beat, read(200, { next_ms: 5000 }));
  drive.pass(5000).answers('hb', 200, { next_ms: 20_000 });
  expect(drive.pass(19_999).calls()).toEqual([]);
  drive.pass(1).call('hb');
});

test('S18: hiding and showing the page is told at once, also while a heartbeat is on its way', () => {
  const drive = new Drive().seated();
  drive.seat.hide(true, drive.now);
  const beat = drive.call('hb');
  expect(beat.body.hidden).toBe(true);
  drive.seat.hide(false, drive.now);
  expect(drive.calls()).toEqual([]);
  drive.answer(beat, read(200, { next_ms: 20_000 }));
  expect(drive.call('hb').body.hidden).toBe(false);
});

test('S18: a seat that is gone is said, and asked for again by a press only', () => {
  for (const kind of ['hb', 'token'] as const) {
    const drive = new Drive().seated().pass(kind === 'hb' ? 5000 : 0);
    if (kind === 'token') drive.pass(2000).seat.handleTokenRefused(drive.now);
    drive.answers(kind, 410, { code: 'seat_gone', status: 410 });
    expect(drive.seat.state).toEqual({ name: 'lost' });
    expect(drive.seat.grant).toBeUndefined();
    expect(drive.pass(1e9).calls()).toEqual([]);
    expect(drive.play().call('admit').body, 'which says what became of it').toEqual({ seat: 's1' });
  }
});

test('S21: a kicked seat and S25: an ended stream end the picture', () => {
  for (const [status, code, name] of [
    [403, 'kicked', 'kicked'],
    [410, 'stream_ended', 'ended'],
    [404, 'stream_not_found', 'ended'],
  ] as const) {
    const drive = new Drive().seated().pass(5000).answers('hb', status, { code });
    expect(drive.seat.state).toEqual({ name });
    expect(drive.seat.grant).toBeUndefined();
    expect(drive.pass(1e9).calls()).toEqual([]);
  }
});

test('S1: a heartbeat without an answer costs no seat, and is made again within its time', () => {
  for (const random of [0, 1]) {
    const drive = new Drive({ random: () => random }).seated();
    const grant = drive.seat.grant;
    drive.pass(5000).answers('hb', 0, undefined);
    expect(drive.seat.state).toEqual({ name: 'unanswered', seated: true });
    const at: number[] = [];
    for (let tries = 0; tries < 12; tries += 1) {
      const before = drive.now;
      drive.now = drive.seat.pollTimeout() as number;
      drive.seat.handleTimeout(drive.now);
      at.push(drive.now - before);
      drive.answers('hb', 503, { code: 'store_unavailable', retry_after_ms: 60_000 });
    }
    expect(Math.max(...at)).toBeLessThanOrEqual(6000);
    expect(drive.seat.grant).toBe(grant);
    drive.pass(6000).answers('hb', 200, { next_ms: 5000 });
    expect(drive.seat.state.name).toBe('in');
  }
});

test('S16: a rate limit, a bad request or a page of something between costs no seat', () => {
  for (const [status, body] of [
    [429, { code: 'rate_limited', retry_after_ms: 500 }],
    [400, { code: 'bad_request' }],
    [403, '<html>'],
    [200, '<html>'],
  ] as const) {
    const drive = new Drive().seated().pass(5000).answers('hb', status, body);
    expect(drive.seat.grant).toBeDefined();
    drive.pass(6000).call('hb');
  }
});

test('S20: a token is renewed before it ends, spread over viewers, while heartbeats go on', () => {
  for (const [random, at] of [
    [0, 72_000],
    [1, 90_000],
  ] as const) {
    const drive = new Drive({ random: () => random }).seated();
    let renewal: Call | undefined;
    while (renewal === undefined) {
      drive.now = drive.seat.pollTimeout() as number;
      drive.seat.handleTimeout(drive.now);
      for (const call of drive.calls()) {
        if (call.kind === 'hb') drive.answer(call, read(200, { next_ms: 5000 }));
        else renewal = call;
      }
    }
    expect(drive.now).toBe(at);
    expect(renewal).toEqual({ kind: 'token', body: { seat: 's1', token: 't1' } });
    drive.answer(renewal, read(200, { token: 't2', token_expires_s: 120, relays: [] }));
    expect(drive.seat.grant).toEqual({ token: 't2', relays: [] });
    expect(drive.seat.state).toEqual({ name: 'in', picture: 'connecting' });
  }
});

test('S20: a renewal without an answer is made again, and the seat is kept meanwhile', () => {
  const drive = new Drive().seated().pass(2000);
  drive.seat.handleTokenRefused(drive.now);
  drive.answers('token', 503, { code: 'store_unavailable', retry_after_ms: 1500 });
  expect(drive.seat.state.name).toBe('in');
  expect(drive.pass(1499).calls()).toEqual([]);
  drive.pass(1).answers('token', 200, { token: 't2', token_expires_s: 120, relays: [] });
  expect(drive.seat.grant?.token).toBe('t2');
});

test('E2: a token that a relay refuses is renewed, and not in a loop', () => {
  const drive = new Drive().seated();
  drive.seat.handleTokenRefused(drive.now);
  expect(drive.calls(), 'it was given only now').toEqual([]);
  drive.pass(2000).call('token');
  drive.seat.handleTokenRefused(drive.now);
  expect(drive.calls()).toEqual([]);
});

test('T6: when a relay says that the seat is freed, the server is asked at once', () => {
  const drive = new Drive().seated();
  drive.seat.handleRemoved(drive.now);
  drive.answers('hb', 410, { code: 'stream_ended' });
  expect(drive.seat.state).toEqual({ name: 'ended' });
});

test('S19: leaving gives the seat back once, and an answer on its way changes nothing', () => {
  const drive = new Drive().play().answers('admit', 409, wait(1)).pass(2000);
  const ask = drive.call('admit');
  drive.seat.leave();
  expect(drive.call('leave').body).toEqual({ seat: 's1' });
  drive.answer(ask, read(201, IN));
  expect(drive.seat.state).toEqual({ name: 'idle' });
  expect(drive.seat.seat).toBeUndefined();
  drive.seat.leave();
  expect(drive.calls()).toEqual([]);
  expect(drive.play().call('admit').body, 'a newcomer').toEqual({ nonce: 'nonce-of-16-chars-2' });
});

test('S2: an ask whose answer is lost is made again with the same nonce, at growing and spread distances', () => {
  const drive = new Drive({ random: () => 0.5 }).play();
  const waits: number[] = [];
  for (let tries = 0; tries < 6; tries += 1) {
    drive.answers('admit', 0, undefined);
    const due = drive.seat.pollTimeout() as number;
    waits.push(due - drive.now);
    drive.pass(due - drive.now);
  }
  expect(waits).toEqual([1000, 2000, 4000, 8000, 16_000, 16_000]);
  expect(drive.call('admit').body).toEqual({ nonce: 'nonce-of-16-chars-0' });
});

test('E15: how the picture is shows only while there is a seat', () => {
  const drive = new Drive().seated();
  drive.seat.handlePicture('relays_full');
  expect(drive.seat.state).toEqual({ name: 'in', picture: 'relays_full' });
  drive.pass(5000).call('hb');
  drive.seat.leave();
  expect(drive.seat.state).toEqual({ name: 'idle' });
});
