/** Where time comes from. Tests bring their own. */
export interface Clock {
  /** Milliseconds that only go forward, for deadlines: a clock that somebody sets moves none of them. */
  monotonic(): number;
  /** Milliseconds since 1970, for what people and `Retry-After` dates say. */
  wall(): number;
  /** Resolves after so many milliseconds, or at once when the signal is aborted. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** The clock of this machine. */
export const systemClock: Clock = {
  monotonic: () => performance.now(),
  wall: () => Date.now(),
  async sleep(ms, signal) {
    const due = performance.now() + ms;
    while (!signal.aborted) {
      const left = due - performance.now();
      if (left <= 0) return;
      await nap(Math.min(left, LONGEST_TIMER_MS), signal);
    }
  },
};

function nap(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}

/** A longer `setTimeout` fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
