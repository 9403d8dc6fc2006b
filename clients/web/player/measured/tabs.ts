import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { executable } from '../../chat/test/chromium.ts';

/**
 * A Chromium with a window and tabs, spoken to in its own protocol: Playwright makes each of its pages believe that it
 * is in front, and here one must be hidden as it is for everybody.
 */
export class Tabs {
  readonly #process: ChildProcess;
  readonly #profile = mkdtempSync(join(tmpdir(), 'tidegate-profile-'));
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #last = 0;

  constructor() {
    const args = ['--remote-debugging-pipe', `--user-data-dir=${this.#profile}`, ...QUIET, 'about:blank'];
    this.#process = spawn(executable(), args, {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
      detached: true,
    });
    let rest = '';
    (this.#process.stdio[4] as Readable).setEncoding('utf8').on('data', (chunk: string) => {
      const messages = (rest + chunk).split('\0');
      rest = messages.pop() ?? '';
      for (const message of messages) this.#hear(JSON.parse(message) as Answer);
    });
  }

  /** Opens an address in a tab in front of all others; `first` runs in it before its own scripts. */
  async open(address: string, first: string[] = []): Promise<Tab> {
    const { targetId } = await this.send('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await this.send('Target.attachToTarget', { targetId, flatten: true });
    const tab = new Tab(this, targetId as string, sessionId as string);
    await tab.send('Page.enable');
    for (const source of first) await tab.send('Page.addScriptToEvaluateOnNewDocument', { source });
    await tab.send('Page.navigate', { url: address });
    return tab;
  }

  send(method: string, params: object = {}, sessionId?: string): Promise<Result> {
    const id = ++this.#last;
    const heard = new Promise<Result>((resolve, reject) => {
      this.#waiting.set(id, ({ result, error }) => {
        if (result === undefined) reject(new Error(`${method}: ${error?.message}`));
        else resolve(result);
      });
    });
    (this.#process.stdio[3] as Writable).write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return heard;
  }

  async close(): Promise<void> {
    const ended = once(this.#process, 'exit');
    // With all its children, which would go on writing into the folder.
    if (this.#process.pid !== undefined) process.kill(-this.#process.pid, 'SIGKILL');
    await ended;
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }

  #hear(answer: Answer): void {
    if (answer.id === undefined) return;
    this.#waiting.get(answer.id)?.(answer);
    this.#waiting.delete(answer.id);
  }
}

/** One tab. */
export class Tab {
  readonly #tabs: Tabs;
  readonly #target: string;
  readonly #session: string;

  constructor(tabs: Tabs, target: string, session: string) {
    this.#tabs = tabs;
    this.#target = target;
    this.#session = session;
  }

  /** What an expression is in the page. */
  async value<T>(expression: string): Promise<T> {
    const { result } = await this.send('Runtime.evaluate', { expression, returnByValue: true });
    return (result as { value: T }).value;
  }

  /** Puts it in front. */
  async show(): Promise<void> {
    await this.#tabs.send('Target.activateTarget', { targetId: this.#target });
  }

  send(method: string, params: object = {}): Promise<Result> {
    return this.#tabs.send(method, params, this.#session);
  }
}

type Result = Record<string, unknown>;
type Answer = { id?: number; result?: Result; error?: { message: string } };

/** Nothing but the page under test calls anybody. What slows hidden tabs is left as it is. */
const QUIET = [
  '--no-sandbox',
  '--disable-gpu',
  '--no-first-run',
  '--no-default-browser-check',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
