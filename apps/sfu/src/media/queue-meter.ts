/** How long the least delay is kept; a path that became longer is recognised after this. */
const BASE_MS = 10_000;

/**
 * Queueing delay of a path, from one-way delays by two clocks that need not agree: the least delay of each interval,
 * against the least of the last seconds. Intervals go by arrival and the least of each counts, which filters out jitter
 * of single packets, and receivers that stall and then read everything at once.
 */
export class QueueMeter {
  readonly #intervalMs: number;
  readonly #delays: number[] = [];
  #start = Number.NEGATIVE_INFINITY;
  #least = Number.POSITIVE_INFINITY;

  constructor(intervalMs: number) {
    this.#intervalMs = intervalMs;
  }

  /** Adds a packet; the queueing delay in ms of the interval that it ended, else undefined. */
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

  /** What looked like queueing is the length of the path. */
  rebase(): void {
    this.#delays.length = 0;
  }
}
