/** Repeats take at most this share of what the path is estimated to carry. */
const SHARE = 0.25;
/** Saved up at most: a burst of losses is repeated at once. */
const SAVED_SECONDS_MAX = 1;
const BITS_PER_SECOND_MIN = 200_000;

/** What repeats may cost a path: bytes that come with time. Without it a path that loses much would carry only repeats. */
export class PathBudget {
  #bytes = 0;
  #refilledAt = Number.NEGATIVE_INFINITY;

  refill(estimateBps: number, now: number): void {
    const bytesPerSecond = (Math.max(estimateBps, BITS_PER_SECOND_MIN) * SHARE) / 8;
    const seconds = Math.min(SAVED_SECONDS_MAX, (now - this.#refilledAt) / 1000);
    this.#bytes = Math.min(bytesPerSecond * SAVED_SECONDS_MAX, this.#bytes + bytesPerSecond * seconds);
    this.#refilledAt = now;
  }

  take(bytes: number): boolean {
    if (bytes > this.#bytes) return false;
    this.#bytes -= bytes;
    return true;
  }
}
