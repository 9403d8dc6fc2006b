import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** Where the system's Chromium is. */
export function executable(): string {
  const places = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
  const found = places.find((place) => place !== undefined && existsSync(place));
  if (found === undefined) throw new Error('no Chromium: install it (./x web does), or name it in CHROMIUM');
  return found;
}

/** A headless Chromium of the system, with nothing of anybody's in it. */
export async function startChromium(): Promise<Browser> {
  // Nothing but the page under test calls anybody.
  const args = [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
  ];
  return chromium.launch({ executablePath: executable(), headless: true, args });
}
