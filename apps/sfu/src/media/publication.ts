import type { MediaTrack, MediaTrackRequest } from '@parley/contract/media-control';
import type { Extensions } from '@parley/media-description';
import { CLOCK_RATE, type Encoding } from './codecs.ts';
import { PacketBuffer } from './forwarded-packet.ts';
import { Layer } from './layer.ts';
import type { PacketCache } from './packet-cache.ts';
import type { SenderReport } from './rtcp.ts';
import { findExtension, type RtpView } from './rtp.ts';
import type { ForwardedTrack, Subscription } from './subscription.ts';
import { newTemporalPlace } from './temporal.ts';
import { Upstream } from './upstream.ts';

/** From this many subscribers on packets are forwarded in bursts: what fewer need stays in the processor's cache anyway. */
const BURST_SUBSCRIBERS_MIN = 8;
/** Packets of a burst at most: a key frame of 20 kB. */
const BURST_PACKETS_MAX = 16;
/** Bits per second assumed for a layer until it was measured, and for a track without simulcast. */
const GUESSED_BITRATES = [150_000, 500_000, 1_500_000, 3_000_000];
const GUESSED_BITRATE = 1_500_000;

interface PublicationEvents {
  /** Ask the publisher for a key frame of this stream. */
  keyFrameNeeded(ssrc: number): void;
  /** The first packet arrived. */
  started(): void;
  audioLevel(level: number): void;
  /** The first packet of a burst was queued: `flush` forwards it. */
  queued(): void;
}

interface PublicationInit {
  id: string;
  request: MediaTrackRequest;
  encoding: Encoding;
  mid: string;
  rids: readonly string[];
  extensionIds: Extensions;
  publishedAt: number;
  events: PublicationEvents;
}

/** A published track: receives the packets of its layers, and forwards each to its subscriptions. */
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
  /** The first `#queued` of them hold a packet. */
  readonly #burst: PacketBuffer[] = [];
  #queued = 0;
  readonly #temporal = newTemporalPlace();

  constructor(init: PublicationInit) {
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
    this.layers = layersOf(request, rids);
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
    // What is queued has the numbers of the stream that ends.
    if (isReplaced) this.flush();
    layer.upstream = new Upstream(ssrc, this.clockRate, this.kind === 'video');
    if (isReplaced)
      for (const subscription of this.#subscriptions) if (isOnLayer(subscription, index)) subscription.restart();
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
    if (layer.upstream.hasRestarted) this.#restart(layer.upstream, index);
    if (!this.isStarted) {
      this.isStarted = true;
      this.#events.started();
    }
    if (this.isMutedByServer) return;
    if (this.kind === 'audio') this.#readLevel(view);
    if (this.#subscriptions.length > 0) this.#enqueue(view, layer, index, now);
  }

  /** The numbers of the layer began anew: what is queued has those from before. */
  #restart(upstream: Upstream, index: number): void {
    upstream.hasRestarted = false;
    this.flush();
    for (const subscription of this.#subscriptions) if (isOnLayer(subscription, index)) subscription.restart();
  }

  #readLevel(view: RtpView): void {
    const at = findExtension(view, this.extensionIds.audioLevel);
    if (at >= 0) this.#events.audioLevel((view.buffer[at] ?? 127) & 0x7f);
  }

  #enqueue(view: RtpView, layer: Layer, index: number, now: number): void {
    if (this.#queued === BURST_PACKETS_MAX) this.flush();
    const packet = this.#burst[this.#queued] ?? new PacketBuffer();
    this.#burst[this.#queued] = packet;
    if (!packet.read(view, this.encoding, this.extensionIds, index, this.#temporal, now)) return;
    if (packet.startsKeyFrame) layer.onKeyFrame();
    if (this.kind === 'video') layer.frameRates.packet(packet.temporal.layer, view.timestamp, now);
    this.#queued += 1;
    if (this.#subscriptions.length < BURST_SUBSCRIBERS_MIN) this.flush();
    else if (this.#queued === 1) this.#events.queued();
  }

  /**
   * Forwards the queued burst, to each subscriber all of it in a row: the second packet finds in the processor's cache
   * what the first one needed of the subscriber, its keys and its socket.
   */
  flush(): void {
    const packets = this.#burst.slice(0, this.#queued);
    this.#queued = 0;
    if (this.isMutedByServer) return;
    for (const subscription of this.#subscriptions) for (const packet of packets) subscription.forward(packet);
  }

  requestKeyFrame(index: number): void {
    if (this.kind === 'video') this.layers[index]?.requestKeyFrame();
  }

  /** Sends the key-frame requests that are due. Called at once after a request, and by the clock. */
  flushKeyFrameRequests(now: number): void {
    this.layers.forEach((layer, index) => {
      if (layer.takeKeyFrameRequest(this.#hasSubscribers(index), now) && layer.upstream)
        this.#events.keyFrameNeeded(layer.upstream.ssrc);
    });
  }

  #hasSubscribers = (index: number): boolean =>
    this.#subscriptions.some((subscription) => isOnLayer(subscription, index));

  cacheOf(layer: number): PacketCache | undefined {
    return this.layers[layer]?.upstream?.cache;
  }

  senderReportOf(layer: number): SenderReport | undefined {
    return this.layers[layer]?.upstream?.lastSenderReport;
  }

  /** The highest temporal layer of a layer within a frame rate. */
  temporalLayerFor(index: number, fps: number): number {
    return this.layers[index]?.frameRates.layerFor(fps) ?? 0;
  }

  /** Whether a layer can be sent, or will be as soon as it has a subscriber. */
  canServe(index: number, now: number): boolean {
    return this.layers[index]?.canServe(now) ?? false;
  }

  bitrateOf(index: number, now: number): number {
    return this.layers[index]?.bitrate(now) ?? 0;
  }

  /** Which layers the publisher should send, when that changed. */
  takeDemand(now: number): { rid: string; enabled: boolean }[] | undefined {
    if (this.kind === 'audio') return undefined;
    const changes = this.layers.filter((layer, index) => layer.updateDemand(this.#hasSubscribers(index), now));
    return changes.length > 0 ? this.layers.map(({ rid, isEnabled }) => ({ rid, enabled: isEnabled })) : undefined;
  }

  describe(now: number): MediaTrack {
    const { kind, source, name = null, metadata = null } = this.request;
    const layers = this.layers.map((layer) => layer.describe(now));
    const top = layers.at(-1);
    return {
      id: this.id,
      kind,
      source,
      name,
      metadata,
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

const isOnLayer = ({ current, target }: Subscription, index: number): boolean => current === index || target === index;

function layersOf({ layers: declared = [] }: MediaTrackRequest, rids: readonly string[]): Layer[] {
  const names = rids.length > 0 ? rids : [''];
  return names.map((rid, index) => {
    const guessedBitrate = names.length === 1 ? GUESSED_BITRATE : (GUESSED_BITRATES[index] ?? 0);
    return new Layer(rid, declared.find((layer) => layer.rid === rid) ?? declared[index], guessedBitrate);
  });
}
