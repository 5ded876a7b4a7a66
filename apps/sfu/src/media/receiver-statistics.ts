import type { PathLoss } from './loss-window.ts';
import { middleNtp, type ReceptionReport, type SenderReport } from './rtcp.ts';
import { timestampDistance } from './rtp.ts';

const RTT_MS_MAX = 60_000;

/** What the reception reports of a subscriber say of one stream. */
export class ReceiverStatistics {
  readonly #clockRate: number;
  #last: { highest: number; lost: number } | undefined;
  #lastSent: { middle: number; at: number } | undefined;
  rttMs: number | null = null;
  lossPercent: number | null = null;
  jitterMs: number | null = null;
  /** Since the first report. */
  expected = 0;
  lost = 0;

  constructor(clockRate: number) {
    this.#clockRate = clockRate;
  }

  /** A sender report went out: the next reception report refers to it. */
  onSent(report: SenderReport, now: number): void {
    this.#lastSent = { middle: middleNtp(report), at: now };
  }

  /** Loss on the path since the last report; `gaps` are packets that never reached the node itself. */
  onReport(report: ReceptionReport, gaps: number, now: number): PathLoss {
    const before = this.#last ?? { highest: report.highestSequence, lost: report.packetsLost };
    this.#last = { highest: report.highestSequence, lost: report.packetsLost };
    this.lossPercent = (report.fractionLost * 100) / 256;
    this.jitterMs = (report.jitter * 1000) / this.#clockRate;
    if (this.#lastSent?.middle === report.lastSenderReport && report.lastSenderReport !== 0) {
      const rttMs = now - this.#lastSent.at - (report.delaySinceLastSenderReport * 1000) / 65_536;
      if (rttMs >= 0 && rttMs < RTT_MS_MAX) this.rttMs = rttMs;
    }
    const expected = Math.max(0, timestampDistance(before.highest, report.highestSequence));
    const lost = Math.max(0, report.packetsLost - before.lost - gaps);
    this.expected += expected;
    this.lost += lost;
    return { expected, lost };
  }
}
