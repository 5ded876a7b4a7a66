import { LossWindow, type PathLoss } from './loss-window.ts';
import { QueueMeter } from './queue-meter.ts';

/**
 * Bandwidth estimate for a publisher without transport-wide feedback, sent to it as REMB. Delay grows before packets
 * are lost, and packets carry their send time.
 */
const INTERVAL_MS = 100;
const QUEUE_MS_MAX = 120;
/** Consecutive intervals over the limit before it counts. */
const OVERUSE_INTERVALS = 3;
const LOSS_MAX = 0.1;
const LOSS_FREE = 0.02;
const GROWTH_A_SECOND = 1.08;
const SHRINK = 0.85;
const HOLD_MS = 1000;
export const UPLINK_BPS_MAX = 6_000_000;
const UPLINK_BPS_MIN = 100_000;
const ABS_SEND_TIME_WRAP_MS = 64_000;

export class UplinkEstimator {
  #estimate = UPLINK_BPS_MAX;
  readonly #queue = new QueueMeter(INTERVAL_MS);
  #overused = 0;
  #bytes = 0;
  #bytesSince = 0;
  #incoming = 0;
  #shrunkAt = Number.NEGATIVE_INFINITY;
  #grownAt = 0;
  #lastRelative = 0;
  #relativeBase = 0;
  readonly #losses = new LossWindow();

  /** One packet: its 24-bit send time, or -1 without one. */
  packet(absSendTime: number, bytes: number, now: number): void {
    this.#bytes += bytes;
    if (now - this.#bytesSince >= 500) {
      this.#incoming = this.#bytesSince === 0 ? 0 : (this.#bytes * 8000) / (now - this.#bytesSince);
      this.#bytes = 0;
      this.#bytesSince = now;
    }
    if (absSendTime < 0) return;
    const delay = this.#relativeDelay((absSendTime * 1000) / 262_144, now);
    const queuedMs = this.#queue.add(delay, now);
    if (queuedMs === undefined) return;
    this.#overused = queuedMs > QUEUE_MS_MAX ? this.#overused + 1 : 0;
    if (this.#overused >= OVERUSE_INTERVALS) this.#shrink(now);
  }

  /** Send times wrap every 64 s; the difference to our clock is unwrapped against the last one. */
  #relativeDelay(sentMs: number, now: number): number {
    const relative = (((now - sentMs) % ABS_SEND_TIME_WRAP_MS) + ABS_SEND_TIME_WRAP_MS) % ABS_SEND_TIME_WRAP_MS;
    const jump = relative - this.#lastRelative;
    if (jump > ABS_SEND_TIME_WRAP_MS / 2) this.#relativeBase -= ABS_SEND_TIME_WRAP_MS;
    else if (jump < -ABS_SEND_TIME_WRAP_MS / 2) this.#relativeBase += ABS_SEND_TIME_WRAP_MS;
    this.#lastRelative = relative;
    return this.#relativeBase + relative;
  }

  /** Losses on the path since the last call. Some loss is no congestion: between the two limits nothing changes. */
  loss(loss: PathLoss, now: number): void {
    const share = this.#losses.add(loss, now);
    if (share === undefined) return;
    if (share > LOSS_MAX) this.#shrink(now, 1 - share / 2);
    else if (share < LOSS_FREE && now - this.#shrunkAt > HOLD_MS) {
      const seconds = this.#grownAt === 0 ? 1 : Math.min(5, (now - this.#grownAt) / 1000);
      this.#estimate = Math.min(UPLINK_BPS_MAX, this.#estimate * GROWTH_A_SECOND ** seconds);
    }
    this.#grownAt = now;
  }

  #shrink(now: number, factor = SHRINK): void {
    if (now - this.#shrunkAt < HOLD_MS) return;
    this.#shrunkAt = now;
    this.#overused = 0;
    const measured = this.#incoming > 0 ? this.#incoming : this.#estimate;
    this.#estimate = Math.max(UPLINK_BPS_MIN, Math.min(this.#estimate, measured * factor));
  }

  get bitsPerSecond(): number {
    return Math.round(this.#estimate);
  }

  get incomingBps(): number {
    return Math.round(this.#incoming);
  }
}
