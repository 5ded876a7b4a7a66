const MESSAGES_A_SECOND = 500;
const BYTES_A_SECOND = 2 << 20;

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
