/**
 * The seat id of a tab between two loads of its page. It is put down only while no page runs, so that a tab that is
 * duplicated does not sit on the other one's seat.
 */
export class Keepsake {
  readonly #name: string;

  constructor(server: URL, stream: string) {
    this.#name = `tidegate:${server.href}${stream}`;
  }

  /** Takes what an earlier load put down. */
  take(): string | undefined {
    try {
      const seat = sessionStorage.getItem(this.#name) ?? undefined;
      sessionStorage.removeItem(this.#name);
      return seat;
    } catch {
      return undefined;
    }
  }

  put(seat: string | undefined): void {
    if (seat === undefined) return;
    try {
      sessionStorage.setItem(this.#name, seat);
    } catch {
      // Where nothing may be kept, a reload is a newcomer.
    }
  }
}
