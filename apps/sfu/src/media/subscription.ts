import type { Codec } from '@parley/media-description';
import type { ForwardedPacket } from './forwarded-packet.ts';
import type { PathLoss } from './loss-window.ts';
import { type Vp8Descriptor, writePictureId } from './payload.ts';
import { ReceiverStatistics } from './receiver-statistics.ts';
import {
  ENDS_PICTURE,
  type Outlet,
  type ResendBudget,
  Retransmission,
  type RetransmittedTrack,
} from './retransmission.ts';
import { ntpSeconds, type ReceptionReport, type SenderReport, writeSenderReport } from './rtcp.ts';
import { sequenceDistance, timestampDistance } from './rtp.ts';
import { writeActiveTargets } from './svc/active-targets.ts';
import { SvcFilter } from './svc/svc-filter.ts';
import type { SvcPlace } from './svc/svc-place.ts';
import { type PacketTemplate, replaceDescriptor, stamp } from './template.ts';
import { EVERY_FRAME } from './temporal.ts';
import { TemporalFilter } from './temporal-filter.ts';

/** What a subscription needs of the track it forwards. */
export interface ForwardedTrack extends RetransmittedTrack {
  readonly clockRate: number;
  senderReportOf(layer: number): SenderReport | undefined;
  requestKeyFrame(layer: number): void;
}

interface SubscriptionIds {
  readonly ssrc: number;
  readonly rtxSsrc: number;
  readonly payloadType: number;
  /** Undefined: RED is unwrapped for this subscriber. */
  redPayloadType: number | undefined;
  /** Undefined: packets are repeated on the stream itself. */
  rtxPayloadType: number | undefined;
}

const PAUSED = -1;
/** Sequence numbers behind which the floor follows, so that it stays on the near half of their circle. */
const FLOOR_DISTANCE_MAX = 8192;

/** One track toward one subscriber: its own SSRC, sequence numbers and timeline, whichever layer feeds it. */
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
  /** Times are signed here: what fits 31 bits and a sign is kept in the object itself, not on the heap. */
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
  /** Packets of the current layer older than this precede the switch to it. */
  #floor = 0;
  /** Only for a subscriber that limits its frame rate. */
  #filter: TemporalFilter | undefined;
  /** Only for a stream that carries several layers: it has both jobs then. */
  #svc: SvcFilter | undefined;
  #retransmission: Retransmission | undefined;
  /** The client cannot decode the track: nothing is sent until there is a backup. */
  isUndecodable = false;
  packets = 0;
  octets = 0;
  /** Sequence numbers without a packet, because it never reached the node; since the last report. */
  #gaps = 0;
  readonly statistics: ReceiverStatistics;

  constructor(track: ForwardedTrack, ids: SubscriptionIds, outlet: Outlet, random: () => number) {
    this.#track = track;
    this.ids = ids;
    this.#outlet = outlet;
    this.#lastSequence = Math.floor(random() * 0x7fff);
    this.statistics = new ReceiverStatistics(track.clockRate);
    // Audio is not kept: what came too late for it is concealed.
    if (track.kind === 'video') this.#retransmission = this.#newRetransmission(Math.floor(random() * 0x7fff));
  }

  /** The codecs that the client accepted of those offered: without RED or RTX among them, neither is sent. */
  restrictTo(codecs: readonly Codec[]): void {
    if (!codecs.some(({ name }) => name === 'red')) this.ids.redPayloadType = undefined;
    if (codecs.some(({ rtx }) => rtx !== undefined)) return;
    this.ids.rtxPayloadType = undefined;
    if (this.#retransmission) this.#retransmission = this.#newRetransmission(0);
  }

  #newRetransmission(sequence: number): Retransmission {
    const { ssrc, payloadType, rtxSsrc, rtxPayloadType } = this.ids;
    const stream =
      rtxPayloadType === undefined
        ? { ssrc, payloadType, sequence: undefined }
        : { ssrc: rtxSsrc, payloadType: rtxPayloadType, sequence };
    return new Retransmission(this.#track, stream, this.#outlet);
  }

  /** Takes the place of another on the same SSRC: sequence numbers and timeline continue. */
  follow(before: Subscription): void {
    this.#isStarted = before.#isStarted;
    this.#lastSequence = before.#lastSequence;
    this.#lastTimestamp = before.#lastTimestamp;
    this.#lastSentAt = before.#lastSentAt;
    this.#lastPictureId = before.#lastPictureId;
    this.#lastTl0 = before.#lastTl0;
    if (before.#retransmission) this.#retransmission?.follow(before.#retransmission);
  }

  /** Layer wanted from now on; -1 pauses. The switch happens at the next key frame. */
  setTarget(layer: number): void {
    this.#target = layer;
    if (layer === PAUSED) this.#current = PAUSED;
    // Lower layers of the same stream may need none.
    else if (this.#svc ? layer > this.#current : layer !== this.#current) this.#track.requestKeyFrame(layer);
  }

  /** Frames of higher temporal layers are dropped. More of them return where the stream allows it. */
  setTemporalLimit(layer: number): void {
    if (this.#filter) this.#filter.limit = layer;
    else if (layer < EVERY_FRAME)
      this.#filter = new TemporalFilter(layer, {
        sequence: (this.#lastSequence - this.#sequenceOffset) & 0xffff,
        timestamp: (this.#lastTimestamp - this.#timestampOffset) >>> 0,
      });
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

  /** Sends no more of the current layer, new or repeated: a congested path must drain before a key frame gets through. */
  dropCurrentLayer(): void {
    if (this.#svc) this.#svc.isCut = true;
    else this.#current = PAUSED;
    this.#retransmission?.clear();
  }

  /** The source of the current layer was replaced: nothing of it is sent before its next key frame. */
  restart(): void {
    this.#current = PAUSED;
    this.#last = PAUSED;
    if (this.#target !== PAUSED) this.#track.requestKeyFrame(this.#target);
  }

  /** Sends the packet with this subscriber's numbers, if it is of the layer that the subscriber gets. */
  forward(packet: ForwardedPacket): void {
    if (packet.svc) {
      if (!this.#takesOfSvc(packet, packet.svc)) return;
    } else if (packet.layer !== this.#current) {
      if (packet.layer !== this.#target || !packet.startsKeyFrame) return;
      this.#switch(packet);
    } else if (this.#precedesSwitch(packet.sequence) || this.#filter?.drops(packet)) return;
    const dropped = this.#droppedBefore(packet.sequence);
    const sequence = (packet.sequence + this.#sequenceOffset - dropped) & 0xffff;
    const timestamp = (packet.timestamp + this.#timestampOffset) | 0;
    const isPlain = packet.plain !== undefined && this.ids.redPayloadType === undefined;
    const template = (isPlain && packet.plain) || packet.template;
    if (packet.vp8) this.#stampVp8(packet.vp8, template, packet.payloadStart);
    if (packet.svc) this.#markEnd(packet, packet.svc);
    this.#count(sequence, timestamp, packet.now);
    const isStray = (packet.svc ? this.#svc : this.#filter)?.isStray === true;
    if (!isStray)
      this.#retransmission?.record(sequence, packet.sequence, packet.layer, timestamp, this.#pictureId, this.#tl0);
    const isRed = packet.plain !== undefined && !isPlain;
    const payloadType = isRed ? (this.ids.redPayloadType ?? 0) : this.ids.payloadType;
    const bytes = isStray ? withoutPayload(template) : this.#bytesOf(packet, template);
    stamp(bytes, payloadType, sequence, timestamp, this.ids.ssrc);
    this.packets += 1;
    this.octets += bytes.length;
    this.#outlet.rtp(bytes, packet.now);
  }

  #bytesOf = ({ svc }: ForwardedPacket, template: PacketTemplate): Buffer =>
    (svc && this.#describe(template, svc)) ?? template.packet;

  #precedesSwitch(sequence: number): boolean {
    const ahead = sequenceDistance(this.#floor, sequence);
    if (ahead > FLOOR_DISTANCE_MAX) this.#floor = (sequence - FLOOR_DISTANCE_MAX / 2) & 0xffff;
    return ahead < 0;
  }

  #droppedBefore(sequence: number): number {
    return (this.#svc ? this.#svc.droppedBefore(sequence) : this.#filter?.sequencesBefore(sequence)) ?? 0;
  }

  /** Of a stream with several layers the subscriber gets one, with what it builds on. */
  #takesOfSvc(packet: ForwardedPacket, place: SvcPlace): boolean {
    if (this.#target === PAUSED) return false;
    this.#svc ??= new SvcFilter();
    const svc = this.#svc;
    svc.spatialLimit = this.#target;
    svc.temporalLimit = this.#filter?.limit ?? EVERY_FRAME;
    if (this.#current === PAUSED) {
      if (!packet.startsKeyFrame) return false;
      svc.start(packet, place);
      this.#switch(packet);
    } else {
      if (this.#precedesSwitch(packet.sequence)) return false;
      const isTaken = svc.takes(packet, place);
      if (svc.isStranded) this.#track.requestKeyFrame(this.#target);
      if (!isTaken) return false;
    }
    this.#current = svc.isSettled ? this.#target : svc.spatial;
    return true;
  }

  /** The packet with the layers that this subscriber gets as the active ones, where it would say others. */
  #describe(template: PacketTemplate, place: SvcPlace): Buffer | undefined {
    const { frame } = place;
    const { packet, descriptorAt } = template;
    if (!frame || descriptorAt === 0) return undefined;
    const mask = this.#svc?.takeActive(place);
    if (mask === undefined) return undefined;
    return replaceDescriptor(template, (to, at) => writeActiveTargets(packet, descriptorAt, frame, mask, to, at));
  }

  /** Receivers wait for the end of a picture: here it may come before the publisher's. */
  #markEnd({ marker, template }: ForwardedPacket, { isEnd, spatial }: SvcPlace): void {
    const isLast = marker || (isEnd && spatial === this.#svc?.spatial);
    template.packet[1] = isLast ? 0x80 : 0;
    this.#pictureId = isLast ? ENDS_PICTURE : 0;
  }

  #count(sequence: number, timestamp: number, now: number): void {
    const ahead = sequenceDistance(this.#lastSequence, sequence);
    this.#gaps += ahead > 0 ? ahead - 1 : -1;
    if (ahead <= 0) return;
    this.#lastSequence = sequence;
    this.#lastTimestamp = timestamp;
    this.#lastSentAt = now;
    this.#lastPictureId = this.#pictureId;
    this.#lastTl0 = this.#tl0;
  }

  #switch(packet: ForwardedPacket): void {
    const { sequence, timestamp, vp8, layer, now } = packet;
    if (this.#filter?.limit === EVERY_FRAME) this.#filter = undefined;
    this.#filter?.restart(packet);
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

  /** The timeline continues: by the sender reports of both layers where they are known, else by our own clock. */
  #continuedTimestamp(layer: number, timestamp: number, now: number): number {
    const { clockRate } = this.#track;
    const elapsed = Math.max(1, Math.round(((now - this.#lastSentAt) * clockRate) / 1000));
    const byClock = (this.#lastTimestamp + elapsed) >>> 0;
    const before = this.#last === PAUSED ? undefined : this.#track.senderReportOf(this.#last);
    const after = this.#track.senderReportOf(layer);
    if (!before || !after) return byClock;
    const seconds =
      ntpSeconds(after) - ntpSeconds(before) + timestampDistance(after.rtpTimestamp, timestamp) / clockRate;
    const inOld = (before.rtpTimestamp + Math.round(seconds * clockRate)) >>> 0;
    const byReports = (inOld + this.#timestampOffset) >>> 0;
    const isPlausible =
      timestampDistance(this.#lastTimestamp, byReports) > 0 &&
      Math.abs(timestampDistance(byClock, byReports)) < clockRate;
    return isPlausible ? byReports : byClock;
  }

  #stampVp8(vp8: Vp8Descriptor, template: PacketTemplate, payloadStart: number): void {
    const shift = template.payloadStart - payloadStart;
    if (vp8.pictureIdAt > 0) {
      const dropped = this.#filter?.picturesBefore(vp8.pictureId) ?? 0;
      const pictureId = vp8.pictureId + this.#pictureIdOffset - dropped;
      this.#pictureId = pictureId & (vp8.pictureIdBits === 15 ? 0x7fff : 0x7f);
      writePictureId(template.packet, vp8.pictureIdAt + shift, vp8.pictureIdBits, this.#pictureId);
    }
    if (vp8.tl0PicIdxAt > 0) {
      this.#tl0 = (vp8.tl0PicIdx + this.#tl0Offset) & 0xff;
      template.packet[vp8.tl0PicIdxAt + shift] = this.#tl0;
    }
  }

  /** Repeats what the subscriber missed; how many packets. They leave `delayMs` later. */
  resend(sequences: readonly number[], isVp8: boolean, now: number, budget: ResendBudget, delayMs = 0): number {
    return this.#retransmission?.resend(sequences, isVp8, now, this.statistics.rttMs ?? 0, budget, delayMs) ?? 0;
  }

  /** One packet of padding, which probes whether the path carries more; its bytes, 0 when none can be sent. */
  sendPadding(now: number): number {
    return this.#isStarted ? (this.#retransmission?.sendPadding(this.#lastTimestamp, now) ?? 0) : 0;
  }

  /** The publisher's report on this subscription's timeline, by which receivers keep audio and video in sync. */
  onSenderReport(report: SenderReport, layer: number, now: number): void {
    if (this.#svc ? this.#current === PAUSED : layer !== this.#current) return;
    const rtpTimestamp = (report.rtpTimestamp + this.#timestampOffset) >>> 0;
    this.statistics.onSent(report, now);
    this.#outlet.rtcp(writeSenderReport({ ...report, ssrc: this.ids.ssrc, rtpTimestamp }, this.packets, this.octets));
  }

  /** Loss on the path since the last report. */
  onReceptionReport(report: ReceptionReport, now: number): PathLoss {
    const loss = this.statistics.onReport(report, this.#gaps, now);
    this.#gaps = 0;
    return loss;
  }
}

/** A receiver takes its number for received. A lone packet of a frame would keep it from decoding those that it has. */
const withoutPayload = ({ packet, payloadStart }: PacketTemplate): Buffer => packet.subarray(0, payloadStart);
