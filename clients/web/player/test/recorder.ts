/** What a page of the tests writes down of its pictures and sessions. */
declare global {
  /**
   * Each frame that was drawn: when, and its place in the stream, both in milliseconds; on the canvas of which session,
   * and whether that was seen.
   */
  var drawn: { at: number; time: number; session: number; seen: boolean }[];
  /** Each session that was opened, and how it was closed. */
  var opened: { at: number; url: string; code?: number; reason?: string }[];
  /** How loud the page's sound is now. */
  var loudness: () => number;
  /** What the page's own policy let it not do. */
  var blocked: string[];
}

/** Runs in the page before everything else. */
export function record(): void {
  globalThis.drawn = [];
  globalThis.opened = [];
  globalThis.blocked = [];
  document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
    blocked.push(`${violatedDirective} ${blockedURI}`);
  });
  const canvases: HTMLCanvasElement[] = [];
  const draw = CanvasRenderingContext2D.prototype.drawImage;
  CanvasRenderingContext2D.prototype.drawImage = function (this: CanvasRenderingContext2D, ...given: unknown[]) {
    const [image] = given;
    if (image instanceof VideoFrame) {
      const session = canvases.includes(this.canvas) ? canvases.indexOf(this.canvas) : canvases.push(this.canvas) - 1;
      drawn.push({ at: performance.now(), time: image.timestamp / 1000, session, seen: !this.canvas.hidden });
    }
    return (draw as (...given: unknown[]) => void).apply(this, given);
  };
  globalThis.WebTransport = class extends WebTransport {
    constructor(url: string | URL, options?: WebTransportOptions) {
      super(url, options);
      const session: (typeof opened)[number] = { at: performance.now(), url: String(url) };
      opened.push(session);
      this.closed.then(
        ({ closeCode, reason }) => Object.assign(session, { code: closeCode, reason }),
        () => {},
      );
    }
  };
  const ears: AnalyserNode[] = [];
  const connect = AudioNode.prototype.connect as (...given: unknown[]) => AudioNode;
  AudioNode.prototype.connect = function (this: AudioNode, ...given: unknown[]) {
    if (given[0] instanceof AudioDestinationNode) {
      const ear = new AnalyserNode(this.context);
      ears.push(ear);
      connect.call(this, ear);
    }
    return connect.apply(this, given);
  } as typeof AudioNode.prototype.connect;
  globalThis.loudness = () => {
    const heard = ears.flatMap((ear) => {
      const wave = new Float32Array(ear.fftSize);
      ear.getFloatTimeDomainData(wave);
      return [...wave];
    });
    return Math.max(0, ...heard);
  };
}
