const BITS_PER_SECOND_MIN = 200_000;

interface Rate {
  /** Of what the path is estimated to carry. */
  share: number;
  /** So much is saved up at most. */
  savedMs: number;
}

/** A burst of losses is repeated at once, but a path that loses much must not carry only repeats. */
const REPEATS: Rate = { share: 0.25, savedMs: 1000 };

/** What a path may be given: bytes that come with time. */
export class PathBudget {
  readonly #rate: Rate;
  #msPerByte = 0;
  /** What came with time until then is spent. */
  #spentUntil = Number.NEGATIVE_INFINITY;

  constructor(rate = REPEATS) {
    this.#rate = rate;
    this.estimate(0);
  }

  /** Call it whenever the estimate of the path has changed, before anything is taken. */
  estimate(bitsPerSecond: number): void {
    this.#msPerByte = 8000 / (Math.max(bitsPerSecond, BITS_PER_SECOND_MIN) * this.#rate.share);
  }

  get msPerByte(): number {
    return this.#msPerByte;
  }

  /** False when there are not as many. Who must go faster than the rate says what a byte may cost at most. */
  take(bytes: number, now: number, msPerByteMax = this.#msPerByte): boolean {
    const { savedMs } = this.#rate;
    // A packet that is larger than what can be saved costs all of it.
    const cost = Math.min(savedMs, bytes * Math.min(this.#msPerByte, msPerByteMax));
    const spentUntil = Math.max(this.#spentUntil, now - savedMs) + cost;
    if (spentUntil > now) return false;
    this.#spentUntil = spentUntil;
    return true;
  }
}
