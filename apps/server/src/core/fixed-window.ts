/** Uses in windows that start with the first use: the arithmetic of every limit that this process counts by itself. */
export class FixedWindow {
  readonly #windowMs: number;
  #count = 0;
  #endsAt = 0;

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  /** Uses of the window that runs now. */
  count(now: number): number {
    if (now >= this.#endsAt) {
      this.#count = 0;
      this.#endsAt = now + this.#windowMs;
    }
    return this.#count;
  }

  /** Counts a use, or `by` of them; gives the uses of its window. */
  use(now: number, by = 1): number {
    this.#count = this.count(now) + by;
    return this.#count;
  }

  remainingMs(now: number): number {
    return this.#endsAt - now;
  }
}
