import type { Root } from '@moq/hang/catalog';
import { Connection, Path, Time } from '@moq/net';
import { Signal } from '@moq/signals';
import { Audio, Broadcast, type Latency, Sync, Video } from '@moq/watch';
import { usable } from './catalog.ts';
import type { SessionEvent } from './picture.ts';
import type { Session, SessionOptions } from './session.ts';

/**
 * A session over MoQ. The WebTransport is made here and not by the media package, because the code that a relay closes
 * it with is how it says no (E8).
 */
export class MoqSession implements Session {
  readonly element = document.createElement('canvas');
  readonly #options: SessionOptions;
  readonly #transport: WebTransport;
  readonly #connection = new Signal<Connection.Established | undefined>(undefined);
  readonly #name = new Signal<Path.Valid>(Path.empty());
  readonly #isOn = new Signal(false);
  readonly #isHeard: Signal<boolean>;
  readonly #muted: Signal<boolean>;
  readonly #volume = new Signal(0);
  readonly #latency: Signal<Latency>;
  readonly #sync: Sync;
  readonly #renderer: Video.Renderer;
  readonly #parts: { close(): void }[] = [];
  #isPlaying = false;
  #isOver = false;
  #stopTimer: (() => void) | undefined;
  #catchingUp: (() => void) | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.#isHeard = new Signal(!options.muted);
    this.#muted = new Signal(options.muted);
    const { url, certSha256 } = options;
    this.#transport = new WebTransport(url, transportOptions(certSha256));
    // The same as its forerunner's until its own round trip is known, or the picture would step back at each renewal.
    const bufferMs = options.before()?.bufferMs;
    this.#latency = new Signal<Latency>(bufferMs === undefined ? 'real-time' : Time.Milli(bufferMs));
    [this.#sync, this.#renderer] = this.#compose();
    this.#transport.closed.then(
      ({ closeCode, reason }) => this.#over(closeCode, reason ?? ''),
      () => this.#over(undefined, 'the connection was lost'),
    );
    this.#run().catch((error: unknown) => this.#over(undefined, String(error)));
  }

  get seenMs(): number | undefined {
    return this.#renderer.out.timestamp.peek();
  }

  get bufferMs(): number {
    return this.#sync.out.jitter.peek();
  }

  show(): void {
    this.#volume.set(1);
  }

  mute(muted: boolean): void {
    this.#isHeard.set(!muted);
    this.#muted.set(muted);
  }

  close(): void {
    this.#isOver = true;
    this.#stopTimer?.();
    this.#catchingUp?.();
    for (const part of this.#parts.reverse()) part.close();
    this.#connection.peek()?.close();
    this.#transport.close();
    this.element.remove();
  }

  /** What decodes and shows, not yet on. Its sound is on before it is heard, so that a renewal has no gap in it. */
  #compose(): [Sync, Video.Renderer] {
    const place = { connection: this.#connection, name: this.#name, enabled: this.#isOn };
    const described = new Broadcast(place);
    const catalog = new Signal<Root | undefined>(undefined);
    const broadcast = new Broadcast({ ...place, catalogFormat: 'manual', catalog });
    const videoSource = new Video.Source({ broadcast, supported: Video.Decoder.supported });
    const audioSource = new Audio.Source({ broadcast, supported: Audio.Decoder.supported });
    const latency = this.#latency;
    const [connection, video, audio] = [this.#connection, videoSource.out.jitter, audioSource.out.jitter];
    const sync = new Sync({ latency, connection, video, audio });
    const videoDecoder = new Video.Decoder(videoSource, sync, { enabled: this.#isOn });
    const audioDecoder = new Audio.Decoder(audioSource, sync, { enabled: this.#isHeard });
    const emitter = new Audio.Emitter(audioDecoder, { volume: this.#volume, muted: this.#muted });
    const renderer = new Video.Renderer(videoDecoder, { canvas: this.element, visible: 'always' });
    const stops = [
      renderer.out.timestamp.subscribe((seen) => this.#seen(seen)),
      described.out.catalog.subscribe((said) => {
        catalog.update((before) => said && usable(said, before));
        // A hidden page draws nothing, and a broadcast may have no picture at all.
        const isBlind = document.hidden || Object.keys(said?.video?.renditions ?? {}).length === 0;
        if (said !== undefined && isBlind) this.#playing();
      }),
      videoSource.out.error.subscribe((error) => {
        if (error !== undefined) this.#over(undefined, `this browser cannot decode it: ${error}`);
      }),
    ];
    this.#parts.push(
      described,
      broadcast,
      videoSource,
      audioSource,
      sync,
      videoDecoder,
      audioDecoder,
      emitter,
      renderer,
    );
    for (const close of stops) this.#parts.push({ close });
    return [sync, renderer];
  }

  async #run(): Promise<void> {
    this.#after(READY_MS, () => this.#over(undefined, 'no connection'));
    await this.#transport.ready;
    const { url } = this.#options;
    const connection = await Connection.connect(url, { transport: this.#transport, discovery: true });
    if (this.#isOver) return connection.close();
    this.#connection.set(connection);
    this.#parts.push({ close: connection.probe.subscribe(() => this.#latency.set('real-time')) });
    // An open session is not admitted yet (E8): a refusal comes within moments.
    this.#after(ADMITTED_MS, () => this.#tell({ name: 'silent' }));
    const announced = connection.announced();
    this.#parts.push(announced);
    const names = new Set<Path.Valid>();
    for (let news = await announced.next(); news !== undefined; news = await announced.next()) {
      if (news.active) names.add(news.path);
      else names.delete(news.path);
      this.#choose([...names]);
    }
  }

  /** A stream's broadcasts may be several; one that is seen stays. */
  #choose(names: Path.Valid[]): void {
    const [first] = names.sort();
    if (first === undefined) {
      this.#isOn.set(false);
      this.#isPlaying = false;
      this.#tell({ name: 'silent' });
    } else if (!this.#isOn.peek() || !names.includes(this.#name.peek())) {
      this.#stopTimer?.();
      this.#name.set(first);
      this.#isOn.set(true);
    }
  }

  /** A frame was drawn. The picture before may be further on: the newest key frame is a moment old. */
  #seen(seen: Time.Milli | undefined): void {
    if (seen === undefined || this.#isPlaying || this.#isOver) return;
    const before = this.#options.before()?.seenMs;
    if (before === undefined || seen >= before) this.#playing();
    else this.#catchingUp ??= this.#options.timers.after(CATCH_UP_MS, () => this.#playing());
  }

  #playing(): void {
    if (this.#isPlaying) return;
    this.#isPlaying = true;
    this.#stopTimer?.();
    this.#tell({ name: 'playing' });
  }

  #over(code: number | undefined, reason: string): void {
    if (this.#isOver) return;
    this.#tell({ name: 'ended', code, reason });
    this.#isOver = true;
  }

  #after(ms: number, wake: () => void): void {
    this.#stopTimer?.();
    this.#stopTimer = this.#options.timers.after(ms, wake);
  }

  #tell(event: SessionEvent): void {
    if (!this.#isOver) this.#options.tell(event);
  }
}

function transportOptions(certSha256: string | undefined): WebTransportOptions {
  const value = Uint8Array.from(certSha256?.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
  const pins = certSha256 === undefined ? {} : { serverCertificateHashes: [{ algorithm: 'sha-256', value }] };
  // Not in TypeScript's description of browsers yet.
  const protocols = { protocols: PROTOCOLS };
  return { congestionControl: 'low-latency', ...protocols, ...pins };
}

/** What both ends speak; the newest first. */
const PROTOCOLS = ['moq-lite-05', 'moq-lite-04'];
/** A network that lets no QUIC through says nothing at all. */
const READY_MS = 5_000;
/** From an open session to knowing that it was let in. */
const ADMITTED_MS = 1_000;
/** How long a picture may take to come level with the one it follows. */
const CATCH_UP_MS = 3_000;
