import type { Extensions } from '@parley/media-description';
import { type Encoding, OPUS_PAYLOAD_TYPE } from './codecs.ts';
import { newVp8Descriptor, readVp8, redPrimary, retypeRed, startsKeyFrame, type Vp8Descriptor } from './payload.ts';
import type { RtpView } from './rtp.ts';
import type { SvcPlace } from './svc/svc-place.ts';
import { PacketTemplate } from './template.ts';
import { copyPlace, newTemporalPlace, readTemporal, type TemporalPlace } from './temporal.ts';

/** A packet on its way to the subscribers of a track, with what is the same for all of them. */
export interface ForwardedPacket {
  readonly sequence: number;
  readonly timestamp: number;
  /** Where the payload was in the packet that came. */
  readonly payloadStart: number;
  readonly template: PacketTemplate;
  /** The same without RED, for subscribers that did not accept it; undefined when the packet is not RED. */
  readonly plain: PacketTemplate | undefined;
  /** The simulcast layer it belongs to. */
  readonly layer: number;
  readonly startsKeyFrame: boolean;
  readonly vp8: Vp8Descriptor | undefined;
  readonly temporal: Readonly<TemporalPlace>;
  /** Else it is that of the packet that came before. */
  readonly saysTemporal: boolean;
  /** The last packet of its picture, as the publisher sent it. */
  readonly marker: boolean;
  /** Where the stream carries several spatial layers. */
  readonly svc: SvcPlace | undefined;
  readonly now: number;
}

/** A forwarded packet that is reused for packet after packet: nothing in the hot path allocates. */
export class PacketBuffer implements ForwardedPacket {
  sequence = 0;
  timestamp = 0;
  payloadStart = 0;
  readonly template = new PacketTemplate();
  plain: PacketTemplate | undefined;
  layer = 0;
  startsKeyFrame = false;
  vp8: Vp8Descriptor | undefined;
  readonly temporal = newTemporalPlace();
  saysTemporal = true;
  marker = false;
  svc: SvcPlace | undefined;
  now = 0;
  #plainTemplate: PacketTemplate | undefined;
  readonly #vp8 = newVp8Descriptor();

  /** False for a packet that cannot be forwarded. What it does not say of its frame is taken from `temporal`. */
  read(
    view: RtpView,
    { codec, red }: Encoding,
    extensionIds: Extensions,
    layer: number,
    temporal: TemporalPlace,
    now: number,
    svc?: SvcPlace,
  ): boolean {
    const { buffer, payloadStart, payloadEnd } = view;
    const { template } = this;
    if (!template.build(view, payloadStart, payloadEnd, extensionIds, now)) return false;
    this.sequence = view.sequence;
    this.timestamp = view.timestamp;
    this.payloadStart = payloadStart;
    this.layer = layer;
    this.now = now;
    this.marker = view.marker;
    this.svc = svc;
    this.startsKeyFrame = startsKeyFrame(codec.name, buffer, payloadStart, payloadEnd);
    this.vp8 = codec.name === 'VP8' && readVp8(buffer, payloadStart, payloadEnd, this.#vp8) ? this.#vp8 : undefined;
    this.saysTemporal = readTemporal(codec.name, this.vp8, buffer, payloadStart, payloadEnd, temporal);
    copyPlace(temporal, this.temporal);
    this.plain = undefined;
    return red && view.payloadType === red.pt ? this.#readRed(view, extensionIds, now) : true;
  }

  #readRed(view: RtpView, extensionIds: Extensions, now: number): boolean {
    const primary = redPrimary(view.buffer, view.payloadStart, view.payloadEnd);
    this.#plainTemplate ??= new PacketTemplate();
    if (!primary || !this.#plainTemplate.build(view, primary.start, primary.end, extensionIds, now)) return false;
    this.plain = this.#plainTemplate;
    retypeRed(this.template.packet, this.template.payloadStart, this.template.packet.length, OPUS_PAYLOAD_TYPE);
    return true;
  }
}
