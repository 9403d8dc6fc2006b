import { line, news } from './line.ts';
import { Player } from './player.ts';
import type { PlayerState } from './state.ts';
import { style } from './style.ts';
import { type Words, wordsOf } from './words.ts';

/** What `tidegate:state` brings. */
export interface StateDetail {
  state: PlayerState;
  /** The line that the player shows; empty while the picture plays. */
  line: string;
}

/**
 * `<tidegate-player stream="launch" server="https://seats.example.org">`: a seat, its line and its picture.
 *
 * It asks for a seat once it is in a page, and gives it back when it is taken out. `docs/PLAYER.md` has its attributes.
 */
export class TidegatePlayer extends Base() {
  static readonly observedAttributes = [
    'stream',
    'server',
    'token-url',
    'region',
    'auto-join',
    'no-line',
    'lang',
    'label',
  ];
  readonly #parts = parts();
  #player: Player | undefined;
  #own: Partial<Words> = {};
  #state: PlayerState = { name: 'idle' };
  #line = '';
  #news = '';
  #muted = true;

  constructor() {
    super();
    const root = this.attachShadow({ mode: 'open' });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(style);
    root.adoptedStyleSheets = [sheet];
    root.append(this.#parts.picture, this.#parts.bar);
    this.#parts.join.addEventListener('click', () => this.join());
    this.#parts.play.addEventListener('click', () => {
      // Whoever pressed a button may be played sound to.
      this.muted = false;
      this.play();
    });
    this.#parts.unmute.addEventListener('click', () => {
      this.muted = false;
    });
  }

  /** How it is. Times in it are those of `performance.now()`. */
  get state(): PlayerState {
    return this.#state;
  }

  /** The line, as it is now. */
  get line(): string {
    return this.#line;
  }

  /** The seat or place that it holds: what a backend kicks, or keeps with its own heartbeat. */
  get seat(): string | undefined {
    return this.#player?.seat;
  }

  /** Whether there is no sound. It begins so, as browsers want it until somebody pressed something. */
  get muted(): boolean {
    return this.#muted;
  }

  set muted(muted: boolean) {
    this.#muted = muted;
    this.#player?.mute(muted);
    this.#draw();
  }

  /** A page's own words; those it leaves out stay as they are. */
  get words(): Words {
    const language = this.closest<HTMLElement>('[lang]')?.lang || navigator.language;
    return { ...wordsOf(language), ...this.#own };
  }

  set words(words: Partial<Words>) {
    this.#own = words;
    this.#draw();
  }

  /** Asks for a seat. */
  play(): void {
    this.#player?.play();
  }

  /** Takes the seat that is offered. */
  join(): void {
    this.#player?.join();
  }

  /** Gives the seat or place back. */
  leave(): void {
    this.#player?.leave();
  }

  connectedCallback(): void {
    this.#begin();
  }

  disconnectedCallback(): void {
    // One that is moved within the page is put back at once.
    queueMicrotask(() => {
      if (!this.isConnected) this.#end();
    });
  }

  attributeChangedCallback(name: string, before: string | null, now: string | null): void {
    if (before === now || this.#player === undefined) return;
    if (ASKED_WITH.has(name)) {
      // Several change together.
      this.#end();
      queueMicrotask(() => {
        if (this.isConnected) this.#begin();
      });
    } else {
      this.#draw();
    }
  }

  #begin(): void {
    const stream = this.getAttribute('stream');
    if (this.#player !== undefined || stream === null || stream === '') return;
    const tokenUrl = this.getAttribute('token-url');
    const options = {
      stream,
      server: folder(this.getAttribute('server') ?? location.origin),
      tokenUrl: tokenUrl === null ? undefined : new URL(tokenUrl, document.baseURI),
      withCookies: this.getAttribute('crossorigin') === 'use-credentials',
      autoJoin: this.hasAttribute('auto-join'),
      region: this.getAttribute('region') ?? undefined,
      muted: this.#muted,
    };
    this.#player = new Player(this.#parts.picture, options, (state) => this.#become(state));
    if (this.hasAttribute('click-to-play')) this.#become(this.#player.state);
    else whenLooked(this.#player);
  }

  #end(): void {
    const player = this.#player;
    player?.close();
    this.#player = undefined;
  }

  #become(state: PlayerState): void {
    this.#state = state;
    const changed = news(state);
    if (changed !== this.#news) {
      this.#news = changed;
      this.#draw();
      this.#parts.said.textContent = this.#line;
      if (state.name === 'refused') console.error(`tidegate-player: ${state.code}: ${state.detail}`);
    } else {
      const before = this.#line;
      this.#draw();
      if (this.#line === before) return;
    }
    const detail: StateDetail = { state, line: this.#line };
    this.dispatchEvent(new CustomEvent('tidegate:state', { detail, bubbles: true, composed: true }));
  }

  #draw(): void {
    const { picture, bar, shown, join, play, unmute } = this.#parts;
    const [state, words] = [this.#state, this.words];
    this.#line = line(state, words, performance.now());
    bar.hidden = this.hasAttribute('no-line');
    picture.ariaLabel = this.getAttribute('label') ?? this.getAttribute('stream');
    shown.textContent = this.#line;
    [join.textContent, play.textContent, unmute.textContent] = [words.join, words.play, words.unmute];
    const isOffered = state.name === 'offer' && !state.joining;
    const isNew = isOffered && join.hidden;
    join.hidden = !isOffered;
    play.hidden = !(state.name === 'idle' || state.name === 'lost');
    unmute.hidden = !(this.#muted && state.name === 'in' && state.picture === 'playing');
    if (isNew && isIdle(this)) join.focus();
  }
}

/** A page that the browser only prepares, in case it is wanted, takes nobody's seat. */
function whenLooked(player: Player): void {
  const page = document as Document & { prerendering?: boolean };
  if (page.prerendering) page.addEventListener('prerenderingchange', () => player.play(), { once: true });
  else player.play();
}

/** Ten seconds are short for whoever has to find the button: it gets the focus, unless that is somewhere for a reason. */
function isIdle(player: HTMLElement): boolean {
  const { activeElement } = document;
  return activeElement === null || activeElement === document.body || activeElement === player;
}

function parts() {
  const picture = part('div', 'picture');
  picture.role = 'img';
  // Seconds are for the eyes: nobody wants to hear each of them.
  const shown = part('p', 'line');
  shown.ariaHidden = 'true';
  const said = part('p', 'said');
  said.role = 'status';
  said.ariaLive = 'polite';
  const [join, play, unmute] = [button('join'), button('play'), button('unmute')];
  const bar = part('div', 'bar');
  bar.append(shown, said, join, play, unmute);
  return { picture, bar, shown, said, join, play, unmute };
}

function button(name: string): HTMLButtonElement {
  const made = part('button', `button ${name}`);
  made.type = 'button';
  made.hidden = true;
  return made;
}

function part<K extends keyof HTMLElementTagNameMap>(kind: K, name: string): HTMLElementTagNameMap[K] {
  const made = document.createElement(kind);
  made.setAttribute('part', name);
  return made;
}

/** Paths are meant below the server's own, with or without a slash at its end. */
function folder(server: string): URL {
  const url = new URL(server, document.baseURI);
  if (!url.pathname.endsWith('/')) url.pathname += '/';
  return url;
}

/** Where there is no page, as when one is rendered on a server, the class is there and does nothing. */
function Base(): typeof HTMLElement {
  return globalThis.HTMLElement ?? (class {} as typeof HTMLElement);
}

/** With one of these changed it is another seat that is asked for. */
const ASKED_WITH: ReadonlySet<string> = new Set(['stream', 'server', 'token-url', 'region', 'auto-join']);
