import type { MediaTrack, MediaTrackRequest } from '@parley/contract/media-control';
import type { Extensions } from '@parley/media-description';
import { CLOCK_RATE, type Encoding, isScalable } from './codecs.ts';
import { PacketBuffer } from './forwarded-packet.ts';
import { type DeclaredLayer, Layer } from './layer.ts';
import { isKnown, orderByRate } from './layer-order.ts';
import { Voice } from './loudest.ts';
import type { PacketCache } from './packet-cache.ts';
import { startsKeyFrame } from './payload.ts';
import type { SenderReport } from './rtcp.ts';
import { findExtension, type RtpView } from './rtp.ts';
import type { ForwardedTrack, Subscription } from './subscription.ts';
import { type SvcPlace, SvcStream } from './svc/svc-place.ts';
import { newTemporalPlace } from './temporal.ts';
import { Upstream } from './upstream.ts';

/** From this many subscribers on packets are forwarded in bursts: what fewer need stays in the processor's cache anyway. */
const BURST_SUBSCRIBERS_MIN = 8;
/** Packets of a burst at most: a key frame of 20 kB. */
const BURST_PACKETS_MAX = 16;
/** Bits per second assumed for a layer until it was measured, and for a track without simulcast. */
const GUESSED_BITRATES = [150_000, 500_000, 1_500_000, 3_000_000];
const GUESSED_BITRATE = 1_500_000;
/** A publisher is asked for the backup codec again after this time. */
const BACKUP_REQUEST_MS = 5000;

interface PublicationEvents {
  /** Ask the publisher for a key frame of this stream. */
  keyFrameNeeded(ssrc: number, layer: number): void;
  /** The first packet arrived. */
  started(): void;
  audioLevel(level: number): void;
  /** The first packet of a burst was queued: `flush` forwards it. */
  queued(): void;
  /** Another transport: the description of the track is another one. */
  rebound?(): void;
  /** The layers have other indexes. */
  reordered?(): void;
}

/** Another process that gets packets of a track as they came, for its own subscribers. */
export interface PacketTap {
  wants(layer: number): boolean;
  /** Somebody there cannot decode the track. */
  readonly wantsBackup: boolean;
  forward(view: RtpView, layer: number, place: SvcPlace | undefined): void;
  senderReport(report: SenderReport, layer: number): void;
}

interface PublicationInit {
  id: string;
  request: MediaTrackRequest;
  encoding: Encoding;
  mid: string;
  rids: readonly string[];
  extensionIds: Extensions;
  publishedAt: number;
  /** No layer is sent before it is wanted. */
  startsOff?: boolean;
  /** The order of the offer is a guess: what comes shows which layer is the largest. */
  isOrderGuessed?: boolean;
  events: PublicationEvents;
}

/** A published track: receives the packets of its layers, and forwards each to its subscriptions. */
export class Publication implements ForwardedTrack {
  readonly id: string;
  readonly request: MediaTrackRequest;
  readonly kind: 'audio' | 'video';
  readonly clockRate: number;
  readonly publishedAt: number;
  encoding: Encoding;
  mid: string;
  extensionIds: Extensions;
  isMuted: boolean;
  isMutedByServer = false;
  /** Of a microphone. */
  readonly voice: Voice | undefined;
  /** False while others in a large room are louder; taps get it all the same. */
  isAudible = true;
  isStarted = false;
  /** Of the layers, the highest that its way to this process carries. */
  ceiling = Number.POSITIVE_INFINITY;
  /** The same track in its backup codec, once the publisher sends it. */
  backup: Publication | undefined;
  #backupRequestedAt = Number.NEGATIVE_INFINITY;
  readonly #events: PublicationEvents;
  readonly #subscriptions: Subscription[] = [];
  readonly #taps: PacketTap[] = [];
  /** The first `#queued` of them hold a packet. */
  readonly #burst: PacketBuffer[] = [];
  #queued = 0;
  readonly #temporal = newTemporalPlace();
  #layers: readonly Layer[];
  #isOrderGuessed: boolean;
  /** Set when one stream carries all layers. */
  readonly #svc: SvcStream | undefined;

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
    if (request.source === 'MICROPHONE' && this.kind === 'audio') this.voice = new Voice();
    if (rids.length === 0 && isScalable(encoding)) this.#svc = new SvcStream(encoding.codec.name);
    this.#layers = this.#svc ? svcLayers(request, request.layers?.length || 1) : layersOf(request, rids);
    this.#isOrderGuessed = init.isOrderGuessed === true && this.isSimulcast;
    if (init.startsOff) for (const layer of this.#layers) layer.turnOff();
  }

  /** Lowest first: simulcast streams, or the spatial layers of one stream. */
  get layers(): readonly Layer[] {
    return this.#layers;
  }

  get isSimulcast(): boolean {
    return this.layers.length > 1 && !this.#svc;
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

  addTap(tap: PacketTap): void {
    this.#taps.push(tap);
  }

  removeTap(tap: PacketTap): void {
    const index = this.#taps.indexOf(tap);
    if (index >= 0) this.#taps.splice(index, 1);
  }

  /** Somebody cannot decode the track, its publisher could send it in another codec, and does not yet. */
  get lacksBackup(): boolean {
    if (this.backup || !this.request.backupCodec) return false;
    return (
      this.#subscriptions.some(({ isUndecodable }) => isUndecodable) ||
      this.#taps.some(({ wantsBackup }) => wantsBackup)
    );
  }

  /** Whether the publisher is to be asked for the backup codec now. */
  takeBackupRequest(now: number): boolean {
    if (!this.lacksBackup) return false;
    if (now - this.#backupRequestedAt < BACKUP_REQUEST_MS) return false;
    this.#backupRequestedAt = now;
    return true;
  }

  /** The stream that feeds a layer from now on; undefined for a layer that this track does not have. */
  bind(ssrc: number, rid: string | undefined): { layer: number; upstream: Upstream } | undefined {
    const index = this.#svc || this.layers.length === 1 ? 0 : this.layers.findIndex((layer) => layer.rid === rid);
    const layer = this.layers[index];
    if (!layer) return undefined;
    const isReplaced = layer.upstream !== undefined;
    // What is queued has the numbers of the stream that ends.
    if (isReplaced) this.flush();
    const upstream = new Upstream(ssrc, this.clockRate, this.kind === 'video');
    for (const fed of this.#svc ? this.layers : [layer]) fed.upstream = upstream;
    if (isReplaced) this.#restart(index);
    return { layer: index, upstream };
  }

  /** The transport was replaced: another description of the same track. */
  rebind(mid: string, encoding: Encoding, extensionIds: Extensions): void {
    this.mid = mid;
    this.encoding = encoding;
    this.extensionIds = extensionIds;
    this.#events.rebound?.();
  }

  /** `isRepeat`: it came by RTX. */
  receive(view: RtpView, index: number, now: number, isRepeat = false): void {
    const layer = this.layers[index];
    if (!layer?.upstream?.receive(view, now, isRepeat)) return;
    if (layer.upstream.hasRestarted) {
      layer.upstream.hasRestarted = false;
      // What is queued has the numbers from before.
      this.flush();
      this.#restart(index);
    }
    const place = this.#readPlace(view, now);
    if (!this.isStarted) {
      this.isStarted = true;
      this.#events.started();
    }
    if (this.isMutedByServer) return;
    if (this.kind === 'audio') this.#readLevel(view, now);
    for (const tap of this.#taps) if (tap.wants(index)) tap.forward(view, index, place);
    if (!this.isAudible) return;
    if (this.#subscriptions.length > 0) this.#enqueue(view, layer, index, now, place);
    else if (this.#taps.length > 0) this.#noteKeyFrame(view, layer);
  }

  /** Without subscribers here nothing else reads the payload. */
  #noteKeyFrame({ buffer, payloadStart, payloadEnd }: RtpView, layer: Layer): void {
    if (startsKeyFrame(this.encoding.codec.name, buffer, payloadStart, payloadEnd)) layer.onKeyFrame();
  }

  /** The publisher's report about a layer. */
  onSenderReport(report: SenderReport, index: number, now: number): void {
    this.layers[index]?.upstream?.onSenderReport(report, now);
    for (const subscription of this.#subscriptions) subscription.onSenderReport(report, index, now);
    for (const tap of this.#taps) if (tap.wants(index)) tap.senderReport(report, index);
  }

  /** The numbers of the layer begin anew. */
  #restart(index: number): void {
    this.#svc?.restart();
    for (const subscription of this.#subscriptions) if (this.#isOnLayer(subscription, index)) subscription.restart();
  }

  /** Which of the layers in one stream the packet is of; each layer counts what it takes. */
  #readPlace(view: RtpView, now: number): SvcPlace | undefined {
    const svc = this.#svc;
    if (!svc) return undefined;
    const isKeyFrame = startsKeyFrame(this.encoding.codec.name, view.buffer, view.payloadStart, view.payloadEnd);
    const place = svc.read(view, this.extensionIds.dependencyDescriptor, isKeyFrame);
    if (svc.count !== undefined && svc.count !== this.layers.length) this.#resize(svc);
    const bytes = view.buffer.length;
    for (let index = 0; index < this.layers.length; index += 1)
      this.layers[index]?.onSvcPacket(place, index, bytes, now);
    return place;
  }

  /** The stream has other layers than the publisher said. */
  #resize({ count = 1, sizes }: SvcStream): void {
    const upstream = this.layers[0]?.upstream;
    this.#layers = svcLayers(this.request, count, sizes);
    for (const layer of this.layers) layer.upstream = upstream;
  }

  /** Twice a second. */
  measure(now: number): void {
    if (this.#svc) for (const layer of this.layers) layer.measure(now);
    if (this.#isOrderGuessed) this.#orderLayers(now);
  }

  #orderLayers(now: number): void {
    this.#isOrderGuessed = !this.layers.every((layer) => isKnown(layer, now));
    const ordered = orderByRate(this.layers, now);
    if (ordered === this.layers) return;
    // What is queued has the indexes from before, and so has what may be requested again.
    this.flush();
    this.#layers = ordered;
    this.#events.reordered?.();
    for (const subscription of this.#subscriptions) {
      subscription.dropCurrentLayer();
      subscription.restart();
    }
  }

  #readLevel(view: RtpView, now: number): void {
    const at = findExtension(view, this.extensionIds.audioLevel);
    if (at < 0) return;
    const level = (view.buffer[at] ?? 127) & 0x7f;
    this.voice?.hear(level, now);
    this.#events.audioLevel(level);
  }

  #enqueue(view: RtpView, layer: Layer, index: number, now: number, place: SvcPlace | undefined): void {
    if (this.#queued === BURST_PACKETS_MAX) this.flush();
    const packet = this.#burst[this.#queued] ?? new PacketBuffer();
    this.#burst[this.#queued] = packet;
    if (!packet.read(view, this.encoding, this.extensionIds, index, this.#temporal, now, place)) return;
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
    // One key frame is of all layers of a stream.
    if (this.kind === 'video') this.layers[this.#svc ? 0 : index]?.requestKeyFrame();
  }

  /** Sends the key-frame requests that are due. Called at once after a request, and by the clock. */
  flushKeyFrameRequests(now: number): void {
    this.layers.forEach((layer, index) => {
      if (layer.takeKeyFrameRequest(this.#hasSubscribers(index), now) && layer.upstream)
        this.#events.keyFrameNeeded(layer.upstream.ssrc, index);
    });
  }

  #hasSubscribers = (index: number): boolean =>
    this.#subscriptions.some((subscription) => this.#isOnLayer(subscription, index)) ||
    this.#taps.some((tap) => tap.wants(index));

  /** Spatial layers build on those below. */
  #isOnLayer({ current, target }: Subscription, index: number): boolean {
    return this.#svc ? Math.max(current, target) >= index : current === index || target === index;
  }

  cacheOf(layer: number): PacketCache | undefined {
    return this.layers[layer]?.upstream?.cache;
  }

  senderReportOf(layer: number): SenderReport | undefined {
    return this.layers[layer]?.upstream?.lastSenderReport;
  }

  /** The highest temporal layer of a layer within a frame rate. */
  temporalLayerFor(index: number, fps: number): number {
    return this.layers[this.#svc ? 0 : index]?.frameRates.layerFor(fps) ?? 0;
  }

  /** Whether a layer can be sent, or will be as soon as it has a subscriber. */
  canServe(index: number, now: number): boolean {
    const layer = this.layers[index];
    if (!layer || index > this.ceiling || !layer.canServe(now)) return false;
    return !(this.isSimulcast && layer.isBehind(this.layers.slice(0, index), now));
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
      simulcast: this.isSimulcast,
      layers,
      publishedAt: new Date(this.publishedAt).toISOString(),
    };
  }
}

/** Spatial layers, lowest first, each twice as large as the one before unless the stream or the publisher says more. */
function svcLayers(
  { layers: declared = [] }: MediaTrackRequest,
  count: number,
  sizes: readonly { width: number; height: number }[] = [],
): Layer[] {
  const top = declared.at(-1);
  return Array.from({ length: count }, (_, index) => {
    const scale = 2 ** (count - 1 - index);
    const said: DeclaredLayer = {
      rid: String(index),
      ...(top?.width && top.height
        ? { width: Math.round(top.width / scale), height: Math.round(top.height / scale) }
        : {}),
      ...(declared.length === count ? declared[index] : {}),
      ...sizes[index],
    };
    const guessedBitrate = count === 1 ? GUESSED_BITRATE : (GUESSED_BITRATES[index] ?? 0);
    return new Layer(count === 1 ? '' : said.rid, said, guessedBitrate);
  });
}

function layersOf({ layers: declared = [] }: MediaTrackRequest, rids: readonly string[]): Layer[] {
  const names = rids.length > 0 ? rids : [''];
  return names.map((rid, index) => {
    const guessedBitrate = names.length === 1 ? GUESSED_BITRATE : (GUESSED_BITRATES[index] ?? 0);
    return new Layer(rid, declared.find((layer) => layer.rid === rid) ?? declared[index], guessedBitrate);
  });
}
