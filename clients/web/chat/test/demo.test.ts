import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bundled } from './bundle.ts';
import { startChromium } from './chromium.ts';
import { type Stage, staged, VIDEO } from './stage.ts';

let browser: Browser;

beforeAll(async () => {
  browser = await startChromium();
});
afterAll(() => browser.close());

test("O1: the demo page's script is what its source makes", async () => {
  const made = await bundled('page/page.ts');
  await expect(made).toMatchFileSnapshot('../../../../crates/tidegate/src/demo/page/chat.js');
});

staged.concurrent('O1: the demo shows a living chat, and takes away what is taken back', async ({ stage }) => {
  const server = await stage.server(undefined, ['--demo']);
  const page = await open(stage, `${server.url}/demo/chat?video=tidegate-tv`);
  const log = page.getByRole('log', { name: 'Messages' });
  await log.getByText('Good morning, everybody!').waitFor();
  expect(await page.getByRole('status').textContent()).toBe('Live');
  const owner = log.getByRole('listitem').filter({ hasText: 'Good morning, everybody!' });
  expect(await owner.textContent()).toContain('@harbour_pilotOwner');
  const paid = log.getByRole('listitem').filter({ hasText: '€5.00' });
  await paid.waitFor();
  expect(await paid.evaluate((row) => getComputedStyle(row).backgroundColor)).toBe('rgb(0, 191, 165)');
  await log.getByText('FREE COINS').first().waitFor();
  await log.getByText('Sorry for that. Gone.').waitFor();
  expect(await log.getByText('FREE COINS').count()).toBe(0);
  expect(await page.getByRole('complementary', { name: 'Pinned message' }).textContent()).toContain('Pinned by');
  await page.getByRole('complementary', { name: 'Vote' }).waitFor();
  await log.getByText('spring tide, obviously').waitFor();
  expect(await page.getByRole('button', { name: 'Newest messages' }).isVisible()).toBe(false);
  const fromEnd = await log.evaluate((log) => log.scrollHeight - log.scrollTop - log.clientHeight);
  expect(fromEnd).toBeLessThan(2);
});

staged.concurrent('C11: the page says in words that it waits, and where rows are missing', async ({ stage }) => {
  const standIn = await stage.standIn(20);
  const server = await stage.server(standIn, ['--demo']);
  const page = await open(stage, `${server.url}/demo/chat?video=${VIDEO}`);
  const [state, log] = [page.getByRole('status'), page.getByRole('log')];
  await log
    .getByText(/^row \d+$/)
    .first()
    .waitFor();
  await standIn.obey('fail 429 3');
  await state.getByText(/^YouTube wants fewer calls: the chat goes on at /).waitFor();
  await state.getByText(/^Live$/).waitFor();
  await server.kill();
  await state.getByText(/Trying again at \d/).waitFor();
  await server.restart();
  await log.getByText('Some messages are missing here.').waitFor();
  await state.getByText(/^Live$/).waitFor();
  await standIn.obey('end');
  await state.getByText(/ is over/).waitFor();
});

staged.concurrent('C11: the page says what is no chat', async ({ stage }) => {
  const server = await stage.server(undefined, ['--demo']);
  const page = await open(stage, `${server.url}/demo/chat?video=no-id`);
  await page.getByRole('status').getByText('is no video id').waitFor();
});

async function open(stage: Stage, url: string): Promise<Page> {
  const page = await browser.newPage();
  stage.atEnd(() => page.close());
  page.on('pageerror', (error) => {
    throw error;
  });
  await page.goto(url);
  return page;
}
