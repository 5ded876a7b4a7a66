const WINDOW_MS = 1000;
/** Of fewer datagrams in a window the share says nothing. */
const DATAGRAMS_MIN = 30;
/** As from publishers: between the two limits nothing changes. */
const LOSS_MAX = 0.1;
const LOSS_FREE = 0.02;
/** So much longer than the path itself a round trip is a queue. */
const QUEUE_MS_MAX = 200;
/** By so much of the difference the path itself may be longer than it was. */
const ROUTE_SHARE = 1 / 50;
/** After a step down: until what was in the queue is gone and the layer below has come. */
const SETTLE_MS = 3000;
/** Without congestion for this long: one layer more; twice as long each time that this was too much. */
const CLEAN_MS_MIN = 10_000;
const CLEAN_MS_MAX = 160_000;
const STEPS_MAX = 3;

interface PathFigures {
  receivedDatagrams: number;
  lostDatagrams: number;
  rttMs: number | null;
}

/**
 * How many of the top layers of each track a pipe does not carry. No more is measured of a path between nodes than loss
 * and round trip, so layers are taken one by one, until both are as they should be.
 */
export class PipeCongestion {
  #layersCut = 0;
  #windowAt = Number.NEGATIVE_INFINITY;
  #received = 0;
  #lost = 0;
  /** Shortest of the window, and of the path. */
  #windowRttMs = Number.POSITIVE_INFINITY;
  #pathRttMs = Number.POSITIVE_INFINITY;
  #changedAt = Number.NEGATIVE_INFINITY;
  #cleanSince = Number.POSITIVE_INFINITY;
  #cleanMs = CLEAN_MS_MIN;
  #isTrying = false;

  get layersCut(): number {
    return this.#layersCut;
  }

  /** Call it often. */
  measure({ receivedDatagrams, lostDatagrams, rttMs }: PathFigures, now: number): void {
    this.#windowRttMs = Math.min(this.#windowRttMs, rttMs ?? Number.POSITIVE_INFINITY);
    if (now - this.#windowAt < WINDOW_MS) return;
    const isFirst = this.#windowAt === Number.NEGATIVE_INFINITY;
    const lost = lostDatagrams - this.#lost;
    const expected = receivedDatagrams - this.#received + lost;
    this.#received = receivedDatagrams;
    this.#lost = lostDatagrams;
    this.#windowAt = now;
    const queueMs = this.#takeQueueMs();
    if (isFirst) return;
    const lossShare = expected < DATAGRAMS_MIN ? 0 : lost / expected;
    if (lossShare > LOSS_MAX || queueMs > QUEUE_MS_MAX) this.#onCongested(now);
    else if (lossShare > LOSS_FREE) this.#cleanSince = Number.POSITIVE_INFINITY;
    else this.#onClean(now);
  }

  #takeQueueMs(): number {
    const rttMs = this.#windowRttMs;
    this.#windowRttMs = Number.POSITIVE_INFINITY;
    if (rttMs === Number.POSITIVE_INFINITY) return 0;
    if (rttMs < this.#pathRttMs) this.#pathRttMs = rttMs;
    else this.#pathRttMs += (rttMs - this.#pathRttMs) * ROUTE_SHARE;
    return rttMs - this.#pathRttMs;
  }

  #onCongested(now: number): void {
    this.#cleanSince = Number.POSITIVE_INFINITY;
    if (now - this.#changedAt < SETTLE_MS && !this.#isTrying) return;
    if (this.#isTrying) this.#cleanMs = Math.min(CLEAN_MS_MAX, this.#cleanMs * 2);
    this.#isTrying = false;
    this.#layersCut = Math.min(STEPS_MAX, this.#layersCut + 1);
    this.#changedAt = now;
  }

  #onClean(now: number): void {
    this.#cleanSince = Math.min(this.#cleanSince, now);
    if (now - this.#cleanSince < this.#cleanMs) return;
    // What was tried has held.
    if (this.#isTrying) this.#cleanMs = CLEAN_MS_MIN;
    this.#isTrying = this.#layersCut > 0;
    if (!this.#isTrying) return;
    this.#layersCut -= 1;
    this.#changedAt = now;
    this.#cleanSince = now;
  }
}
