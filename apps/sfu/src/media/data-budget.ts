const MESSAGES_A_SECOND = 500;
const BYTES_A_SECOND = 2 << 20;

/** What one participant may send over its data channels a second; the rest is dropped. */
export class DataBudget {
  #second = 0;
  #messages = 0;
  #bytes = 0;

  take(bytes: number, now: number): boolean {
    const second = Math.floor(now / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#messages = 0;
      this.#bytes = 0;
    }
    this.#messages += 1;
    this.#bytes += bytes;
    return this.#messages <= MESSAGES_A_SECOND && this.#bytes <= BYTES_A_SECOND;
  }
}
