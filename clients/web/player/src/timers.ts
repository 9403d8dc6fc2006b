/**
 * Timers that go on in time while the page is hidden. A browser slows those of a hidden page to one a minute, which a
 * seat does not live through (S18); those of a worker it leaves alone.
 */
export class Timers {
  readonly #pending = new Map<number, { due: number; wake: () => void }>();
  #worker: Worker | undefined;
  #last = 0;
  #sleep: (() => void) | undefined;

  constructor() {
    this.#worker = this.#begin();
    this.#stayAwake();
  }

  /** Calls `wake` after so many milliseconds, unless what it gives back is called before. */
  after(ms: number, wake: () => void): () => void {
    const id = ++this.#last;
    this.#pending.set(id, { due: performance.now() + ms, wake });
    this.#start(id, ms);
    return () => {
      if (this.#pending.delete(id)) this.#worker?.postMessage({ id });
    };
  }

  /** Ends the worker and every timer. */
  close(): void {
    this.#pending.clear();
    this.#worker?.terminate();
    this.#worker = undefined;
    this.#sleep?.();
  }

  /** A browser may stop a page that is hidden for long, with its workers; one that holds a lock it lets run. */
  #stayAwake(): void {
    const released = new Promise<void>((resolve) => {
      this.#sleep = resolve;
    });
    navigator.locks?.request(`tidegate-player ${Math.random()}`, { mode: 'shared' }, () => released).catch(() => {});
  }

  #start(id: number, ms: number): void {
    const bounded = Math.min(Math.max(ms, 0), LONGEST_TIMER_MS);
    if (this.#worker === undefined) setTimeout(() => this.#ring(id), bounded);
    else this.#worker.postMessage({ id, ms: bounded });
  }

  #ring(id: number): void {
    const timer = this.#pending.get(id);
    if (timer === undefined) return;
    const left = timer.due - performance.now();
    // A clock of a worker may be a little ahead of the page's.
    if (left > 1) {
      this.#start(id, left);
    } else {
      this.#pending.delete(id);
      timer.wake();
    }
  }

  #begin(): Worker | undefined {
    if (typeof Worker === 'undefined') return undefined;
    try {
      const address = URL.createObjectURL(new Blob([PROGRAM], { type: 'text/javascript' }));
      const worker = new Worker(address, { name: 'tidegate-timers' });
      URL.revokeObjectURL(address);
      worker.onmessage = ({ data }: MessageEvent<number>) => this.#ring(data);
      worker.onerror = () => this.#doWithout();
      return worker;
    } catch {
      return undefined;
    }
  }

  /** A page's policy may allow no such worker: late timers are better than none. */
  #doWithout(): void {
    this.#worker?.terminate();
    this.#worker = undefined;
    console.warn('tidegate-player: no worker for timers (worker-src blob:): a hidden tab may lose its seat');
    for (const [id, { due }] of this.#pending) this.#start(id, due - performance.now());
  }
}

/** In the worker. Text, so that a page needs no second file at an address of its own. */
const PROGRAM = `
const running = new Map();
onmessage = ({ data: { id, ms } }) => {
  if (ms === undefined) {
    clearTimeout(running.get(id));
    running.delete(id);
  } else {
    running.set(id, setTimeout(() => { running.delete(id); postMessage(id); }, ms));
  }
};`;

/** A longer `setTimeout` fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
