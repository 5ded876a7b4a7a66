/** What a transport has counted so far. */
interface Counters {
  readonly receivedBytes: number;
  readonly sentPackets: number;
}

/** So many reports in a row, with nothing sent in between, are the habit of a peer that reports without being asked. */
const HABIT_REPORTS = 20;
/** Between two of them at most: browsers report every second or two. */
const HABIT_MS_MAX = 3000;

/** How long a peer has said nothing although it had something to answer, or had always said something. */
export class Silence {
  readonly #unansweredMin: number;
  #receivedBytes = -1;
  #sentPackets = 0;
  #since = 0;
  #heardAt = 0;
  #unasked = 0;

  /** `unansweredMin`: packets that must have gone to the peer before its silence counts. */
  constructor(unansweredMin: number) {
    this.#unansweredMin = unansweredMin;
  }

  /** Milliseconds; call it about twice a second. */
  measure({ receivedBytes, sentPackets }: Counters, now: number): number {
    if (receivedBytes !== this.#receivedBytes) {
      // With something sent in between it may be an answer: that says nothing of habits.
      if (sentPackets === this.#sentPackets) this.#unasked = now - this.#heardAt > HABIT_MS_MAX ? 0 : this.#unasked + 1;
      this.#heardAt = now;
      this.#receivedBytes = receivedBytes;
      this.#sentPackets = sentPackets;
      this.#since = now;
    } else if (sentPackets - this.#sentPackets < this.#unansweredMin && this.#unasked < HABIT_REPORTS)
      this.#since = now;
    return now - this.#since;
  }
}
