import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import type { ChatClient, ChatState } from '../src/index.ts';
import { bundled } from './bundle.ts';
import { startChromium } from './chromium.ts';
import { type Stage, staged } from './stage.ts';

let browser: Browser;
let library: string;

beforeAll(async () => {
  [browser, library] = await Promise.all([startChromium(), bundled('src/index.ts')]);
});
afterAll(() => browser.close());

/** What a page of the tests has. */
declare global {
  var chat: ChatClient;
  var rows: number[];
  var states: ChatState[];
}

staged.concurrent('C11: in a browser a page of another origin reads a chat and resumes it (C8)', async ({ stage }) => {
  const line = await stage.line(await stage.server(await stage.standIn(20)));
  const page = await pageThatReads(stage, line.url);
  await page.waitForFunction(() => rows.length > 10);
  line.cut();
  await page.waitForFunction(() => states.some((state) => state.name === 'waiting'));
  const before = await page.evaluate(() => rows.length);
  await page.waitForFunction((before) => rows.length > before, before);
  const { got, counts } = await page.evaluate(() => ({ got: rows, counts: chat.counts }));
  expect(got).toEqual(got.map((_, index) => (got[0] ?? 0) + index));
  expect(counts).toMatchObject({ opened: 2, errors: 1, rateLimits: 0 });
});

staged.concurrent(
  'C11: in a browser a 429 is waited out, though its header is hidden from other origins',
  async ({ stage }) => {
    const standIn = await stage.standIn(20);
    const server = await stage.server(standIn);
    await standIn.obey('fail 429 5');
    const page = await pageThatReads(stage, server.events());
    await page.waitForFunction(() => states.some((state) => state.name === 'waiting'));
    // More than the 3 s that it would wait by itself.
    const left = await page.evaluate(() => chat.state.name === 'waiting' && chat.state.until.getTime() - Date.now());
    expect(left).toBeGreaterThan(4_000);
    await page.waitForFunction(() => rows.length > 0);
    expect(await page.evaluate(() => chat.counts)).toMatchObject({ opened: 1, errors: 0, rateLimits: 1 });
  },
);

/** A page on a server of its own, so that the chat is another origin's. */
async function pageThatReads(stage: Stage, events: string): Promise<Page> {
  const html = `<!DOCTYPE html><script type="module">
    import { ChatClient } from '/chat.js';
    globalThis.rows = [];
    globalThis.states = [];
    globalThis.chat = new ChatClient(${JSON.stringify(events)}, { random: () => 0 });
    chat.on('message', (message) => rows.push(Number(message.text.replace('row ', ''))));
    chat.on('state', (state) => states.push(state));
  </script>`;
  const server = createServer((request, response) => {
    const [type, body] = request.url === '/chat.js' ? ['text/javascript', library] : ['text/html', html];
    response.setHeader('content-type', type).end(body);
  });
  server.listen(0, '127.0.0.1');
  stage.atEnd(() => server.close());
  await once(server, 'listening');
  const page = await browser.newPage();
  stage.atEnd(() => page.close());
  page.on('pageerror', (error) => {
    throw error;
  });
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  return page;
}
