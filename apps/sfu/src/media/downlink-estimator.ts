import { LossWindow, type PathLoss } from './loss-window.ts';

/**
 * Bandwidth estimate for a subscriber: the lesser of what queueing delay and loss allow. More bandwidth is probed for
 * with padding, less and less often while probes fail.
 *
 * Transport-wide feedback gives the capacity of the path as soon as packets queue on it. A browser without it reports
 * its own estimate as REMB. Seen with Chromium: no report in the first seconds, then values just under what arrives,
 * growing slowly however wide the path is; but a report that **falls** is real: the browser saw a queue build up. So a
 * falling report counts as congestion, and a low one is ignored.
 */
const START_BPS = 2_500_000;
const BPS_MAX = 50_000_000;
const BPS_MIN = 50_000;
/** A report lower than the last by this much is congestion. */
const FALLING = 0.97;
/** A little below the capacity of the path, so that its queue can drain. */
const DRAIN_FACTOR = 0.9;
const LOSS_MAX = 0.1;
const LOSS_FREE = 0.02;
const GROWTH_A_SECOND = 1.08;

/** How more bandwidth is probed for. Each failure doubles the wait for the next probe, up to a maximum. */
interface Probing {
  lengthMs: number;
  /** Signs of congestion come a little after their cause. */
  settleMs: number;
  waitMsMin: number;
  waitMsMax: number;
  /** How far above the estimate. */
  stepMax: number;
}

const BY_REPORTS: Probing = {
  lengthMs: 700,
  settleMs: 500,
  waitMsMin: 2000,
  waitMsMax: 40_000,
  stepMax: Number.POSITIVE_INFINITY,
};
/** Feedback is fast and exact: short steps, so that a failed probe does not fill the path's queue, and more of them. */
const BY_FEEDBACK: Probing = { lengthMs: 400, settleMs: 300, waitMsMin: 300, waitMsMax: 8000, stepMax: 1.5 };

/** After congestion nothing is probed for this long. */
const QUIET_MS = 4000;
const CONGESTED_MS = 1000;
/** Congestion this soon after the estimate was raised means that raising it failed. */
const RAISED_MS = 3000;
/** After this long without congestion the backoff of probes is reset. */
const CALM_MS = 15_000;

export class DownlinkEstimator {
  #byDelay = START_BPS;
  #byLoss = BPS_MAX;
  #reported = 0;
  readonly #losses = new LossWindow();
  #lossJudgedAt = 0;
  #congestedAt = Number.NEGATIVE_INFINITY;
  #probe: { until: number; bps: number } | undefined;
  #probing = BY_REPORTS;
  #probeWait = BY_REPORTS.waitMsMin;
  #nextProbeAt = 0;
  #raisedAt = Number.NEGATIVE_INFINITY;

  get bitsPerSecond(): number {
    return Math.round(Math.min(this.#byDelay, this.#byLoss));
  }

  /** What bursts are measured by: a receiver that says nothing of its path is taken to bear what it gets all the time. */
  burstBps(sentBps: number): number {
    const isKnown = this.#probing === BY_FEEDBACK || this.#reported > 0;
    return isKnown ? this.bitsPerSecond : Math.max(this.bitsPerSecond, sentBps);
  }

  /** Whether there was congestion just now: packets may still queue on the path. */
  isCongested(now: number): boolean {
    return now - this.#congestedAt < CONGESTED_MS;
  }

  /** Transport-wide feedback came; with the capacity in bits per second while packets queue on the path. */
  feedback(capacityBps: number | undefined, now: number): void {
    if (this.#probing !== BY_FEEDBACK) this.#probeWait = BY_FEEDBACK.waitMsMin;
    this.#probing = BY_FEEDBACK;
    if (capacityBps === undefined) return;
    const bps = Math.max(BPS_MIN, capacityBps * DRAIN_FACTOR);
    // Even a failed probe measures the capacity.
    this.#byDelay = this.#probe ? bps : Math.min(this.#byDelay, bps);
    this.#onCongestion(now);
  }

  remb(bps: number, now: number): void {
    const before = this.#reported;
    this.#reported = bps;
    if (bps >= before * FALLING) {
      this.#byDelay = Math.max(this.#byDelay, bps);
      return;
    }
    if (bps >= this.#byDelay && !this.#probe) return;
    this.#byDelay = Math.max(BPS_MIN, Math.min(this.#byDelay, bps));
    this.#onCongestion(now);
  }

  /** Losses on the path as the subscriber saw them; `sentBps` is what went out in the last second. */
  loss(loss: PathLoss, sentBps: number, now: number): void {
    const share = this.#losses.add(loss, now);
    if (share === undefined) return;
    const seconds = Math.min(5, (now - this.#lossJudgedAt) / 1000);
    this.#lossJudgedAt = now;
    if (share > LOSS_MAX) {
      const base = Math.min(this.#byLoss, Math.max(sentBps, BPS_MIN));
      this.#byLoss = Math.max(BPS_MIN, base * (1 - share / 2));
      this.#onCongestion(now);
    } else if (share < LOSS_FREE) this.#byLoss = Math.min(BPS_MAX, this.#byLoss * GROWTH_A_SECOND ** seconds);
  }

  #onCongestion(now: number): void {
    this.#congestedAt = now;
    if (!this.#probe && now - this.#raisedAt > RAISED_MS) return;
    this.#probe = undefined;
    this.#raisedAt = Number.NEGATIVE_INFINITY;
    this.#probeWait = Math.min(this.#probing.waitMsMax, this.#probeWait * 2);
    this.#nextProbeAt = now + this.#probeWait;
  }

  /**
   * Bits per second to send now, padding included; 0 when nothing is being probed. A probe that ends
   * without congestion raises the estimate to its rate.
   */
  probe(wantedBps: number, now: number): number {
    const { lengthMs, settleMs, waitMsMin, stepMax } = this.#probing;
    if (this.#probe) {
      if (now < this.#probe.until) return this.#probe.bps;
      if (now < this.#probe.until + settleMs) return 0;
      this.#byDelay = Math.max(this.#byDelay, this.#probe.bps);
      this.#byLoss = Math.max(this.#byLoss, this.#probe.bps);
      this.#probe = undefined;
      this.#raisedAt = now;
      if (now - this.#congestedAt > CALM_MS) this.#probeWait = waitMsMin;
      this.#nextProbeAt = now + waitMsMin;
    }
    if (wantedBps <= this.bitsPerSecond || now < this.#nextProbeAt || now - this.#congestedAt < QUIET_MS) return 0;
    this.#probe = { until: now + lengthMs, bps: Math.min(wantedBps, this.bitsPerSecond * stepMax) };
    return this.#probe.bps;
  }
}
