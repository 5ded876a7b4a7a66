/** What one use of a limit on a connection came to. */
export interface Reading {
  /** By how many the uses of this window exceed the limit. */
  excess: number;
  remainingMs: number;
}

/** Counts what one connection does in fixed windows that start with the first use; `null` counts and never exceeds. */
export class Meter {
  readonly #limit: number | null;
  readonly #windowMs: number;
  #count = 0;
  #until = 0;

  constructor(limit: number | null, windowMs: number) {
    this.#limit = limit;
    this.#windowMs = windowMs;
  }

  use(now: number): Reading {
    if (now >= this.#until) {
      this.#count = 0;
      this.#until = now + this.#windowMs;
    }
    this.#count++;
    const excess = this.#limit === null ? 0 : Math.max(0, this.#count - this.#limit);
    return { excess, remainingMs: this.#until - now };
  }
}
