import { LossWindow, type PathLoss } from './loss-window.ts';

/**
 * How much a subscriber can take: the lesser of what waiting on the way and its losses allow. The way up is probed with
 * padding, less and less often while probes fail.
 *
 * Transport-wide feedback tells what the path bears as soon as packets wait on it. A browser without it tells its own
 * measurement as REMB. Seen with Chromium: no report in the first seconds, then values just under
 * what arrives, growing slowly however wide the path is; but a report that **falls** is real: the browser saw a queue
 * build up. So a falling report is the brake, and nothing else of it counts.
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
const PROBE_MS = 700;
/** A complaint comes a little after its cause. */
const VERDICT_MS = 500;
const PROBE_WAIT_MS_MIN = 2000;
const PROBE_WAIT_MS_MAX = 40_000;
/** Feedback ends a probe that is too much after a few packets: failing costs little, so it may be tried more often. */
const PROBE_WAIT_MS_MAX_WITH_FEEDBACK = 6000;
/** After congestion nothing is probed for this long. */
const QUIET_MS = 4000;
const CONGESTED_MS = 1000;

export class DownlinkEstimator {
  #byDelay = START_BPS;
  #byLoss = BPS_MAX;
  #reported = 0;
  readonly #losses = new LossWindow();
  #lossJudgedAt = 0;
  #congestedAt = Number.NEGATIVE_INFINITY;
  #probe: { until: number; bps: number } | undefined;
  #probeWait = PROBE_WAIT_MS_MIN;
  #nextProbeAt = 0;

  get bitsPerSecond(): number {
    return Math.round(Math.min(this.#byDelay, this.#byLoss));
  }

  /** Whether there was a complaint just now: what is on its way may still wait in a queue. */
  isCongested(now: number): boolean {
    return now - this.#congestedAt < CONGESTED_MS;
  }

  /** Packets wait on the way, and this is how many bits a second come through. */
  queued(borneBps: number, now: number): void {
    const bps = Math.max(BPS_MIN, borneBps * BELOW_BORNE);
    // Even a probe that failed tells what the path bears.
    this.#byDelay = this.#probe ? bps : Math.min(this.#byDelay, bps);
    this.#complain(now, PROBE_WAIT_MS_MAX_WITH_FEEDBACK);
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

  #complain(now: number, probeWaitMax = PROBE_WAIT_MS_MAX): void {
    this.#congestedAt = now;
    if (!this.#probe) return;
    this.#probe = undefined;
    this.#probeWait = Math.min(probeWaitMax, this.#probeWait * 2);
    this.#nextProbeAt = now + this.#probeWait;
  }

  /**
   * Bits per second that the path shall carry now, padding included; 0 when nothing is being probed. A probe that ends
   * without a complaint lifts the estimate to what was carried.
   */
  probe(wantedBps: number, now: number): number {
    if (this.#probe) {
      if (now < this.#probe.until) return this.#probe.bps;
      if (now < this.#probe.until + VERDICT_MS) return 0;
      this.#byDelay = Math.max(this.#byDelay, this.#probe.bps);
      this.#byLoss = Math.max(this.#byLoss, this.#probe.bps);
      this.#probe = undefined;
      this.#probeWait = PROBE_WAIT_MS_MIN;
      this.#nextProbeAt = now + this.#probeWait;
    }
    if (wantedBps <= this.bitsPerSecond || now < this.#nextProbeAt || now - this.#congestedAt < QUIET_MS) return 0;
    this.#probe = { until: now + PROBE_MS, bps: wantedBps };
    return wantedBps;
  }
}
