/** What a transport has counted so far. */
interface Counters {
  readonly receivedBytes: number;
  readonly sentPackets: number;
}

/** How long a peer has said nothing although it had something to answer. */
export class Silence {
  readonly #unansweredMin: number;
  #receivedBytes = -1;
  #sentPackets = 0;
  #since = 0;

  /** `unansweredMin`: packets that must have gone to the peer before its silence counts. */
  constructor(unansweredMin: number) {
    this.#unansweredMin = unansweredMin;
  }

  /** Milliseconds; call it about twice a second. */
  measure({ receivedBytes, sentPackets }: Counters, now: number): number {
    if (receivedBytes !== this.#receivedBytes) {
      this.#receivedBytes = receivedBytes;
      this.#sentPackets = sentPackets;
      this.#since = now;
    } else if (sentPackets - this.#sentPackets < this.#unansweredMin) this.#since = now;
    return now - this.#since;
  }
}
