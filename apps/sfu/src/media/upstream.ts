import type { PathLoss } from './loss-window.ts';
import { PacketCache } from './packet-cache.ts';
import { RateMeter } from './rate-meter.ts';
import { middleNtp, type ReceptionReport, type SenderReport } from './rtcp.ts';
import { type RtpView, sequenceDistance, timestampDistance } from './rtp.ts';

const CACHE_PACKETS = 512;
/** Wait before the second request for a packet at least; each further wait is longer by half. */
const NACK_RETRY_MS = 30;
const NACK_BACKOFF = 1.5;
/** Of the time that a repeat takes: what is requested again sooner is on its way already. */
const NACK_REPEAT_SHARE = 1.25;
const REPEAT_SMOOTHING = 1 / 8;
/** A wider gap is a restart of the stream, not loss: requesting all of it would only add congestion. */
const GAP_MAX = 300;
/** Packets further behind than this are no reordering (RFC 3550 A.1). */
const MISORDER_MAX = 100;
/** So old may a packet be that was requested twice and comes twice. */
const DUPLICATE_SECONDS_MAX = 2;
/** Give up on a packet after this and request a key frame: no receiver can decode on without it. */
const NACK_AGE_MS_MAX = 700;

interface Missing {
  since: number;
  dueAt: number;
  waitMs: number;
}

/** One incoming RTP stream: its sequence, loss, jitter and bit rate, and the cache for retransmission. */
export class Upstream {
  readonly ssrc: number;
  readonly clockRate: number;
  readonly cache: PacketCache | undefined;
  #isStarted = false;
  #highest = 0;
  /** Of the packet with the highest number; signed, to fit the object itself. */
  #newestTimestamp = 0;
  /** It ended its picture, or is padding behind that. */
  #isPictureOver = false;
  /** What follows a packet from far behind: if it comes, the source has restarted. */
  #restartsWith = -1;
  #cycles = 0;
  #base = 0;
  #received = 0;
  #jitter = 0;
  #lastTransit = 0;
  #expectedBefore = 0;
  #receivedBefore = 0;
  readonly rate = new RateMeter();
  #lossPercent = 0;
  #expectedOnPath = 0;
  #missedOnPath = 0;
  readonly #missing = new Map<number, Missing>();
  /** From the first request of a packet until it comes: the round trip, and what the sender takes beside it. */
  #repeatMs = 0;
  lastSenderReport: (SenderReport & { at: number }) | undefined;

  constructor(ssrc: number, clockRate: number, hasCache: boolean) {
    this.ssrc = ssrc;
    this.clockRate = clockRate;
    this.cache = hasCache ? new PacketCache(CACHE_PACKETS) : undefined;
  }

  /** The source restarted its numbers: what comes does not continue what was. Cleared by who restarts the forwarding. */
  hasRestarted = false;

  /** False for a packet that came before. `isRepeat`: it came by RTX, perhaps only to probe the path with it. */
  receive(view: RtpView, now: number, isRepeat = false): boolean {
    const { sequence } = view;
    if (!isRepeat) this.#measure(view, now);
    if (!this.#isStarted) this.#start(view, now);
    else {
      const ahead = sequenceDistance(this.#highest, sequence);
      if (ahead <= 0 && !this.#takeLate(sequence, ahead, now)) return !isRepeat && this.#takeRestart(view, ahead, now);
      if (isRepeat) this.#measure(view, now);
      if (ahead > 0) this.#advance(view, ahead, now);
      this.hasGap = ahead > 1;
      this.#received += 1;
      this.#updateJitter(view, now);
    }
    this.cache?.put(sequence, view.buffer);
    return true;
  }

  /** A layer that is off sends only padding. */
  #measure(view: RtpView, now: number): void {
    if (isPadding(view)) return;
    this.rate.lastMediaAt = now;
    this.rate.add(view.buffer.length);
  }

  #start(view: RtpView, now: number): void {
    this.#isStarted = true;
    this.#isPictureOver = view.marker;
    this.#highest = view.sequence;
    this.#newestTimestamp = view.timestamp | 0;
    this.#base = view.sequence;
    this.#cycles = 0;
    this.#received = 1;
    this.#expectedBefore = 0;
    this.#receivedBefore = 0;
    this.#lastTransit = this.#transit(view, now);
  }

  /** Two packets in a row from far behind are a source that started over (RFC 3550 A.1), not stragglers. */
  #takeRestart(view: RtpView, ahead: number, now: number): boolean {
    const age = timestampDistance(view.timestamp, this.#newestTimestamp >>> 0) / this.clockRate;
    if (ahead >= -MISORDER_MAX || (age >= 0 && age < DUPLICATE_SECONDS_MAX)) return false;
    const isRestart = view.sequence === this.#restartsWith;
    this.#restartsWith = (view.sequence + 1) & 0xffff;
    if (!isRestart) return false;
    this.#missing.clear();
    this.cache?.clear();
    this.#start(view, now);
    this.#restartsWith = -1;
    this.hasRestarted = true;
    this.cache?.put(view.sequence, view.buffer);
    return true;
  }

  #takeLate(sequence: number, ahead: number, now: number): boolean {
    if (this.cache === undefined) return ahead > -100 && ahead < 0;
    const missing = this.#missing.get(sequence);
    if (missing) {
      this.#missing.delete(sequence);
      const tookMs = now - missing.since;
      this.#repeatMs += (tookMs - this.#repeatMs) * (this.#repeatMs === 0 ? 1 : REPEAT_SMOOTHING);
      return true;
    }
    return ahead > -GAP_MAX && this.cache.get(sequence) === undefined;
  }

  #advance(view: RtpView, ahead: number, now: number): void {
    const { sequence, timestamp, marker } = view;
    // Nobody repeats padding: to request what lies in the middle of it would end with a key frame for nothing.
    const isOfPadding = isPadding(view) && this.#isPictureOver && (timestamp | 0) === this.#newestTimestamp;
    this.#isPictureOver = marker || isOfPadding;
    this.#newestTimestamp = timestamp | 0;
    if (sequence < this.#highest) this.#cycles += 1;
    if (ahead > GAP_MAX) this.#missing.clear();
    else if (this.cache && !isOfPadding)
      for (let missed = 1; missed < ahead; missed += 1)
        this.#missing.set((this.#highest + missed) & 0xffff, { since: now, dueAt: now, waitMs: NACK_RETRY_MS });
    if (ahead <= GAP_MAX) {
      this.#expectedOnPath += ahead;
      this.#missedOnPath += ahead - 1;
    }
    this.#highest = sequence;
  }

  /** Packets expected since the last call, and how many were missing at first, whether retransmitted later or not. */
  takePathLoss(): PathLoss {
    const loss = { expected: this.#expectedOnPath, lost: this.#missedOnPath };
    this.#expectedOnPath = 0;
    this.#missedOnPath = 0;
    return loss;
  }

  #transit = (view: RtpView, now: number): number => ((now * this.clockRate) / 1000 - view.timestamp) | 0;

  /** RFC 3550 A.8. */
  #updateJitter(view: RtpView, now: number): void {
    const transit = this.#transit(view, now);
    const difference = Math.abs(timestampDistance(this.#lastTransit, transit));
    this.#lastTransit = transit;
    // A pause or a new source is no jitter.
    if (difference < this.clockRate) this.#jitter += (difference - this.#jitter) / 16;
  }

  /** A packet is lost for good: only a key frame helps. */
  hasGivenUp = false;
  /** The last packet left a gap: send a NACK at once. */
  hasGap = false;

  get hasMissing(): boolean {
    return this.#missing.size > 0;
  }

  /** Sequence numbers to request now; each is requested a few times, then dropped. `rttMs`: of the path, if it is known. */
  takeNacks(now: number, rttMs = 0): number[] {
    const due: number[] = [];
    const repeatMs = Math.max(rttMs, this.#repeatMs) * NACK_REPEAT_SHARE;
    if (now - this.rate.lastMediaAt > NACK_AGE_MS_MAX) this.#missing.clear();
    for (const [sequence, missing] of this.#missing) {
      if (now - missing.since > NACK_AGE_MS_MAX) {
        this.#missing.delete(sequence);
        this.hasGivenUp = true;
      } else if (now >= missing.dueAt) {
        missing.dueAt = now + Math.max(missing.waitMs, repeatMs);
        missing.waitMs *= NACK_BACKOFF;
        due.push(sequence);
      }
    }
    return due;
  }

  onSenderReport(report: SenderReport, now: number): void {
    this.lastSenderReport = { ...report, at: now };
  }

  /** The reception report since the last one (RFC 3550 A.3); undefined before the first packet. */
  report(now: number): ReceptionReport | undefined {
    if (!this.#isStarted) return undefined;
    const highestSequence = (((this.#cycles << 16) >>> 0) + this.#highest) >>> 0;
    const expected = this.#cycles * 65_536 + this.#highest - this.#base + 1;
    const lost = expected - this.#expectedBefore - (this.#received - this.#receivedBefore);
    const interval = expected - this.#expectedBefore;
    const fractionLost = interval <= 0 || lost <= 0 ? 0 : Math.min(255, Math.floor((lost * 256) / interval));
    this.#expectedBefore = expected;
    this.#receivedBefore = this.#received;
    this.#lossPercent = (fractionLost * 100) / 256;
    const last = this.lastSenderReport;
    return {
      ssrc: this.ssrc,
      fractionLost,
      packetsLost: expected - this.#received,
      highestSequence,
      jitter: Math.floor(this.#jitter),
      lastSenderReport: last ? middleNtp(last) : 0,
      delaySinceLastSenderReport: last ? Math.floor(((now - last.at) * 65_536) / 1000) >>> 0 : 0,
    };
  }

  get lossPercent(): number {
    return this.#lossPercent;
  }

  get jitterMs(): number {
    return (this.#jitter * 1000) / this.clockRate;
  }
}

const isPadding = ({ payloadStart, payloadEnd }: RtpView): boolean => payloadEnd === payloadStart;
