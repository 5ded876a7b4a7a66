/** How long the least delay is remembered; a path whose delay grew for good is known after this. */
const BASE_MS = 10_000;

/**
 * How long packets wait on a path, from the time each was on its way by two clocks that need not agree: the least delay
 * of each interval, against the least of the last seconds. Intervals go by arrival and the least of each counts, which
 * keeps out whatever holds single packets back, and receivers that stall and then read everything at once.
 */
export class QueueMeter {
  readonly #intervalMs: number;
  readonly #delays: number[] = [];
  #start = Number.NEGATIVE_INFINITY;
  #least = Number.POSITIVE_INFINITY;

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs;
  }

  /** Takes one packet; ms of waiting in the interval that ended with it, undefined while one goes on. */
  add(delayMs: number, arrivedAt: number): number | undefined {
    const isOver = arrivedAt - this.#start >= this.#intervalMs;
    const queuedMs = isOver ? this.#close() : undefined;
    if (isOver) this.#start = arrivedAt;
    if (delayMs < this.#least) this.#least = delayMs;
    return queuedMs;
  }

  #close(): number | undefined {
    if (this.#least === Number.POSITIVE_INFINITY) return undefined;
    this.#delays.push(this.#least);
    if (this.#delays.length > BASE_MS / this.#intervalMs) this.#delays.shift();
    const queuedMs = this.#least - Math.min(...this.#delays);
    this.#least = Number.POSITIVE_INFINITY;
    return queuedMs;
  }

  /** What looked like waiting is how long the path is. */
  rebase(): void {
    this.#delays.length = 0;
  }
}
