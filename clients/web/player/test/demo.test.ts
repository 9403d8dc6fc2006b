/** The demo's page, which needs nothing but `tidegate up --demo`. */
import { expect, test } from 'vitest';
import type { TidegatePlayer } from '../src/element.ts';
import { bundled } from './bundle.ts';
import { record } from './recorder.ts';
import { staged } from './stage.ts';
import { frames } from './watching.ts';

test("O1: the demo page's scripts are what their source makes", async () => {
  const made = await bundled('page/watch.ts', 'watch');
  expect([...made.keys()]).toEqual(['watch.js', 'watch-hls.js']);
  for (const [name, text] of made) {
    await expect(text).toMatchFileSnapshot(`../../../../crates/tidegate/src/demo/page/${name}`);
  }
});

staged('O1: the demo shows a moving picture within its own policy, and a line in the third tab', async ({ stage }) => {
  const server = await stage.demo();
  const visit = (query = '') =>
    stage.visitor(`${server.url}/demo/watch${query}`, ({ page }) => page.addInitScript(record));
  const [first, second] = [await visit(), await visit()];
  await Promise.all([frames(first, 30), frames(second, 30)]);
  await second.button('Sound on').click();
  const third = await visit('?auto-join');
  await third.reads('You are number 1 in line.');
  await first.player.evaluate((player) => (player as TidegatePlayer).leave());
  await frames(third, 30);
  expect(await first.button('Play').isVisible()).toBe(true);
  expect(await first.page.getByRole('listitem').allTextContents()).toEqual([
    'asking: Finding you a seat…',
    'in, connecting: You have a seat. Starting the picture…',
    'in, playing',
    'idle',
  ]);
  for (const { page } of [first, second, third]) expect(await page.evaluate(() => blocked)).toEqual([]);
});
