import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server as HttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { test } from 'vitest';
import { startChromium } from '../../chat/test/chromium.ts';
import { Program } from '../../chat/test/stage.ts';
import { bundled } from './bundle.ts';
import { Viewer } from './viewer.ts';

/** A test with a stage of its own, and what all of a file share: one browser, and the player as a page loads it. */
export const staged = test
  .extend<{ $file: { browser: Browser; library: Map<string, string> } }>({
    browser: [
      // biome-ignore lint/correctness/noEmptyPattern: the test runner reads which fixtures this one needs
      async ({}, use) => {
        const browser = await startChromium();
        await use(browser);
        await browser.close();
      },
      { scope: 'file' },
    ],
    library: [
      // biome-ignore lint/correctness/noEmptyPattern: the test runner reads which fixtures this one needs
      async ({}, use) => {
        await use(await bundled('src/define.ts', 'player'));
      },
      { scope: 'file' },
    ],
  })
  .extend<{ stage: Stage }>({
    stage: async ({ browser, library }, use) => {
      const stage = new Stage(browser, library);
      await use(stage);
      await stage.end();
    },
  });

/** What a test set up. */
export class Stage {
  readonly #browser: Browser;
  readonly #library: Map<string, string>;
  readonly #ends: (() => unknown)[] = [];

  constructor(browser: Browser, library: Map<string, string>) {
    this.#browser = browser;
    this.#library = library;
  }

  /** Does this at the end, last things first. */
  atEnd(end: () => unknown): void {
    this.#ends.push(end);
  }

  async end(): Promise<void> {
    for (const end of this.#ends.reverse()) await end();
  }

  /** A real `tidegate up` with the demo's stream and its picture. Its relay takes everybody, however busy the machine. */
  demo(): Promise<Server> {
    return this.server('[relay]\nadmission = "off"\n', ['--demo', '--relay-listen', '127.0.0.1:0']);
  }

  /** A real `tidegate up`, with these settings and further arguments. */
  async server(settings = '', more: string[] = ['--relay-listen', 'off']): Promise<Server> {
    const folder = this.#folder();
    const config = join(folder, 'tidegate.toml');
    writeFileSync(config, settings);
    const data = join(folder, 'data');
    const server = new Server(data, (listen) => {
      const args = ['--listen', listen, '--gate-listen', 'off', '--config', config, '--data', data, '--key', KEY];
      return this.#program(['up', ...args, ...more]);
    });
    await server.restart();
    return server;
  }

  /** A real `tidegate relay` that reports to a server. */
  async relay(server: Server, settings = ''): Promise<Relay> {
    const config = join(this.#folder(), 'tidegate.toml');
    writeFileSync(config, settings);
    const args = ['--relay-listen', '127.0.0.1:0', '--control', server.url, '--relay-secret', server.relaySecret];
    const program = this.#program(['relay', ...args, '--config', config]);
    const url = (await program.hear('  relay    ')).replace(/\/STREAM.*/, '');
    return new Relay(program, config, url);
  }

  /** The command, run to its end. */
  async command(...args: string[]): Promise<void> {
    const { process } = this.#program(args);
    const [code] = await once(process, 'exit');
    if (code !== 0) throw new Error(`tidegate ${args.join(' ')}: exit code ${code}`);
  }

  /** Answers requests as a page's own server, or a tenant's backend, would. */
  async web(answer: (request: IncomingMessage, response: ServerResponse) => unknown): Promise<string> {
    const server: HttpServer = createServer((request, response) => void answer(request, response));
    server.listen(0, '127.0.0.1');
    this.atEnd(() => {
      server.close();
      server.closeAllConnections();
    });
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  /** A page with a player, on a server of its own, so that Tidegate is another origin. */
  async viewer(attributes: Record<string, string>, prepare?: (viewer: Viewer) => unknown): Promise<Viewer> {
    return this.visitor(await this.site(attributes), prepare);
  }

  /** The address of such a page. */
  async site(attributes: Record<string, string>): Promise<string> {
    return this.web((request, response) => {
      const path = new URL(request.url ?? '', 'http://page').pathname.slice(1);
      const file = this.#library.get(path);
      response.setHeader('content-type', file === undefined ? 'text/html' : 'text/javascript');
      response.end(file ?? (path === 'elsewhere' ? 'Something else.' : html(attributes)));
    });
  }

  /** Somebody who opens this address in a browser of their own. */
  async visitor(address: string, prepare?: (viewer: Viewer) => unknown): Promise<Viewer> {
    const context = await this.#browser.newContext({ locale: 'en-US' });
    this.atEnd(() => context.close());
    const viewer = new Viewer(await context.newPage());
    await viewer.prepare();
    await prepare?.(viewer);
    await viewer.page.goto(address);
    return viewer;
  }

  #program(args: string[]): Program {
    const program = new Program('tidegate', args);
    this.atEnd(() => program.kill());
    return program;
  }

  #folder(): string {
    const folder = mkdtempSync(join(tmpdir(), 'tidegate-player-'));
    this.atEnd(() => rmSync(folder, { recursive: true, force: true }));
    return folder;
  }
}

/** A real server, and a tenant's way to it. */
export class Server {
  readonly data: string;
  readonly #start: (listen: string) => Program;
  #program: Program | undefined;
  #listen = '127.0.0.1:0';

  constructor(data: string, start: (listen: string) => Program) {
    this.data = data;
    this.#start = start;
  }

  /** No farewell, no flush. */
  async kill(): Promise<void> {
    await this.#program?.kill();
  }

  /** Starts it again, at the same address. */
  async restart(): Promise<void> {
    this.#program = this.#start(this.#listen);
    this.#listen = await this.#program.hear('  control  http://');
  }

  get url(): string {
    return `http://${this.#listen}`;
  }

  get relaySecret(): string {
    return readFileSync(join(this.data, 'relay-secret'), 'utf8').trim();
  }

  /** Makes a stream; answers its id. */
  async stream(caps: { viewer_cap: number; queue_max?: number; public?: boolean }): Promise<string> {
    const { id } = await this.tenant('POST', '/v1/streams', { name: 'test', ...caps });
    return id as string;
  }

  /** A call with the tenant's key. */
  async tenant(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
    const headers = { authorization: `Bearer ${KEY}` };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(this.url + path, { method, headers, ...sent });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return response.status === 204 ? {} : await response.json();
  }

  /** A page's call, as another viewer makes it. */
  async page(stream: string, call: string, body: object = {}): Promise<Record<string, unknown>> {
    const response = await fetch(`${this.url}/v1/play/${stream}/${call}`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    const text = await response.text();
    return text === '' ? {} : JSON.parse(text);
  }

  /** Another viewer asks for a seat; answers its id. */
  async seat(stream: string): Promise<string> {
    const { seat } = await this.page(stream, 'admit');
    return seat as string;
  }

  /** Watches which relays a seat is told of, nearest first. */
  async watcher(stream: string, region?: string): Promise<() => Promise<{ url: string; full: boolean }[]>> {
    let { seat, token } = await this.page(stream, 'admit', { region });
    return async () => {
      const answer = await this.page(stream, 'token', { seat, token, region });
      token = answer.token ?? token;
      return answer.relays as { url: string; full: boolean }[];
    };
  }

  async viewers(stream: string): Promise<{ seats: number; queued: number }> {
    const { viewers } = await this.tenant('GET', `/v1/streams/${stream}/stats`);
    return viewers as { seats: number; queued: number };
  }
}

/** A real relay, and what can be done to it. */
export class Relay {
  readonly #program: Program;
  readonly #config: string;
  readonly url: string;

  constructor(program: Program, config: string, url: string) {
    this.#program = program;
    this.#config = config;
    this.url = url;
  }

  /** Other settings, taken while it runs (E13). */
  set(settings: string): void {
    writeFileSync(this.#config, settings);
    this.#program.process.kill('SIGHUP');
  }

  /** No farewell to anybody. */
  async kill(): Promise<void> {
    await this.#program.kill();
  }

  /** Makes all its timers late, as a machine with too much to do would, until it is let off (E6). */
  strain(): () => void {
    const { process } = this.#program;
    const hold = () => {
      process.kill('SIGSTOP');
      setTimeout(() => process.kill('SIGCONT'), HELD_MS);
    };
    const pulse = setInterval(hold, HELD_MS + LOOSE_MS);
    return () => clearInterval(pulse);
  }
}

function html(attributes: Record<string, string>): string {
  const { lang = 'en', ...own } = attributes;
  const written = Object.entries(own).map(([name, value]) => `${name}="${value}"`);
  return `<!DOCTYPE html><html lang="${lang}"><title>A page</title><link rel="icon" href="data:,">
    <tidegate-player ${written.join(' ')}></tidegate-player>
    <a href="/elsewhere">elsewhere</a>
    <script type="module" src="/player.js"></script></html>`;
}

/** Longer than the 50 ms of E6. */
const HELD_MS = 80;
/** Enough for a handshake now and then. */
const LOOSE_MS = 60;
/** The tenant's secret key. */
const KEY = 'tg_sk_0123456789abcdef0123456789abcdef0123456789ab';
