const MESSAGES_A_SECOND = 500;
const BYTES_A_SECOND = 2 << 20;
/** A browser has up to 1 MiB on the way. */
const NEAR = 0.4;

/** Something counted a second. */
class SecondCounter {
  #second = 0;
  #count = 0;

  read(now: number): number {
    const second = Math.floor(now / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#count = 0;
    }
    return this.#count;
  }

  add(by: number, now: number): number {
    this.#count = this.read(now) + by;
    return this.#count;
  }
}

/** What one participant may send over its data channels a second; the rest is dropped. */
export class DataBudget {
  readonly #messages = new SecondCounter();
  readonly #bytes = new SecondCounter();

  take(bytes: number, now: number): boolean {
    const messages = this.#messages.add(1, now);
    return this.#bytes.add(bytes, now) <= BYTES_A_SECOND && messages <= MESSAGES_A_SECOND;
  }

  /** Until when a sender does well to wait, as what it has on the way may need the rest; undefined while much is left. */
  nearlySpentUntil(now: number): number | undefined {
    const isNear = this.#bytes.read(now) > BYTES_A_SECOND * NEAR || this.#messages.read(now) > MESSAGES_A_SECOND * NEAR;
    return isNear ? (Math.floor(now / 1000) + 1) * 1000 : undefined;
  }
}

/** What one participant may cause, or get, by signaling a second, for want of a data channel. */
export class FallbackBudget {
  readonly #used = new SecondCounter();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  isSpent(now: number): boolean {
    return this.#used.read(now) >= this.#max;
  }

  spend(now: number): void {
    this.#used.add(1, now);
  }
}
