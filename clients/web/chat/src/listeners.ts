/** What listens to what. One that throws costs the others nothing: its error is the page's, as with any event. */
export class Listeners<Heard extends object> {
  readonly #sets = new Map<PropertyKey, Set<(what: never) => void>>();

  add<K extends keyof Heard>(name: K, listener: (what: Heard[K]) => void): void {
    const set = this.#sets.get(name) ?? new Set();
    this.#sets.set(name, set.add(listener));
  }

  remove<K extends keyof Heard>(name: K, listener: (what: Heard[K]) => void): void {
    this.#sets.get(name)?.delete(listener);
  }

  tell<K extends keyof Heard>(name: K, what: Heard[K]): void {
    for (const listener of [...(this.#sets.get(name) ?? [])]) {
      try {
        (listener as (what: Heard[K]) => void)(what);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
