import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Server as NetServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { test } from 'vitest';

/** The one stream of the stand-in. */
export const VIDEO = 'abcdefghij0';

/** Where cargo put the programs. */
const BUILT = resolve(process.env.CARGO_TARGET_DIR ?? join(import.meta.dirname, '../../../../target'), 'debug');

/** A test with a stage of its own; what it set up there ends with it, also where tests run side by side. */
export const staged = test.extend<{ stage: Stage }>({
  // biome-ignore lint/correctness/noEmptyPattern: the test runner reads which fixtures this one needs
  stage: async ({}, use) => {
    const stage = new Stage();
    await use(stage);
    await stage.end();
  },
});

/** What a test set up. */
export class Stage {
  readonly #ends: (() => unknown)[] = [];

  /** Does this at the end, last things first. */
  atEnd(end: () => unknown): void {
    this.#ends.push(end);
  }

  async end(): Promise<void> {
    for (const end of this.#ends.reverse()) await end();
  }

  /** The stand-in of YouTube, with so many rows a second. */
  async standIn(rate: number): Promise<StandIn> {
    const program = this.#program('tidegate-youtube', [String(rate)]);
    return new StandIn(await program.hear(''), program);
  }

  /** A real server over the stand-in, or without one, with these further arguments. */
  async server(standIn?: StandIn, more: string[] = []): Promise<Server> {
    const folder = this.#folder();
    const config = join(folder, 'tidegate.toml');
    const youtube = `[upstreams.youtube]\npreset = "youtube"\nbase_url = "${standIn?.url}"\ncooldown_ms = 2000\n`;
    writeFileSync(config, standIn === undefined ? '' : youtube);
    const server = new Server((listen) => {
      const ports = ['--listen', listen, '--gate-listen', '127.0.0.1:0', '--relay-listen', 'off'];
      return this.#program('tidegate', ['up', ...ports, '--config', config, '--data', join(folder, 'data'), ...more]);
    });
    await server.restart();
    return server;
  }

  /** A line to a server, that can be cut. */
  async line(server: Server): Promise<Line> {
    const line = new Line(server);
    this.atEnd(() => line.close());
    await line.opens();
    return line;
  }

  #program(name: string, args: string[]): Program {
    const program = new Program(name, args);
    this.atEnd(() => program.kill());
    return program;
  }

  #folder(): string {
    const folder = mkdtempSync(join(tmpdir(), 'tidegate-web-'));
    this.atEnd(() => rmSync(folder, { recursive: true, force: true }));
    return folder;
  }
}

/** A process that says line by line what it does. */
export class Program {
  readonly process: ChildProcessWithoutNullStreams;
  readonly #lines: Interface;
  readonly #said: AsyncIterator<string>;

  constructor(name: string, args: string[]) {
    const path = join(BUILT, name);
    if (!existsSync(path)) throw new Error(`${path} is not built: run ./x web`);
    this.process = spawn(path, args, { env: { PATH: process.env.PATH } });
    this.#lines = createInterface(this.process.stdout);
    this.#said = this.#lines[Symbol.asyncIterator]();
  }

  async hear(start: string): Promise<string> {
    for (;;) {
      const { done, value } = await this.#said.next();
      if (done) throw new Error(`the process ended before it said ${start}`);
      if (value.startsWith(start)) return value.slice(start.length);
    }
  }

  async kill(): Promise<void> {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const ended = once(this.process, 'exit');
    this.process.kill('SIGKILL');
    await ended;
  }
}

/** The stand-in of YouTube (tests/youtube): its one chat says `row 0`, `row 1`… */
export class StandIn {
  constructor(
    readonly url: string,
    readonly program: Program,
  ) {}

  /** `throttle MS`, `fail STATUS [RETRY_AFTER]` or `end`. */
  async obey(order: string): Promise<void> {
    this.program.process.stdin.write(`${order}\n`);
    await this.program.hear('done');
  }
}

/** A real `tidegate up`. */
export class Server {
  readonly #start: (listen: string) => Program;
  #program: Program | undefined;
  #listen = '127.0.0.1:0';

  constructor(start: (listen: string) => Program) {
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

  get port(): number {
    return Number(this.#listen.split(':')[1]);
  }

  get url(): string {
    return `http://${this.#listen}`;
  }

  events(name = VIDEO): string {
    return `${this.url}/v1/chat/${name}/events`;
  }
}

/** A line to a server, that can be cut. */
export class Line {
  readonly #ends = new Set<Socket>();
  readonly #listener: NetServer;

  constructor(server: Server) {
    this.#listener = createServer((near) => {
      const far = connect(server.port, '127.0.0.1');
      this.#join(near, far);
      this.#join(far, near);
    });
  }

  async opens(): Promise<void> {
    this.#listener.listen(0, '127.0.0.1');
    await once(this.#listener, 'listening');
  }

  /** Breaks every connection, in the middle of whatever is on it. */
  cut(): void {
    for (const end of this.#ends) end.resetAndDestroy();
    this.#ends.clear();
  }

  close(): void {
    this.#listener.close();
    this.cut();
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#listener.address() as AddressInfo).port}/v1/chat/${VIDEO}/events`;
  }

  #join(end: Socket, other: Socket): void {
    this.#ends.add(end);
    end.on('error', () => other.destroy()).on('close', () => other.destroy());
    end.pipe(other);
  }
}
