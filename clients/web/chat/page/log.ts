/** The list of rows. It stays at the newest one, unless somebody has scrolled away from it. */
export class Log {
  readonly #list: HTMLElement;
  readonly #newest: HTMLElement;
  #follows = true;
  #top = 0;

  constructor(list: HTMLElement, newest: HTMLElement) {
    this.#list = list;
    this.#newest = newest;
    list.addEventListener('scroll', () => {
      const isNear = list.scrollHeight - list.scrollTop - list.clientHeight < NEAR_PX;
      // Only people go up; being far from the end may also come of what is pinned above, which makes the list shorter.
      const goesUp = list.scrollTop < this.#top;
      this.#follows = isNear || (this.#follows && !goesUp);
      this.#top = list.scrollTop;
      newest.hidden = this.#follows;
    });
    new ResizeObserver(() => this.#follows && this.#scroll()).observe(list);
    newest.addEventListener('click', () => this.#scroll());
  }

  add(row: HTMLElement): void {
    this.#list.append(row);
    // Whoever reads further up keeps what they read.
    while (this.#follows && this.#list.childElementCount > MAX_ROWS) this.#list.firstElementChild?.remove();
    if (this.#follows) this.#scroll();
  }

  remove(id: string): void {
    this.#find('id', id).forEach((row) => {
      row.remove();
    });
  }

  removeAuthor(channel: string): void {
    this.#find('channel', channel).forEach((row) => {
      row.remove();
    });
  }

  replace(id: string, row: HTMLElement | undefined): void {
    for (const old of this.#find('id', id)) {
      if (row === undefined) old.remove();
      else old.replaceWith(row);
    }
  }

  #find(key: string, value: string): HTMLElement[] {
    return [...this.#list.querySelectorAll<HTMLElement>(`[data-${key}="${CSS.escape(value)}"]`)];
  }

  #scroll(): void {
    this.#follows = true;
    this.#newest.hidden = true;
    this.#list.scrollTop = this.#list.scrollHeight;
  }
}

/** Within a row of the end is at the end. */
const NEAR_PX = 48;
const MAX_ROWS = 200;
