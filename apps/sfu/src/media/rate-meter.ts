/** Measurements that `bitrate` looks back on: three seconds of them. */
const RATES = 6;

/** Bits per second of a stream, or of one layer in it. */
export class RateMeter {
  readonly #rates: number[] = [];
  #bytes = 0;
  #bytesBefore = 0;
  #measuredAt = 0;
  /** When a packet with content came last. */
  lastMediaAt = Number.NEGATIVE_INFINITY;

  /** Since the stream began. */
  get bytes(): number {
    return this.#bytes;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Call it about twice a second. */
  measure(now: number): void {
    const elapsed = now - this.#measuredAt;
    if (this.#measuredAt > 0 && elapsed > 0) {
      this.#rates.push(((this.#bytes - this.#bytesBefore) * 8000) / elapsed);
      if (this.#rates.length > RATES) this.#rates.shift();
    }
    this.#bytesBefore = this.#bytes;
    this.#measuredAt = now;
  }

  /** Bits per second: the busiest of the last measurements, since a picture that stands still now may move soon. */
  get bitrate(): number {
    return Math.max(0, ...this.#rates);
  }

  /** False until the bit rate had time to settle. */
  get isMeasured(): boolean {
    return this.#rates.length === RATES;
  }

  /** In each of the last measurements something came. */
  get isSteady(): boolean {
    return this.isMeasured && !this.#rates.includes(0);
  }
}
