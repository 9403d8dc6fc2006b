/** What a page does that its seat must know of. */
export interface Heed {
  /** The page is hidden, or seen again. */
  hide(hidden: boolean): void;
  /** The page goes away and does not come back: `farewell` when its seat may be given back. */
  away(farewell: boolean): void;
  /** The page came back from the browser's cache as it was. */
  back(): void;
}

/**
 * Watches whether its page is seen, and how it goes away. A page that goes somewhere else, is put into the browser's
 * cache or is closed while hidden gives its seat back. One that is reloaded keeps it: the next load asks with the same
 * seat. A visible page that is closed looks just like one that is reloaded, and its seat ends by silence (S18).
 */
export class Presence {
  readonly #end = new AbortController();
  #leaves = false;
  #isAway = false;

  constructor(heed: Heed) {
    const { signal } = this.#end;
    document.addEventListener(
      'visibilitychange',
      () => {
        // A page that goes away is hidden too, which says nothing of a tab.
        if (!this.#isAway) heed.hide(document.hidden);
      },
      { signal },
    );
    addEventListener(
      'pagehide',
      (event) => {
        this.#isAway = true;
        heed.away(event.persisted || document.hidden || this.#leaves);
      },
      { signal },
    );
    addEventListener(
      'pageshow',
      (event) => {
        if (!event.persisted) return;
        this.#isAway = this.#leaves = false;
        heed.back();
        heed.hide(document.hidden);
      },
      { signal },
    );
    navigation()?.addEventListener(
      'navigate',
      (event) => {
        const { navigationType, destination, downloadRequest } = event as Navigate;
        if (downloadRequest !== null) return;
        this.#leaves = navigationType !== 'reload' && !destination.sameDocument;
      },
      { signal },
    );
  }

  close(): void {
    this.#end.abort();
  }
}

/** The browser's own account of where a page goes, where it gives one. */
function navigation(): EventTarget | undefined {
  return (globalThis as { navigation?: EventTarget }).navigation;
}

/** The part of `NavigateEvent` that is read. */
interface Navigate extends Event {
  navigationType: 'push' | 'replace' | 'reload' | 'traverse';
  destination: { sameDocument: boolean };
  downloadRequest: string | null;
}
