import type { PathLoss } from './loss-window.ts';
import type { PacketCache } from './packet-cache.ts';
import { newVp8Descriptor, readVp8, type Vp8Descriptor } from './payload.ts';
import { middleNtp, type ReceptionReport, type SenderReport, writeSenderReport } from './rtcp.ts';
import { newRtpView, readRtp, sequenceDistance, timestampDistance } from './rtp.ts';
import { SentHistory } from './sent-history.ts';
import { SkippedNumbers } from './skipped-numbers.ts';
import { PacketTemplate, stamp } from './template.ts';
import type { TemporalPlace } from './temporal.ts';

/** A packet on its way to the subscribers of a track, with what is the same for all of them. */
export interface ForwardedPacket {
  sequence: number;
  timestamp: number;
  /** Where the payload was in the packet that came. */
  payloadStart: number;
  template: PacketTemplate;
  /** The same without RED, for receivers that did not take it; undefined when the packet is not RED. */
  plain: PacketTemplate | undefined;
  layer: number;
  startsKeyFrame: boolean;
  vp8: Vp8Descriptor | undefined;
  temporal: TemporalPlace;
  now: number;
}

/** What a subscription needs of the track it forwards. */
export interface ForwardedTrack {
  readonly clockRate: number;
  cacheOf(layer: number): PacketCache | undefined;
  senderReportOf(layer: number): SenderReport | undefined;
  extensionIds: Parameters<PacketTemplate['build']>[3];
  requestKeyFrame(layer: number): void;
}

export interface SubscriptionIds {
  ssrc: number;
  rtxSsrc: number;
  payloadType: number;
  redPayloadType: number | undefined;
  rtxPayloadType: number | undefined;
}

/** Where packets of a subscription go. RTP is stamped on its way and must not be kept. */
export interface Outlet {
  rtp(packet: Buffer, now: number): void;
  rtcp(packet: Buffer): void;
}

const PAUSED = -1;
const EVERY_FRAME = 7;
const SEQUENCE_BITS = 16;

/** One track toward one subscriber: its own SSRC, numbers and time line, whatever layer feeds it. */
export class Subscription {
  readonly ids: SubscriptionIds;
  readonly #track: ForwardedTrack;
  readonly #outlet: Outlet;
  #target = PAUSED;
  #current = PAUSED;
  /** Layer of the last packet sent, kept while paused. */
  #last = PAUSED;
  #isStarted = false;
  #sequenceOffset = 0;
  /** Times are signed here: what fits 31 bits and a sign is kept in the object itself, not in a box of its own. */
  #timestampOffset = 0;
  #pictureIdOffset = 0;
  #tl0Offset = 0;
  #lastSequence: number;
  #lastTimestamp = 0;
  #lastSentAt = 0;
  /** Of the packet being forwarded, and of the newest one sent. */
  #pictureId = 0;
  #tl0 = 0;
  #lastPictureId = 0;
  #lastTl0 = 0;
  /** Packets of the current layer before this one belong to another time. */
  #floor = 0;
  /** Highest temporal layer that is wished, and that goes out now. */
  #temporalLimit = EVERY_FRAME;
  #temporal = EVERY_FRAME;
  /** Newest packet of the current layer and its frame, as the publisher numbers them, and whether it is left out. */
  #newest = 0;
  #frame = -1;
  #isFrameSkipped = false;
  /** Made when the first frame is left out: most subscribers take them all. */
  #skipped: SkippedNumbers | undefined;
  #skippedPictures: SkippedNumbers | undefined;
  #rtxSequence: number;
  readonly #history: SentHistory | undefined;
  packets = 0;
  octets = 0;
  /** Numbers that went by without a packet, because it never came to us; since the last report. */
  #holes = 0;
  #heard: { highest: number; lost: number } | undefined;
  #lastReport: { middle: number; at: number } | undefined;
  rttMs: number | null = null;
  lossPercent: number | null = null;
  jitterMs: number | null = null;

  constructor(track: ForwardedTrack, ids: SubscriptionIds, outlet: Outlet, random: () => number) {
    this.#track = track;
    this.ids = ids;
    this.#outlet = outlet;
    this.#lastSequence = Math.floor(random() * 0x7fff);
    this.#rtxSequence = Math.floor(random() * 0x7fff);
    this.#history = ids.rtxPayloadType === undefined ? undefined : new SentHistory();
  }

  /** Takes the place of another on the same SSRC: numbers and time go on where those ended. */
  follow(before: Subscription): void {
    this.#isStarted = before.#isStarted;
    this.#lastSequence = before.#lastSequence;
    this.#lastTimestamp = before.#lastTimestamp;
    this.#lastSentAt = before.#lastSentAt;
    this.#lastPictureId = before.#lastPictureId;
    this.#lastTl0 = before.#lastTl0;
    this.#rtxSequence = before.#rtxSequence;
  }

  /** Layer wanted from now on; -1 pauses. The change shows at the next key frame. */
  setTarget(layer: number): void {
    this.#target = layer;
    if (layer === PAUSED) this.#current = PAUSED;
    else if (layer !== this.#current) this.#track.requestKeyFrame(layer);
  }

  /** Frames of higher temporal layers are left out. More of them come back where the stream allows it. */
  setTemporalLimit(layer: number): void {
    this.#temporalLimit = layer;
  }

  get target(): number {
    return this.#target;
  }

  get current(): number {
    return this.#current;
  }

  /** True while a key frame of the target is awaited. */
  get isSwitching(): boolean {
    return this.#target !== PAUSED && this.#target !== this.#current;
  }

  /** Nothing more of the current layer, new or repeated: what waits on the way must drain before a key frame gets through. */
  letGo(): void {
    this.#current = PAUSED;
    this.#history?.clear();
  }

  /** The source of the current layer was replaced: nothing of it goes on before its next key frame. */
  restart(): void {
    this.#current = PAUSED;
    this.#last = PAUSED;
    if (this.#target !== PAUSED) this.#track.requestKeyFrame(this.#target);
  }

  forward(packet: ForwardedPacket): void {
    if (packet.layer !== this.#current) {
      if (packet.layer !== this.#target || !packet.startsKeyFrame) return;
      this.#switch(packet);
    } else {
      const ahead = sequenceDistance(this.#floor, packet.sequence);
      if (ahead < 0) return;
      if (ahead > 8192) this.#floor = (packet.sequence - 4096) & 0xffff;
      if (this.#skips(packet)) return;
    }
    const skipped = this.#skipped?.before(packet.sequence) ?? 0;
    const sequence = (packet.sequence + this.#sequenceOffset - skipped) & 0xffff;
    const timestamp = (packet.timestamp + this.#timestampOffset) | 0;
    const isPlain = packet.plain !== undefined && this.ids.redPayloadType === undefined;
    const template = (isPlain && packet.plain) || packet.template;
    if (packet.vp8) this.#stampVp8(packet.vp8, template, packet.payloadStart);
    const ahead = sequenceDistance(this.#lastSequence, sequence);
    this.#holes += ahead > 0 ? ahead - 1 : -1;
    if (ahead > 0) {
      this.#lastSequence = sequence;
      this.#lastTimestamp = timestamp;
      this.#lastSentAt = packet.now;
      this.#lastPictureId = this.#pictureId;
      this.#lastTl0 = this.#tl0;
    }
    this.#history?.put(sequence, packet.sequence, packet.layer, timestamp, this.#pictureId, this.#tl0);
    const isRed = packet.plain !== undefined && !isPlain;
    const payloadType = isRed ? (this.ids.redPayloadType ?? 0) : this.ids.payloadType;
    stamp(template.packet, payloadType, sequence, timestamp, this.ids.ssrc);
    this.packets += 1;
    this.octets += template.packet.length;
    this.#outlet.rtp(template.packet, packet.now);
  }

  /** Whether a packet belongs to a frame above the wished rate; its numbers are then taken by the next. */
  #skips({ sequence, timestamp, vp8, temporal, startsKeyFrame }: ForwardedPacket): boolean {
    // A late packet fills a gap that the subscriber has seen already.
    if (sequenceDistance(this.#newest, sequence) <= 0) return false;
    this.#newest = sequence;
    if (timestamp !== this.#frame) {
      this.#frame = timestamp;
      this.#isFrameSkipped = !this.#takesFrame(temporal, startsKeyFrame);
    }
    if (!this.#isFrameSkipped) return false;
    this.#skipped ??= new SkippedNumbers(SEQUENCE_BITS);
    this.#skipped.add(sequence);
    if (vp8 && vp8.pictureIdAt > 0) this.#skipPicture(vp8);
    return true;
  }

  #skipPicture({ pictureId, pictureIdBits }: Vp8Descriptor): void {
    this.#skippedPictures ??= new SkippedNumbers(pictureIdBits);
    if (pictureId !== this.#skippedPictures.last) this.#skippedPictures.add(pictureId);
  }

  /** Fewer frames at any time; more of them only from where they need nothing that was left out. */
  #takesFrame({ layer, startsLayer, opensHigher }: TemporalPlace, isKeyFrame: boolean): boolean {
    const limit = this.#temporalLimit;
    if (limit < this.#temporal || isKeyFrame) this.#temporal = limit;
    else if (startsLayer && layer > this.#temporal && layer <= limit) this.#temporal = layer;
    const isTaken = layer <= this.#temporal;
    if (isTaken && opensHigher) this.#temporal = limit;
    return isTaken;
  }

  #switch(packet: ForwardedPacket): void {
    const { sequence, timestamp, vp8, layer, now } = packet;
    this.#skipped = undefined;
    this.#skippedPictures = undefined;
    this.#temporal = this.#temporalLimit;
    this.#newest = sequence;
    this.#frame = timestamp;
    this.#isFrameSkipped = false;
    this.#sequenceOffset = (this.#lastSequence + 1 - sequence) & 0xffff;
    if (this.#isStarted && layer !== this.#last)
      this.#timestampOffset = (this.#continuedTimestamp(layer, timestamp, now) - timestamp) | 0;
    else if (!this.#isStarted) this.#timestampOffset = 0;
    if (vp8) {
      this.#pictureIdOffset = this.#isStarted ? this.#lastPictureId + 1 - vp8.pictureId : 0;
      this.#tl0Offset = this.#isStarted ? this.#lastTl0 + 1 - vp8.tl0PicIdx : 0;
    }
    this.#isStarted = true;
    this.#floor = sequence;
    this.#current = layer;
    this.#last = layer;
  }

  /** The time line goes on: by the sender reports of both layers where they are known, else by our own clock. */
  #continuedTimestamp(layer: number, timestamp: number, now: number): number {
    const elapsed = Math.max(1, Math.round(((now - this.#lastSentAt) * this.#track.clockRate) / 1000));
    const byClock = (this.#lastTimestamp + elapsed) >>> 0;
    const before = this.#last === PAUSED ? undefined : this.#track.senderReportOf(this.#last);
    const after = this.#track.senderReportOf(layer);
    if (!before || !after) return byClock;
    const seconds =
      ntpSeconds(after) - ntpSeconds(before) + timestampDistance(after.rtpTimestamp, timestamp) / this.#track.clockRate;
    const inOld = (before.rtpTimestamp + Math.round(seconds * this.#track.clockRate)) >>> 0;
    const byReports = (inOld + this.#timestampOffset) >>> 0;
    const isSane =
      timestampDistance(this.#lastTimestamp, byReports) > 0 &&
      Math.abs(timestampDistance(byClock, byReports)) < this.#track.clockRate;
    return isSane ? byReports : byClock;
  }

  #stampVp8(vp8: Vp8Descriptor, template: PacketTemplate, payloadStart: number): void {
    const shift = template.payloadStart - payloadStart;
    if (vp8.pictureIdAt > 0) {
      const pictureId = vp8.pictureId + this.#pictureIdOffset - (this.#skippedPictures?.before(vp8.pictureId) ?? 0);
      this.#pictureId = pictureId & (vp8.pictureIdBits === 15 ? 0x7fff : 0x7f);
      writePictureId(template.packet, vp8.pictureIdAt + shift, vp8.pictureIdBits, this.#pictureId);
    }
    if (vp8.tl0PicIdxAt > 0) {
      this.#tl0 = (vp8.tl0PicIdx + this.#tl0Offset) & 0xff;
      template.packet[vp8.tl0PicIdxAt + shift] = this.#tl0;
    }
  }

  /** Repeats what the subscriber missed, on the retransmission stream where it took one. */
  resend(sequences: readonly number[], isVp8: boolean, now: number): number {
    let sent = 0;
    for (const sequence of sequences) {
      const slot = this.#history?.find(sequence, now) ?? -1;
      const packet = slot < 0 ? undefined : this.#history?.packetOf(slot, this.#track);
      if (packet && this.#resendOne(packet, slot, sequence, isVp8, now)) sent += 1;
    }
    return sent;
  }

  #resendOne(packet: Buffer, slot: number, sequence: number, isVp8: boolean, now: number): boolean {
    const history = this.#history;
    const { rtxPayloadType, rtxSsrc } = this.ids;
    if (!history || rtxPayloadType === undefined || !readRtp(packet, rtxView)) return false;
    const { payloadStart, payloadEnd } = rtxView;
    if (!rtxTemplate.build(rtxView, payloadStart, payloadEnd, this.#track.extensionIds, now, 2)) return false;
    const bytes = rtxTemplate.packet;
    const at = rtxTemplate.payloadStart - 2;
    bytes[at] = sequence >> 8;
    bytes[at + 1] = sequence & 0xff;
    if (isVp8 && readVp8(packet, payloadStart, payloadEnd, rtxVp8)) {
      const shift = rtxTemplate.payloadStart - payloadStart;
      if (rtxVp8.pictureIdAt > 0)
        writePictureId(bytes, rtxVp8.pictureIdAt + shift, rtxVp8.pictureIdBits, history.pictureId(slot));
      if (rtxVp8.tl0PicIdxAt > 0) bytes[rtxVp8.tl0PicIdxAt + shift] = history.tl0(slot);
    }
    this.#rtxSequence = (this.#rtxSequence + 1) & 0xffff;
    stamp(bytes, rtxPayloadType, this.#rtxSequence, history.timestamp(slot), rtxSsrc);
    this.#outlet.rtp(bytes, now);
    return true;
  }

  /** One packet of nothing on the retransmission stream: how we ask the path whether it bears more. */
  sendPadding(now: number): number {
    if (this.ids.rtxPayloadType === undefined || !this.#isStarted) return 0;
    const packet = paddingPacket(now);
    this.#rtxSequence = (this.#rtxSequence + 1) & 0xffff;
    stamp(packet, this.ids.rtxPayloadType, this.#rtxSequence, this.#lastTimestamp, this.ids.rtxSsrc);
    this.#outlet.rtp(packet, now);
    return packet.length;
  }

  /** The publisher's report, moved to our time line: what keeps lips and sound together. */
  onSenderReport(report: SenderReport, layer: number, now: number): void {
    if (layer !== this.#current) return;
    const rtpTimestamp = (report.rtpTimestamp + this.#timestampOffset) >>> 0;
    this.#lastReport = { middle: middleNtp(report), at: now };
    this.#outlet.rtcp(writeSenderReport({ ...report, ssrc: this.ids.ssrc, rtpTimestamp }, this.packets, this.octets));
  }

  /** What was lost on the path since the last report. */
  onReceptionReport(report: ReceptionReport, now: number): PathLoss {
    const before = this.#heard ?? { highest: report.highestSequence, lost: report.packetsLost };
    this.#heard = { highest: report.highestSequence, lost: report.packetsLost };
    this.lossPercent = (report.fractionLost * 100) / 256;
    this.jitterMs = (report.jitter * 1000) / this.#track.clockRate;
    if (this.#lastReport?.middle === report.lastSenderReport && report.lastSenderReport !== 0) {
      const rtt = now - this.#lastReport.at - (report.delaySinceLastSenderReport * 1000) / 65_536;
      if (rtt >= 0 && rtt < 60_000) this.rttMs = rtt;
    }
    const expected = timestampDistance(before.highest, report.highestSequence);
    const lost = report.packetsLost - before.lost - this.#holes;
    this.#holes = 0;
    return { expected: Math.max(0, expected), lost: Math.max(0, lost) };
  }
}

const rtxTemplate = new PacketTemplate();
const rtxView = newRtpView();
const rtxVp8 = newVp8Descriptor();
const paddingTemplate = new PacketTemplate();
const emptyView = newRtpView();
const PADDING_BYTES = 255;

function paddingPacket(now: number): Buffer {
  const source = Buffer.alloc(PADDING_BYTES);
  source[PADDING_BYTES - 1] = PADDING_BYTES;
  emptyView.buffer = source;
  paddingTemplate.build(emptyView, 0, PADDING_BYTES, {}, now);
  paddingTemplate.packet[0] = 0xb0;
  return paddingTemplate.packet;
}

function writePictureId(bytes: Buffer, at: number, bits: number, pictureId: number): void {
  if (bits === 15) {
    bytes[at] = 0x80 | (pictureId >> 8);
    bytes[at + 1] = pictureId & 0xff;
  } else bytes[at] = pictureId & 0x7f;
}

const ntpSeconds = (report: SenderReport): number => report.ntpSeconds + report.ntpFraction / 2 ** 32;
