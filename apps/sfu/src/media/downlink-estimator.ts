import { LossWindow, type PathLoss } from './loss-window.ts';

/**
 * How much a subscriber can take: the lesser of what waiting on the way and its losses allow. The way up is probed with
 * padding, less and less often while probes fail.
 *
 * Transport-wide feedback tells what the path bears as soon as packets wait on it. A browser without it tells its own
 * measurement as REMB. Seen with Chromium: no report in the first seconds, then values just under what arrives, growing
 * slowly however wide the path is; but a report that **falls** is real: the browser saw a queue build up. So a falling
 * report is the brake, and a low one says nothing.
 */
const START_BPS = 2_500_000;
const BPS_MAX = 50_000_000;
const BPS_MIN = 50_000;
/** A report lower than the last by this much is congestion. */
const FALLING = 0.97;
/** A little less than the path bears, so that what waits can drain. */
const BELOW_BORNE = 0.9;
const LOSS_MAX = 0.1;
const LOSS_FREE = 0.02;
const GROWTH_A_SECOND = 1.08;

/** How the way up is tried. Each failure doubles the wait for the next, up to a most. */
interface Probing {
  lengthMs: number;
  /** A complaint comes a little after its cause. */
  verdictMs: number;
  waitMsMin: number;
  waitMsMax: number;
  /** How far above the estimate. */
  stepMax: number;
}

const BY_REPORTS: Probing = {
  lengthMs: 700,
  verdictMs: 500,
  waitMsMin: 2000,
  waitMsMax: 40_000,
  stepMax: Number.POSITIVE_INFINITY,
};
/** Feedback tells soon and exactly: short steps, so that one too many does not fill the path, and more of them. */
const BY_FEEDBACK: Probing = { lengthMs: 400, verdictMs: 300, waitMsMin: 300, waitMsMax: 8000, stepMax: 1.5 };

/** After congestion nothing is probed for this long. */
const QUIET_MS = 4000;
const CONGESTED_MS = 1000;
/** A complaint so soon after the estimate was lifted is the verdict on that. */
const TRIED_MS = 3000;
/** After this long without a complaint earlier failures are forgotten. */
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
  #liftedAt = Number.NEGATIVE_INFINITY;

  get bitsPerSecond(): number {
    return Math.round(Math.min(this.#byDelay, this.#byLoss));
  }

  /** Whether there was a complaint just now: what is on its way may still wait in a queue. */
  isCongested(now: number): boolean {
    return now - this.#congestedAt < CONGESTED_MS;
  }

  /** Feedback came; when packets wait on the way, with the bits a second that come through. */
  feedback(borneBps: number | undefined, now: number): void {
    if (this.#probing !== BY_FEEDBACK) this.#probeWait = BY_FEEDBACK.waitMsMin;
    this.#probing = BY_FEEDBACK;
    if (borneBps === undefined) return;
    const bps = Math.max(BPS_MIN, borneBps * BELOW_BORNE);
    // Even a probe that failed tells what the path bears.
    this.#byDelay = this.#probe ? bps : Math.min(this.#byDelay, bps);
    this.#complain(now);
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
    this.#complain(now);
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
      this.#complain(now);
    } else if (share < LOSS_FREE) this.#byLoss = Math.min(BPS_MAX, this.#byLoss * GROWTH_A_SECOND ** seconds);
  }

  #complain(now: number): void {
    this.#congestedAt = now;
    if (!this.#probe && now - this.#liftedAt > TRIED_MS) return;
    this.#probe = undefined;
    this.#liftedAt = Number.NEGATIVE_INFINITY;
    this.#probeWait = Math.min(this.#probing.waitMsMax, this.#probeWait * 2);
    this.#nextProbeAt = now + this.#probeWait;
  }

  /**
   * Bits per second that the path shall carry now, padding included; 0 when nothing is being probed. A probe that ends
   * without a complaint lifts the estimate to what was carried.
   */
  probe(wantedBps: number, now: number): number {
    const { lengthMs, verdictMs, waitMsMin, stepMax } = this.#probing;
    if (this.#probe) {
      if (now < this.#probe.until) return this.#probe.bps;
      if (now < this.#probe.until + verdictMs) return 0;
      this.#byDelay = Math.max(this.#byDelay, this.#probe.bps);
      this.#byLoss = Math.max(this.#byLoss, this.#probe.bps);
      this.#probe = undefined;
      this.#liftedAt = now;
      if (now - this.#congestedAt > CALM_MS) this.#probeWait = waitMsMin;
      this.#nextProbeAt = now + waitMsMin;
    }
    if (wantedBps <= this.bitsPerSecond || now < this.#nextProbeAt || now - this.#congestedAt < QUIET_MS) return 0;
    this.#probe = { until: now + lengthMs, bps: Math.min(wantedBps, this.bitsPerSecond * stepMax) };
    return this.#probe.bps;
  }
}
