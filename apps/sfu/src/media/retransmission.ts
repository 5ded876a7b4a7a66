import type { Extensions } from '@parley/media-description';
import type { PacketCache } from './packet-cache.ts';
import { newVp8Descriptor, readVp8, writePictureId } from './payload.ts';
import { newRtpView, readRtp } from './rtp.ts';
import { OSN_BYTES } from './rtx.ts';
import { PacketTemplate, stamp } from './template.ts';

const HISTORY_PACKETS = 1024;
/** The same packet is not repeated twice within this time, or most of a round trip, however often it is requested. */
const RESEND_MS_MIN = 30;
const ROUND_TRIP_SHARE = 0.75;

/** Words of a record: numbers out and in, timestamp, place (layer, picture id, TL0), and when it was last repeated. */
const RECORD_WORDS = 4;
const NUMBERS = 0;
const NUMBER_BITS = 16;
const TIMESTAMP = 1;
const PLACE = 2;
const RESENT_AT = 3;
const LAYER_SHIFT = 24;
const PICTURE_SHIFT = 8;
/** In place of a picture id, which only VP8 has: the packet went out as the last of its picture. */
export const ENDS_PICTURE = 1;

const PADDING_BYTES = 255;

/** Where packets of a subscription go. RTP is stamped on its way and must not be kept. */
export interface Outlet {
  rtp(packet: Buffer, now: number): void;
  rtcp(packet: Buffer): void;
}

/** What repeats may cost the path. */
export interface ResendBudget {
  take(bytes: number, now: number): boolean;
}

/** The stream that carries the repeats: one of its own (RTX), or the track's for receivers without it. */
export interface RepeatStream {
  ssrc: number;
  payloadType: number;
  /** Of the packet before the first; undefined where packets keep their own numbers. */
  sequence: number | undefined;
}

/** The track whose packets are repeated. */
export interface RetransmittedTrack {
  cacheOf(layer: number): PacketCache | undefined;
  readonly extensionIds: Extensions;
  readonly kind: 'audio' | 'video';
}

/**
 * The repeats of a subscription, as RTX (RFC 4588) where it is accepted, and the history of what was sent under which number: one record a packet,
 * overwritten in turn. A record lies in one piece, four of them in a cache line: with many subscribers every line
 * touched is one fetched from memory.
 */
export class Retransmission {
  readonly #history = new Uint32Array(HISTORY_PACKETS * RECORD_WORDS);
  readonly #track: RetransmittedTrack;
  readonly #ssrc: number;
  readonly #payloadType: number;
  readonly #outlet: Outlet;
  #sequence: number | undefined;

  constructor(track: RetransmittedTrack, { ssrc, payloadType, sequence }: RepeatStream, outlet: Outlet) {
    this.#track = track;
    this.#ssrc = ssrc;
    this.#payloadType = payloadType;
    this.#sequence = sequence;
    this.#outlet = outlet;
  }

  /** Takes the place of another on the same SSRC. */
  follow(before: Retransmission): void {
    this.#sequence = before.#sequence;
  }

  record(out: number, sequence: number, layer: number, timestamp: number, pictureId: number, tl0: number): void {
    const history = this.#history;
    const at = recordOf(out);
    history[at + NUMBERS] = (out << NUMBER_BITS) | sequence;
    history[at + TIMESTAMP] = timestamp;
    // One more than the layer: a record of zeros holds nothing.
    history[at + PLACE] = ((layer + 1) << LAYER_SHIFT) | (pictureId << PICTURE_SHIFT) | tl0;
    history[at + RESENT_AT] = 0;
  }

  clear(): void {
    this.#history.fill(0);
  }

  /** Repeats what the subscriber requested, as far as the budget goes; how many packets. They leave `delayMs` later. */
  resend(
    sequences: readonly number[],
    isVp8: boolean,
    now: number,
    rttMs: number,
    budget: ResendBudget,
    delayMs = 0,
  ): number {
    const waitMs = Math.max(RESEND_MS_MIN, rttMs * ROUND_TRIP_SHARE);
    let sent = 0;
    for (const sequence of sequences) {
      const at = this.#find(sequence, waitMs, now);
      const packet = at < 0 ? undefined : this.#packetOf(at);
      if (packet && !budget.take(packet.length, now)) return sent;
      if (at >= 0) this.#history[at + RESENT_AT] = Math.ceil(now + delayMs) >>> 0 || 1;
      if (packet && this.#resendOne(packet, at, sequence, isVp8, now)) sent += 1;
    }
    return sent;
  }

  /** Record of a packet that may be repeated now, or -1. */
  #find(out: number, waitMs: number, now: number): number {
    const at = recordOf(out);
    if (this.#word(at, NUMBERS) >>> NUMBER_BITS !== out || this.#word(at, PLACE) === 0) return -1;
    // Whole milliseconds on a circle of 32 bits, which a process may outlive.
    const nowMs = Math.ceil(now);
    const resentAt = this.#word(at, RESENT_AT);
    // Signed: it may be about to leave.
    if (resentAt !== 0 && ((nowMs - resentAt) | 0) <= waitMs) return -1;
    return at;
  }

  #word = (at: number, word: number): number => this.#history[at + word] ?? 0;

  #packetOf = (at: number): Buffer | undefined =>
    this.#track.cacheOf((this.#word(at, PLACE) >>> LAYER_SHIFT) - 1)?.get(this.#word(at, NUMBERS) & 0xffff);

  #resendOne(packet: Buffer, at: number, sequence: number, isVp8: boolean, now: number): boolean {
    if (!readRtp(packet, view)) return false;
    const { payloadStart, payloadEnd } = view;
    const isRtx = this.#sequence !== undefined;
    const osnBytes = isRtx ? OSN_BYTES : 0;
    if (!template.build(view, payloadStart, payloadEnd, this.#track.extensionIds, now, osnBytes)) return false;
    const bytes = template.packet;
    if (isRtx) bytes.writeUInt16BE(sequence, template.payloadStart - OSN_BYTES);
    if (isVp8 && readVp8(packet, payloadStart, payloadEnd, vp8)) {
      const shift = template.payloadStart - payloadStart;
      const place = this.#word(at, PLACE);
      if (vp8.pictureIdAt > 0)
        writePictureId(bytes, vp8.pictureIdAt + shift, vp8.pictureIdBits, (place >>> PICTURE_SHIFT) & 0x7fff);
      if (vp8.tl0PicIdxAt > 0) bytes[vp8.tl0PicIdxAt + shift] = place & 0xff;
    }
    if (!isVp8 && ((this.#word(at, PLACE) >>> PICTURE_SHIFT) & ENDS_PICTURE) !== 0) bytes[1] = 0x80;
    this.#send(bytes, sequence, this.#word(at, TIMESTAMP), now);
    return true;
  }

  #send(packet: Buffer, own: number, timestamp: number, now: number): void {
    if (this.#sequence !== undefined) this.#sequence = (this.#sequence + 1) & 0xffff;
    stamp(packet, this.#payloadType, this.#sequence ?? own, timestamp, this.#ssrc);
    this.#outlet.rtp(packet, now);
  }

  /** One packet of padding, which probes whether the path carries more; its bytes. The track's own stream takes none. */
  sendPadding(timestamp: number, now: number): number {
    if (this.#sequence === undefined) return 0;
    const packet = paddingPacket(now);
    this.#send(packet, 0, timestamp, now);
    return packet.length;
  }
}

const recordOf = (out: number): number => (out & (HISTORY_PACKETS - 1)) * RECORD_WORDS;

const template = new PacketTemplate();
const view = newRtpView();
const vp8 = newVp8Descriptor();
const paddingTemplate = new PacketTemplate();
const paddingView = newRtpView();

function paddingPacket(now: number): Buffer {
  const source = Buffer.alloc(PADDING_BYTES);
  source[PADDING_BYTES - 1] = PADDING_BYTES;
  paddingView.buffer = source;
  paddingTemplate.build(paddingView, 0, PADDING_BYTES, {}, now);
  // The padding bit beside version and extension.
  paddingTemplate.packet[0] = 0xb0;
  return paddingTemplate.packet;
}
