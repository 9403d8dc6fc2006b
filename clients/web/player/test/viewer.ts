import type { Locator, Page } from 'playwright-core';
import type { StateDetail, TidegatePlayer } from '../src/element.ts';

/** What a page of the tests has. */
declare global {
  var heard: StateDetail[];
}

/** Somebody at a page with a player. */
export class Viewer {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
    page.on('pageerror', (error) => {
      throw error;
    });
  }

  /** Before the page loads: it writes down what the player says, and chance is not random. */
  async prepare(): Promise<void> {
    await this.page.addInitScript(() => {
      Math.random = () => 0;
      globalThis.heard = [];
      document.addEventListener('tidegate:state', (event) => heard.push((event as CustomEvent<StateDetail>).detail));
    });
  }

  get player(): Locator {
    return this.page.locator('tidegate-player');
  }

  /** The line as it is seen. */
  get line(): Locator {
    return this.player.locator('[part=line]');
  }

  /** The line as it is read out. */
  get said(): Locator {
    return this.player.getByRole('status');
  }

  button(name: string): Locator {
    return this.player.getByRole('button', { name, exact: true });
  }

  /** Waits for a line; fails with the one that there is. */
  async reads(line: string | RegExp, timeout = 30_000): Promise<void> {
    const isText = typeof line === 'string';
    const wanted = isText ? line : line.source;
    const read = ([wanted, isText]: [string, boolean]) =>
      heard.some(({ line }) => (isText ? line === wanted : new RegExp(wanted).test(line)));
    await this.page.waitForFunction(read, [wanted, isText] as [string, boolean], { timeout }).catch(async (error) => {
      throw new Error(`the player never said ${line}, but ${JSON.stringify(await this.lines())}`, { cause: error });
    });
  }

  /** Everything that the player said since the last time, each line once. */
  async lines(): Promise<string[]> {
    const all = await this.page.evaluate(() => heard.map(({ line }) => line));
    return all.filter((line, index) => line !== all[index - 1]);
  }

  /** Forgets what was said until now. */
  async forget(): Promise<void> {
    await this.page.evaluate(() => {
      heard.length = 0;
    });
  }

  /** The seat or place that the player holds. */
  seat(): Promise<string> {
    return this.player.evaluate((player) => (player as TidegatePlayer).seat as string);
  }
}
