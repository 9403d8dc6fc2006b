import type { AudioConfig, Root } from '@moq/hang/catalog';

/**
 * What a broadcast says of itself, as a player can use it.
 *
 * An importer of MP4 reads the channels of AAC where most programs write two, whatever there is, and the sound of one
 * microphone would not be heard: the decoder's own description knows better. And while a publisher still measures its
 * bitrate, what it says anew is no news: whoever starts decoding anew for it skips.
 */
export function usable(said: Root, before: Root | undefined): Root {
  const heard = said.audio === undefined ? said : { ...said, audio: { ...said.audio, renditions: channels(said) } };
  return before !== undefined && essence(heard) === essence(before) ? before : heard;
}

function channels(said: Root): NonNullable<Root['audio']>['renditions'] {
  const renditions = Object.entries(said.audio?.renditions ?? {});
  return Object.fromEntries(
    renditions.map(([name, rendition]) => {
      const count = rendition.codec.startsWith('mp4a.40') ? channelsOf(rendition.description ?? '') : undefined;
      return [name, count === undefined ? rendition : { ...rendition, numberOfChannels: count }];
    }),
  );
}

/** The channels in an AudioSpecificConfig (ISO 14496-3): five bits of type, four of rate, four of channels. */
function channelsOf(description: string): AudioConfig['numberOfChannels'] | undefined {
  const head = Number.parseInt(description.slice(0, 4), 16);
  const [type, rate, channels] = [head >> 11, (head >> 7) & 0xf, (head >> 3) & 0xf];
  const isPlain = type !== ESCAPED_TYPE && rate !== ESCAPED_RATE && channels > 0;
  return isPlain ? ((CHANNELS[channels] ?? channels) as AudioConfig['numberOfChannels']) : undefined;
}

function essence(catalog: Root): string {
  return JSON.stringify(catalog, (name, value) => (MEASURED.has(name) ? undefined : value));
}

/** Values that say that the real one is longer than its bits. */
const ESCAPED_TYPE = 31;
const ESCAPED_RATE = 15;
/** Seven is eight loudspeakers; the others are their own number. */
const CHANNELS: Record<number, number> = { 7: 8 };
/** What a publisher measures as it goes. */
const MEASURED: ReadonlySet<string> = new Set(['bitrate', 'framerate']);
