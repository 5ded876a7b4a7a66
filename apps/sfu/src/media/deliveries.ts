import { QueueMeter } from './queue-meter.ts';
import type { TransportFeedback } from './transport-feedback.ts';

/** Packets kept until feedback about them comes: more than a second of them at 10 Mbit/s. */
const LOG_PACKETS = 2048;
const INTERVAL_MS = 50;
const QUEUE_MS_MAX = 60;
/** Intervals in a row with a queue before it counts. */
const QUEUED_INTERVALS = 2;
/** A queue that grew by this, or overflows, is congestion; one that shrank by it is draining. */
const GROWN_MS = 10;
/** The capacity of the path is measured over this many intervals at most. */
const MEASURED_INTERVALS = 6;
/** A delay that neither grows, shrinks nor overflows for this many intervals is no queue: the path became longer. */
const STANDING_INTERVALS = 20;
const STANDING_MS = 15;

interface Interval {
  firstAt: number;
  firstBytes: number;
  lastAt: number;
  bytes: number;
  queuedMs: number;
}

const newInterval = (): Interval => ({ firstAt: 0, firstBytes: 0, lastAt: 0, bytes: 0, queuedMs: 0 });

/** Delivery of the packets sent over one transport, by the receiver's transport-wide feedback. */
export class Deliveries {
  /** When each was sent, and its bytes, side by side: each packet to each subscriber writes here. */
  readonly #log = new Float64Array(LOG_PACKETS * 2).fill(Number.NaN);
  readonly #queue = new QueueMeter(INTERVAL_MS);
  #next = 0;
  #current = newInterval();
  /** The last intervals without one that had no queue. */
  #queued: Interval[] = [];
  #hasLost = false;

  /** The number under which a packet goes out. */
  sent(bytes: number, now: number): number {
    const number = this.#next;
    const slot = slotOf(number);
    this.#log[slot] = now;
    this.#log[slot + 1] = bytes;
    this.#next = (number + 1) & 0xffff;
    return number;
  }

  /** The capacity of the path in bits per second, as far as packets queued on it. */
  onFeedback({ base, count, arrivals }: TransportFeedback): number | undefined {
    let capacityBps: number | undefined;
    for (let index = 0; index < count; index += 1) {
      const number = (base + index) & 0xffff;
      const age = (this.#next - number) & 0xffff;
      const slot = slotOf(number);
      const sentAt = this.#log[slot] ?? Number.NaN;
      if (age === 0 || age > LOG_PACKETS || Number.isNaN(sentAt)) continue;
      const arrivedAt = arrivals[index] ?? Number.NaN;
      if (Number.isNaN(arrivedAt)) this.#hasLost = true;
      else {
        // Feedback may repeat itself.
        this.#log[slot] = Number.NaN;
        capacityBps = this.#arrive(arrivedAt, arrivedAt - sentAt, this.#log[slot + 1] ?? 0) ?? capacityBps;
      }
    }
    return capacityBps;
  }

  #arrive(arrivedAt: number, delayMs: number, bytes: number): number | undefined {
    const queuedMs = this.#queue.add(delayMs, arrivedAt);
    const capacityBps = queuedMs === undefined ? undefined : this.#closeInterval(queuedMs);
    const interval = this.#current;
    if (interval.bytes === 0) {
      interval.firstAt = arrivedAt;
      interval.firstBytes = bytes;
    }
    interval.bytes += bytes;
    interval.lastAt = arrivedAt;
    return capacityBps;
  }

  #closeInterval(queuedMs: number): number | undefined {
    const before = this.#queued.at(-1);
    this.#current.queuedMs = queuedMs;
    if (queuedMs > QUEUE_MS_MAX) this.#queued.push(this.#current);
    else {
      this.#queued.length = 0;
      this.#hasLost = false;
    }
    this.#current = newInterval();
    if (this.#queued.length > STANDING_INTERVALS) this.#queued.shift();
    if (this.#isStanding()) {
      this.#queue.rebase();
      this.#queued.length = 0;
    }
    if (this.#queued.length < QUEUED_INTERVALS) return undefined;
    const isDraining = before !== undefined && queuedMs <= before.queuedMs - GROWN_MS;
    const hasGrown = queuedMs - this.#leastQueued() >= GROWN_MS;
    return !isDraining && (hasGrown || this.#hasLost) ? rateOf(this.#queued) : undefined;
  }

  #leastQueued = (): number => Math.min(...this.#queued.map(({ queuedMs }) => queuedMs));

  #isStanding(): boolean {
    if (this.#queued.length < STANDING_INTERVALS || this.#hasLost) return false;
    return Math.max(...this.#queued.map(({ queuedMs }) => queuedMs)) - this.#leastQueued() < STANDING_MS;
  }
}

const slotOf = (number: number): number => (number % LOG_PACKETS) * 2;

/** From the first packet to the last: what came in the time after the first. */
function rateOf(queued: readonly Interval[]): number | undefined {
  const measured = queued.slice(-MEASURED_INTERVALS);
  const [first] = measured;
  const last = measured.at(-1);
  if (!first || !last || last.lastAt <= first.firstAt) return undefined;
  const bytes = measured.reduce((sum, interval) => sum + interval.bytes, -first.firstBytes);
  return (bytes * 8000) / (last.lastAt - first.firstAt);
}
