import type { MediaLayer, MediaTrack, MediaTrackRequest } from '@parley/contract/media-control';
import type { Extensions } from '@parley/media-description';
import { CLOCK_RATE, type Encoding, OPUS_PAYLOAD_TYPE } from './codecs.ts';
import type { PacketCache } from './packet-cache.ts';
import { newVp8Descriptor, readVp8, redPrimary, retypeRed, startsKeyFrame, type Vp8Descriptor } from './payload.ts';
import type { SenderReport } from './rtcp.ts';
import { findExtension, type RtpView } from './rtp.ts';
import type { ForwardedPacket, ForwardedTrack, Subscription } from './subscription.ts';
import { PacketTemplate } from './template.ts';
import { FrameRates, newTemporalPlace, readTemporal } from './temporal.ts';
import { Upstream } from './upstream.ts';

/** A key frame is expensive for a publisher: at most two a second and layer, however many subscribers ask. */
const KEY_FRAME_MS_MIN = 500;
/** A layer without packets for this long is off. */
const LAYER_SILENT_MS = 2000;
/** How long a layer may take to start after the publisher was told to send it. */
const LAYER_STARTS_MS = 4000;
/** A layer that nobody took for this long may be turned off. */
const LAYER_IDLE_MS = 3000;
/** From so many subscribers on it pays to let packets wait for each other: what fewer need stays in the cache anyway. */
const CROWD_MIN = 8;
/** Packets that go on together at most: a key frame of 20 kB. */
const BURST_MAX = 16;
/** Bits per second that a layer is taken for until it was heard. */
const GUESSED_BITRATES = [150_000, 500_000, 1_500_000];

export interface PublicationEvents {
  /** Ask the publisher for a key frame of this stream. */
  keyFrameNeeded(ssrc: number): void;
  /** The first packet arrived. */
  started(): void;
  audioLevel(level: number): void;
  /** The first of some packets waits: `flush` hands them on. */
  waiting(): void;
}

/** Room for one packet of a burst, used again and again. */
interface Place {
  readonly packet: ForwardedPacket;
  /** Of a packet with RED. */
  plain: PacketTemplate | undefined;
  readonly vp8: Vp8Descriptor;
}

const newPlace = (): Place => ({
  packet: {
    sequence: 0,
    timestamp: 0,
    payloadStart: 0,
    template: new PacketTemplate(),
    plain: undefined,
    layer: 0,
    startsKeyFrame: false,
    vp8: undefined,
    temporal: newTemporalPlace(),
    now: 0,
  },
  plain: undefined,
  vp8: newVp8Descriptor(),
});

/** One simulcast layer, or the whole track where there is none. */
export interface Layer {
  readonly rid: string;
  readonly width: number | null;
  readonly height: number | null;
  readonly declaredBitrate: number | null;
  upstream: Upstream | undefined;
  readonly frameRates: FrameRates;
  /** Bits per second when it was last on long enough to tell. */
  knownBitrate: number | undefined;
  isKeyFrameWanted: boolean;
  keyFrameAskedAt: number;
  /** What the publisher was told last: whether anybody takes this layer. */
  isEnabled: boolean;
  enabledAt: number;
  /** Since when nobody takes it. */
  idleSince: number;
}

/** A published track: takes packets of its layers in, and hands each to its subscriptions. */
export class Publication implements ForwardedTrack {
  readonly id: string;
  readonly request: MediaTrackRequest;
  readonly kind: 'audio' | 'video';
  readonly clockRate: number;
  readonly layers: readonly Layer[];
  readonly publishedAt: number;
  encoding: Encoding;
  mid: string;
  extensionIds: Extensions;
  isMuted: boolean;
  isMutedByServer = false;
  isStarted = false;
  readonly #events: PublicationEvents;
  readonly #subscriptions: Subscription[] = [];
  /** The first `#waiting` of them hold a packet. */
  readonly #places: Place[] = [];
  #waiting = 0;
  readonly #temporal = newTemporalPlace();

  constructor(init: {
    id: string;
    request: MediaTrackRequest;
    encoding: Encoding;
    mid: string;
    rids: readonly string[];
    extensionIds: Extensions;
    publishedAt: number;
    events: PublicationEvents;
  }) {
    const { id, request, encoding, mid, rids, extensionIds, publishedAt, events } = init;
    this.id = id;
    this.request = request;
    this.kind = request.kind === 'AUDIO' ? 'audio' : 'video';
    this.clockRate = CLOCK_RATE[this.kind];
    this.encoding = encoding;
    this.mid = mid;
    this.extensionIds = extensionIds;
    this.publishedAt = publishedAt;
    this.isMuted = request.muted ?? false;
    this.#events = events;
    this.layers = (rids.length > 0 ? rids : ['']).map((rid, index) => this.#newLayer(rid, index));
  }

  #newLayer(rid: string, index: number): Layer {
    const declared = this.request.layers?.find((layer) => layer.rid === rid) ?? this.request.layers?.[index];
    return {
      rid,
      width: declared?.width ?? null,
      height: declared?.height ?? null,
      declaredBitrate: declared?.bitrate ?? null,
      upstream: undefined,
      frameRates: new FrameRates(),
      knownBitrate: undefined,
      isKeyFrameWanted: false,
      keyFrameAskedAt: Number.NEGATIVE_INFINITY,
      isEnabled: true,
      enabledAt: Number.NEGATIVE_INFINITY,
      idleSince: Number.POSITIVE_INFINITY,
    };
  }

  get subscriptions(): readonly Subscription[] {
    return this.#subscriptions;
  }

  subscribe(subscription: Subscription): void {
    if (!this.#subscriptions.includes(subscription)) this.#subscriptions.push(subscription);
  }

  unsubscribe(subscription: Subscription): void {
    const index = this.#subscriptions.indexOf(subscription);
    if (index >= 0) this.#subscriptions.splice(index, 1);
  }

  /** The stream that feeds a layer from now on; undefined for a layer that this track does not have. */
  bind(ssrc: number, rid: string | undefined): { layer: number; upstream: Upstream } | undefined {
    const index = this.layers.length === 1 ? 0 : this.layers.findIndex((layer) => layer.rid === rid);
    const layer = this.layers[index];
    if (!layer) return undefined;
    const isReplaced = layer.upstream !== undefined;
    // What waits has the numbers of the stream that ends.
    if (isReplaced) this.flush();
    layer.upstream = new Upstream(ssrc, this.clockRate, this.kind === 'video');
    if (isReplaced)
      for (const subscription of this.#subscriptions)
        if (subscription.current === index || subscription.target === index) subscription.restart();
    return { layer: index, upstream: layer.upstream };
  }

  /** The transport was replaced: another description of the same track. */
  rebind(mid: string, encoding: Encoding, extensionIds: Extensions): void {
    this.mid = mid;
    this.encoding = encoding;
    this.extensionIds = extensionIds;
  }

  receive(view: RtpView, index: number, now: number): void {
    const layer = this.layers[index];
    if (!layer?.upstream?.receive(view, now)) return;
    if (!this.isStarted) {
      this.isStarted = true;
      this.#events.started();
    }
    if (this.isMutedByServer) return;
    if (this.kind === 'audio') this.#readLevel(view);
    if (this.#subscriptions.length > 0) this.#enqueue(view, layer, index, now);
  }

  #readLevel(view: RtpView): void {
    const at = findExtension(view, this.extensionIds.audioLevel);
    if (at >= 0) this.#events.audioLevel((view.buffer[at] ?? 127) & 0x7f);
  }

  #enqueue(view: RtpView, layer: Layer, index: number, now: number): void {
    if (this.#waiting === BURST_MAX) this.flush();
    this.#places[this.#waiting] ??= newPlace();
    const place = this.#places[this.#waiting];
    if (!place || !this.#fill(place, view, layer, index, now)) return;
    this.#waiting += 1;
    if (this.#subscriptions.length < CROWD_MIN) this.flush();
    else if (this.#waiting === 1) this.#events.waiting();
  }

  /** False for a packet that cannot go on. */
  #fill(place: Place, view: RtpView, layer: Layer, index: number, now: number): boolean {
    const { codec, red } = this.encoding;
    const { buffer, payloadStart, payloadEnd } = view;
    const { packet, vp8 } = place;
    const { template } = packet;
    if (!template.build(view, payloadStart, payloadEnd, this.extensionIds, now)) return false;
    packet.sequence = view.sequence;
    packet.timestamp = view.timestamp;
    packet.payloadStart = payloadStart;
    packet.layer = index;
    packet.now = now;
    packet.startsKeyFrame = startsKeyFrame(codec.name, buffer, payloadStart, payloadEnd);
    if (packet.startsKeyFrame) layer.isKeyFrameWanted = false;
    packet.vp8 = codec.name === 'VP8' && readVp8(buffer, payloadStart, payloadEnd, vp8) ? vp8 : undefined;
    if (this.kind === 'video') {
      readTemporal(codec.name, packet.vp8, buffer, payloadStart, payloadEnd, this.#temporal);
      Object.assign(packet.temporal, this.#temporal);
      layer.frameRates.packet(packet.temporal.layer, view.timestamp, now);
    }
    packet.plain = undefined;
    if (red && view.payloadType === red.pt) {
      const primary = redPrimary(buffer, payloadStart, payloadEnd);
      place.plain ??= new PacketTemplate();
      if (!primary || !place.plain.build(view, primary.start, primary.end, this.extensionIds, now)) return false;
      packet.plain = place.plain;
      retypeRed(template.packet, template.payloadStart, template.packet.length, OPUS_PAYLOAD_TYPE);
    }
    return true;
  }

  /**
   * Hands on what waits, to each subscriber all of it in a row: the second packet finds in the processor's cache what the
   * first one needed of the subscriber, its keys and its socket.
   */
  flush(): void {
    const places = this.#places.slice(0, this.#waiting);
    this.#waiting = 0;
    if (this.isMutedByServer) return;
    for (const subscription of this.#subscriptions) for (const { packet } of places) subscription.forward(packet);
  }

  requestKeyFrame(index: number): void {
    const layer = this.layers[index];
    if (layer && this.kind === 'video') layer.isKeyFrameWanted = true;
  }

  /** Sends the key-frame requests that are due. Called at once after a request, and by the clock. */
  flushKeyFrameRequests(now: number): void {
    this.layers.forEach((layer, index) => {
      if (!layer.isKeyFrameWanted || !layer.upstream || now - layer.keyFrameAskedAt < KEY_FRAME_MS_MIN) return;
      const isTaken = this.#subscriptions.some(({ current, target }) => current === index || target === index);
      // Nobody wants it any more, or it is off and starts with a key frame anyway: asking would only disturb the others.
      if (!isTaken) layer.isKeyFrameWanted = false;
      if (!isTaken || !layer.isEnabled || now - layer.upstream.lastMediaAt > LAYER_SILENT_MS) return;
      layer.keyFrameAskedAt = now;
      this.#events.keyFrameNeeded(layer.upstream.ssrc);
    });
  }

  cacheOf(layer: number): PacketCache | undefined {
    return this.layers[layer]?.upstream?.cache;
  }

  senderReportOf(layer: number): SenderReport | undefined {
    return this.layers[layer]?.upstream?.lastSenderReport;
  }

  /** The highest temporal layer of a layer that stays within a wished frame rate. */
  temporalLayerFor(index: number, fps: number): number {
    return this.layers[index]?.frameRates.layerFor(fps) ?? 0;
  }

  isLayerOn(index: number, now: number): boolean {
    const upstream = this.layers[index]?.upstream;
    return upstream !== undefined && now - upstream.lastMediaAt < LAYER_SILENT_MS;
  }

  /** A layer that is on, that we turned off ourselves, or that was turned on just now. */
  canServe(index: number, now: number): boolean {
    const layer = this.layers[index];
    if (!layer) return false;
    return !layer.isEnabled || now - layer.enabledAt < LAYER_STARTS_MS || this.isLayerOn(index, now);
  }

  /**
   * Which layers are taken, when that changed and the publisher should hear of it. A layer is turned on at once, and
   * off only after nobody took it for a while.
   */
  takeDemand(now: number): { rid: string; enabled: boolean }[] | undefined {
    if (this.kind === 'audio') return undefined;
    let isChanged = false;
    this.layers.forEach((layer, index) => {
      const isTaken = this.#subscriptions.some(({ current, target }) => current === index || target === index);
      if (isTaken) layer.idleSince = Number.POSITIVE_INFINITY;
      else if (layer.idleSince === Number.POSITIVE_INFINITY) layer.idleSince = now;
      const isEnabled = isTaken || now - layer.idleSince < LAYER_IDLE_MS;
      if (isEnabled === layer.isEnabled) return;
      layer.isEnabled = isEnabled;
      if (isEnabled) layer.enabledAt = now;
      isChanged = true;
    });
    return isChanged ? this.layers.map(({ rid, isEnabled }) => ({ rid, enabled: isEnabled })) : undefined;
  }

  /** Bits per second of a layer: as measured while it was last on for a while, else as declared or guessed. */
  bitrateOf(index: number, now: number): number {
    const layer = this.layers[index];
    if (!layer) return 0;
    const { upstream } = layer;
    if (upstream?.isMeasured && this.isLayerOn(index, now) && upstream.bitrate > 0)
      layer.knownBitrate = upstream.bitrate;
    return layer.knownBitrate ?? layer.declaredBitrate ?? GUESSED_BITRATES[this.layers.length === 1 ? 2 : index] ?? 0;
  }

  describe(now: number): MediaTrack {
    const layers = this.layers.map((layer, index): MediaLayer => {
      const known = this.bitrateOf(index, now) && layer.knownBitrate;
      const bitrate = known ? Math.round(known) : layer.declaredBitrate;
      return { rid: layer.rid, width: layer.width, height: layer.height, bitrate };
    });
    const top = layers.at(-1);
    return {
      id: this.id,
      kind: this.request.kind,
      source: this.request.source,
      name: this.request.name ?? null,
      muted: this.isMuted || this.isMutedByServer,
      codec: this.encoding.codec.name,
      width: top?.width ?? null,
      height: top?.height ?? null,
      simulcast: layers.length > 1,
      layers,
      publishedAt: new Date(this.publishedAt).toISOString(),
    };
  }
}
