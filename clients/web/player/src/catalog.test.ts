import type { Root } from '@moq/hang/catalog';
import { expect, test } from 'vitest';
import { usable } from './catalog.ts';

const said = (description: string, bitrate = 48_000): Root =>
  ({
    audio: {
      renditions: {
        sound: {
          codec: 'mp4a.40.2',
          container: { kind: 'legacy' },
          description,
          sampleRate: 48_000,
          numberOfChannels: 2,
          bitrate,
        },
      },
    },
  }) as unknown as Root;

test.each([
  ['118856e500', 1],
  ['1190', 2],
  ['11b8', 8],
  // Rate and type written out elsewhere, channels in the stream itself, nothing at all.
  ['17880000', 2],
  ['f988', 2],
  ['1180', 2],
  ['', 2],
])('the description %s has %i channels', (description, channels) => {
  expect(usable(said(description), undefined).audio?.renditions.sound?.numberOfChannels).toBe(channels);
});

test('a bitrate that is measured anew is no news', () => {
  const before = usable(said('1190'), undefined);
  expect(usable(said('1190', 51_000), before)).toBe(before);
  expect(usable(said('118856e500', 48_000), before)).not.toBe(before);
});
