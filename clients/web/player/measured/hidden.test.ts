import { record } from '../test/recorder.ts';
import { staged } from '../test/stage.ts';
import { type Tab, Tabs } from './tabs.ts';

staged(
  'S18: tabs that are hidden for seven minutes keep their seats and places, though timers hardly run there',
  async ({ stage, expect }) => {
    const server = await stage.demo();
    const site = await stage.site({ server: server.url, stream: 'demo' });
    const tabs = new Tabs();
    stage.atEnd(() => tabs.close());
    const patience = { timeout: 30_000, interval: 500 };
    const open = async (name: string, ...first: string[]) => {
      const tab = await tabs.open(site, [`(${record})()`, `(${recordCalls})()`, ...first]);
      await expect.poll(() => tab.value<string>(`${PLAYER}.state.name`), patience).toBe(name);
      return tab;
    };
    const moq = await open('in');
    await expect.poll(() => moq.value<number>('drawn.length'), patience).toBeGreaterThan(30);
    const plain = await open('in', `(${withoutWebTransport})()`);
    const waiting = await open('wait');
    const all = { moq, plain, waiting };
    const seats = await each(all, (tab) => tab.value<string>(`${PLAYER}.seat`));

    await (await tabs.open('about:blank')).show();
    for (const tab of Object.values(all)) {
      await expect.poll(() => tab.value<boolean>('document.hidden'), patience).toBe(true);
      await tab.value(`(${tick})()`);
    }
    await new Promise((resolve) => setTimeout(resolve, HIDDEN_MS));

    expect(await each(all, (tab) => tab.value<boolean>('document.hidden'))).toEqual({
      moq: true,
      plain: true,
      waiting: true,
    });
    const slept = await each(all, async (tab) => longest(await tab.value<number[]>('ticks')));
    const silent = await each(all, async (tab) => longest(await tab.value<number[]>('calls')));
    const sessions = await moq.value<number>('opened.length');
    console.info(`hidden for ${HIDDEN_MS / 1000} s; longest sleep of a page's own timer`, slept, 's');
    console.info('longest time without a call for the seat or place', silent, `s; ${sessions} sessions over MoQ`);
    // Chromium spares a page with an open WebTransport, and no other.
    expect(slept.plain).toBeGreaterThanOrEqual(50);
    expect(slept.waiting).toBeGreaterThanOrEqual(50);
    expect(Math.max(silent.moq, silent.plain)).toBeLessThan(25);
    expect(silent.waiting).toBeLessThan(15);
    expect(await each(all, (tab) => tab.value<string>(`${PLAYER}.seat`))).toEqual(seats);
    expect(await server.viewers('demo')).toMatchObject({ seats: 2, queued: 1 });
    // One every 72 s or a little later.
    expect(sessions).toBeGreaterThanOrEqual(5);

    const before = await moq.value<number>('drawn.length');
    await moq.show();
    await expect.poll(() => moq.value<number>('drawn.length'), patience).toBeGreaterThan(before + 30);
    expect(await moq.value(`${PLAYER}.state`)).toEqual({ name: 'in', picture: 'playing' });
    expect(await waiting.value(`${PLAYER}.state`)).toEqual({ name: 'wait', position: 1 });
  },
);

async function each<T, K extends string>(tabs: Record<K, Tab>, ask: (tab: Tab) => Promise<T>): Promise<Record<K, T>> {
  const asked = Object.entries<Tab>(tabs).map(async ([name, tab]) => [name, await ask(tab)] as const);
  return Object.fromEntries(await Promise.all(asked)) as Record<K, T>;
}

/** Seconds between two of these times, at most. */
function longest(times: number[]): number {
  return Math.max(...times.map((at, index) => at - (times[index - 1] ?? at))) / 1000;
}

/** In the page: as in a browser that has none. */
function withoutWebTransport(): void {
  delete (globalThis as { WebTransport?: unknown }).WebTransport;
}

/** In the page: writes down each heartbeat and each ask. */
function recordCalls(): void {
  globalThis.calls = [];
  const call = globalThis.fetch;
  globalThis.fetch = (...given) => {
    if (/\/(hb|admit)$/.test(String(given[0]))) calls.push(performance.now());
    return call(...given);
  };
}

/** In the page: a timer of its own, which it sets anew each second. */
function tick(): void {
  globalThis.ticks = [performance.now()];
  const again = () => {
    ticks.push(performance.now());
    setTimeout(again, 1_000);
  };
  again();
}

declare global {
  var calls: number[];
  var ticks: number[];
}

const PLAYER = "document.querySelector('tidegate-player')";
const HIDDEN_MS = 7 * 60_000;
