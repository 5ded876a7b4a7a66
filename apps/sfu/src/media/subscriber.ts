import type {
  MediaEvents,
  MediaPermissions,
  MediaTrackSettings,
  MediaTransportState,
} from '@parley/contract/media-control';
import { MEDIA_DESCRIPTION_BYTES_MAX } from '@parley/contract/media-control';
import type { DataChannelName, Description, MediaEntry } from '@parley/media-description';
import { allocate, type Demand, layerForSize } from './allocator.ts';
import type { MediaClock } from './clock.ts';
import { offeredCodecs } from './codecs.ts';
import { DownlinkEstimator } from './downlink-estimator.ts';
import { MediaError } from './errors.ts';
import type { PathLoss } from './loss-window.ts';
import type { PeerTransport, PeerTransportListener } from './peer-transport.ts';
import type { Publication } from './publication.ts';
import { readRtcp } from './rtcp.ts';
import { isRtcp } from './rtp.ts';
import { Subscription } from './subscription.ts';

const DATA_MID = 'data';
/** Part of the estimate that video may use; the rest is for audio, repeats and data. */
const VIDEO_SHARE = 0.95;
const DEFAULT_PRIORITY = 100;
const SCREEN_PRIORITY = 200;
/** How many `sentBps` samples make a second. */
const SAMPLES = 5;

export type StreamState = Omit<MediaEvents['stream.state'], 'room' | 'participant'>;

export interface SubscriberDeps {
  clock: MediaClock;
  random(): number;
  newTransport(hasData: boolean, listener: PeerTransportListener): PeerTransport;
  candidates(): string[];
  permissions(): MediaPermissions;
  isAdaptive: boolean;
  events: {
    offer(revision: number, isRestart: boolean, description: Description): void;
    state(state: MediaTransportState): void;
    data(channel: DataChannelName, message: Uint8Array): void;
    streamState(state: StreamState): void;
    /** What the subscribers take of a track may have changed. */
    demandChanged(publication: Publication): void;
  };
}

/** One m-line toward the subscriber. It is used again for another track once its track ended. */
interface Slot {
  mid: string;
  kind: 'audio' | 'video';
  use: { publication: Publication; subscription: Subscription; streamId: string } | undefined;
  entry: MediaEntry;
  isDirty: boolean;
  isAnswered: boolean;
  told: StreamState | undefined;
}

/** The `sub` side of a participant: what it gets from us. */
export class Subscriber {
  readonly #deps: SubscriberDeps;
  readonly #slots: Slot[] = [];
  readonly #bySsrc = new Map<number, Slot>();
  readonly #settings = new Map<string, MediaTrackSettings>();
  readonly estimator = new DownlinkEstimator();
  #transport: PeerTransport | undefined;
  #local: Omit<Description, 'media'> | undefined;
  #revision = 0;
  #pending: { slots: Slot[]; isWhole: boolean; description: Description } | undefined;
  #isRestarting = false;
  #isFlushing = false;
  #nextSsrc: number;
  #sentSamples: { bytes: number; at: number }[] = [];
  #probeBps = 0;

  constructor(deps: SubscriberDeps) {
    this.#deps = deps;
    this.#nextSsrc = 0x1000_0000 + Math.floor(deps.random() * 0x4000_0000);
  }

  get transport(): PeerTransport | undefined {
    return this.#transport;
  }

  get trackIds(): string[] {
    return this.#slots.flatMap(({ use }) => (use ? [use.publication.id] : []));
  }

  /** Opens the transport, if it is not open, and offers what there is. */
  open(): void {
    if (this.#transport) return;
    this.#connect();
    this.#flushSoon();
  }

  #connect(): void {
    const transport: PeerTransport = this.#deps.newTransport(true, {
      open: () => this.#onOpen(),
      packet: (buffer) => this.#onPacket(buffer),
      state: (state) => {
        if (this.#transport === transport) this.#deps.events.state(state);
      },
      data: (channel, message) => this.#deps.events.data(channel, message),
    });
    this.#transport = transport;
    this.#local = { ...transport.offer(), candidates: this.#deps.candidates() };
    this.#sentSamples = [];
  }

  subscribe(publication: Publication, streamId: string): boolean {
    if (!this.#deps.permissions().subscribe) return false;
    if (this.#slots.some(({ use }) => use?.publication === publication)) return true;
    this.open();
    const slot = this.#freeSlot(publication.kind);
    slot.use = { publication, streamId, subscription: this.#newSubscription(publication) };
    slot.told = undefined;
    slot.isAnswered = false;
    this.#refreshEntry(slot);
    this.#flushSoon();
    return true;
  }

  #freeSlot(kind: 'audio' | 'video'): Slot {
    const free = this.#slots.find((slot) => slot.kind === kind && !slot.use && slot.isAnswered);
    if (free) return free;
    const mid = String(this.#slots.length);
    const entry: MediaEntry = { mid, kind, direction: 'inactive' };
    const slot: Slot = { mid, kind, use: undefined, entry, isDirty: false, isAnswered: false, told: undefined };
    this.#slots.push(slot);
    return slot;
  }

  #newSubscription(publication: Publication): Subscription {
    const codecs = offeredCodecs(publication.encoding);
    const main = codecs.find(({ name }) => name !== 'red');
    const ssrc = this.#nextSsrc;
    this.#nextSsrc += 2;
    const ids = {
      ssrc,
      rtxSsrc: ssrc + 1,
      payloadType: main?.pt ?? 0,
      redPayloadType: codecs.find(({ name }) => name === 'red')?.pt,
      rtxPayloadType: main?.rtx,
    };
    return new Subscription(publication, ids, (packet) => this.#transport?.send(packet), this.#deps.random);
  }

  #refreshEntry(slot: Slot): void {
    const { mid, kind, use } = slot;
    slot.isDirty = true;
    if (!use) {
      slot.entry = { ...slot.entry, direction: 'inactive' };
      delete slot.entry.trackId;
      delete slot.entry.streamId;
      delete slot.entry.ssrcs;
      return;
    }
    const { ssrc, rtxSsrc, rtxPayloadType } = use.subscription.ids;
    this.#bySsrc.set(ssrc, slot);
    slot.entry = {
      mid,
      kind,
      direction: 'sendonly',
      trackId: use.publication.id,
      streamId: use.streamId,
      codecs: offeredCodecs(use.publication.encoding),
      ssrcs: rtxPayloadType === undefined ? [ssrc] : [ssrc, rtxSsrc],
    };
  }

  unsubscribe(trackId: string): boolean {
    const slot = this.#slots.find(({ use }) => use?.publication.id === trackId);
    if (!slot?.use) return false;
    const { publication, subscription } = slot.use;
    publication.unsubscribe(subscription);
    this.#bySsrc.delete(subscription.ids.ssrc);
    slot.use = undefined;
    this.#settings.delete(trackId);
    this.#refreshEntry(slot);
    this.#deps.events.demandChanged(publication);
    this.#flushSoon();
    return true;
  }

  /** Changes of one turn go out as one offer. */
  #flushSoon(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    setImmediate(() => {
      this.#isFlushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    if (this.#pending || !this.#transport || !this.#local) return;
    const isWhole = this.#revision === 0 || this.#isRestarting;
    const media: MediaEntry[] = isWhole ? [{ mid: DATA_MID, kind: 'data', direction: 'sendrecv' }] : [];
    const slots: Slot[] = [];
    let bytes = 1000;
    for (const slot of this.#slots) {
      if (!slot.isDirty) continue;
      bytes += JSON.stringify(slot.entry).length + 1;
      if (bytes > MEDIA_DESCRIPTION_BYTES_MAX) break;
      media.push(slot.entry);
      slots.push(slot);
    }
    if (media.length === 0) return;
    for (const slot of slots) slot.isDirty = false;
    this.#revision += 1;
    const description: Description = isWhole ? { ...this.#local, media } : { media };
    this.#pending = { slots, isWhole, description };
    this.#deps.events.offer(this.#revision, this.#isRestarting, description);
    this.#isRestarting = false;
  }

  /** Repeats the offer that waits for an answer, for a signaling socket that may have lost it. */
  repeatOffer(): void {
    if (this.#pending) this.#deps.events.offer(this.#revision, false, this.#pending.description);
  }

  answer(revision: number, answer: Description): void {
    const pending = this.#pending;
    if (!pending || revision !== this.#revision || !this.#transport)
      throw new MediaError('STALE', `The latest offer is revision ${this.#revision}.`);
    if (pending.isWhole) {
      if (!answer.ice || !answer.dtls || answer.dtls.role === 'actpass')
        throw new MediaError('BAD_DESCRIPTION', 'The first answer must carry ICE and DTLS parameters.');
      try {
        this.#transport.acceptAnswer(answer);
      } catch (error) {
        throw new MediaError('BAD_DESCRIPTION', error instanceof Error ? error.message : 'The answer cannot be used.');
      }
    }
    this.#pending = undefined;
    const refusals = new Map(answer.media.map((entry) => [entry.mid, entry]));
    for (const slot of pending.slots) this.#activate(slot, refusals.get(slot.mid));
    this.allocate(this.#deps.clock.now());
    this.#flush();
  }

  #activate(slot: Slot, answered: MediaEntry | undefined): void {
    slot.isAnswered = true;
    // The track may have ended or changed since the offer: then another offer is under way.
    if (!slot.use || slot.isDirty) return;
    const { publication, subscription } = slot.use;
    const isRefused = answered && (answered.codecs?.length === 0 || answered.direction === 'inactive');
    if (isRefused) {
      slot.use = undefined;
      slot.entry = { mid: slot.mid, kind: slot.kind, direction: 'inactive' };
      // The browser stopped this line for good.
      slot.isAnswered = false;
      return;
    }
    if (answered?.codecs) {
      const names = answered.codecs.map(({ name }) => name);
      if (!names.includes('red')) subscription.ids.redPayloadType = undefined;
      if (!answered.codecs.some(({ rtx }) => rtx !== undefined)) subscription.ids.rtxPayloadType = undefined;
    }
    publication.subscribe(subscription);
    if (publication.kind === 'audio' && this.#transport?.isOpen) subscription.setTarget(0);
  }

  /** Nothing is forwarded before the transport can carry it: a key frame sent too early would be lost. */
  #onOpen(): void {
    for (const { kind, use, isAnswered } of this.#slots)
      if (kind === 'audio' && isAnswered) use?.subscription.setTarget(0);
    this.allocate(this.#deps.clock.now());
  }

  /** A new transport with everything that is subscribed now. */
  restart(): void {
    const before = this.#transport;
    this.#transport = undefined;
    before?.close();
    // Lines of ended tracks do not exist in the new connection.
    const used = this.#slots.filter(({ use }) => use);
    this.#slots.splice(0, this.#slots.length, ...used);
    used.forEach((slot, index) => {
      if (!slot.use) return;
      const { publication, subscription } = slot.use;
      publication.unsubscribe(subscription);
      slot.use.subscription = this.#newSubscription(publication);
      slot.mid = String(index);
      slot.isAnswered = false;
      slot.told = undefined;
    });
    this.#bySsrc.clear();
    for (const slot of used) this.#refreshEntry(slot);
    this.#pending = undefined;
    this.#isRestarting = true;
    this.#connect();
    this.#flushSoon();
  }

  updateSettings(updates: readonly MediaTrackSettings[]): void {
    for (const update of updates) {
      const before = this.#settings.get(update.trackId);
      if (!before && !this.#slots.some(({ use }) => use?.publication.id === update.trackId)) continue;
      this.#settings.set(update.trackId, { ...before, ...update });
    }
    this.allocate(this.#deps.clock.now());
  }

  #onPacket(buffer: Buffer): void {
    if (!isRtcp(buffer)) return;
    const now = this.#deps.clock.now();
    const path: PathLoss = { expected: 0, lost: 0 };
    readRtcp(buffer, {
      receptionReport: (report) => {
        const loss = this.#find(report.ssrc)?.subscription.onReceptionReport(report, now);
        path.expected += loss?.expected ?? 0;
        path.lost += loss?.lost ?? 0;
      },
      nack: (ssrc, sequences) => {
        const use = this.#find(ssrc);
        use?.subscription.resend(sequences, use.publication.encoding.codec.name === 'VP8', now);
      },
      keyFrameRequest: (ssrc) => {
        const use = this.#find(ssrc);
        if (!use) return;
        use.publication.requestKeyFrame(Math.max(use.subscription.current, use.subscription.target));
        use.publication.flushKeyFrameRequests(now);
      },
      remb: (bps) => this.estimator.remb(bps, now),
    });
    if (path.expected > 0) this.estimator.loss(path, this.sentBps(now), now);
  }

  #find(ssrc: number): Slot['use'] {
    const use = this.#bySsrc.get(ssrc)?.use;
    return use?.subscription.ids.ssrc === ssrc ? use : undefined;
  }

  /** What went out over about the last second. */
  sentBps(now: number): number {
    const first = this.#sentSamples[0];
    if (!first || !this.#transport || now <= first.at) return 0;
    return ((this.#transport.sentBytes - first.bytes) * 8000) / (now - first.at);
  }

  /** Every 200 ms, and when anything that matters changed: which layer of which track. */
  allocate(now: number): void {
    if (!this.#transport?.isOpen) return;
    const slots = this.#slots.filter((slot) => slot.kind === 'video' && slot.use && slot.isAnswered && !slot.isDirty);
    const demands = slots.map((slot) => this.#demand(slot, now));
    const { layers, wantedBps } = allocate(demands, this.estimator.bitsPerSecond * VIDEO_SHARE);
    slots.forEach((slot, index) => {
      const { publication, subscription } = slot.use ?? {};
      const layer = layers[index] ?? -1;
      if (!publication || !subscription) return;
      if (subscription.target !== layer) {
        subscription.setTarget(layer);
        this.#deps.events.demandChanged(publication);
        publication.flushKeyFrameRequests(now);
      } else if (subscription.isSwitching) publication.requestKeyFrame(layer);
    });
    this.#probeBps = this.estimator.probe(wantedBps / VIDEO_SHARE, now);
    for (const slot of this.#slots) this.#tellState(slot);
    if (this.#transport) {
      this.#sentSamples.push({ bytes: this.#transport.sentBytes, at: now });
      if (this.#sentSamples.length > SAMPLES) this.#sentSamples.shift();
    }
  }

  #demand(slot: Slot, now: number): Demand {
    const { publication, subscription } = slot.use ?? {};
    if (!publication || !subscription) return { bitrates: [], ceiling: -1, current: -1, priority: 0 };
    const settings = this.#settings.get(publication.id);
    const { layers, request } = publication;
    const isScreen = request.source === 'SCREEN_SHARE';
    const unknownSize = this.#deps.isAdaptive && !settings && !isScreen ? 0 : undefined;
    let ceiling =
      unknownSize ??
      layerForSize(
        layers.map(({ height }) => height),
        settings?.height,
      );
    ceiling = Math.min(ceiling, settings?.maxLayer ?? ceiling);
    while (ceiling > 0 && !publication.canServe(ceiling, now)) ceiling -= 1;
    return {
      bitrates: layers.map((_, index) => publication.bitrateOf(index, now)),
      ceiling: settings?.enabled === false ? -1 : ceiling,
      current: subscription.current,
      priority: settings?.priority ?? (isScreen ? SCREEN_PRIORITY : DEFAULT_PRIORITY),
    };
  }

  #tellState(slot: Slot): void {
    if (!slot.use || !slot.isAnswered) return;
    const { publication, subscription } = slot.use;
    const isOff = this.#settings.get(publication.id)?.enabled === false;
    if (subscription.isSwitching && subscription.current < 0) return;
    const isMuted = publication.isMuted || publication.isMutedByServer;
    const reason = isMuted ? 'MUTED' : isOff ? 'SETTINGS' : subscription.target < 0 ? 'BANDWIDTH' : null;
    const state: StreamState = {
      trackId: publication.id,
      state: reason ? 'PAUSED' : 'ACTIVE',
      reason,
      layer: reason ? null : subscription.current,
    };
    const { told } = slot;
    if (told && told.state === state.state && told.reason === state.reason && told.layer === state.layer) return;
    slot.told = state;
    this.#deps.events.streamState(state);
  }

  /** Every 20 ms: padding while the path is probed. */
  tick(now: number): void {
    if (this.#probeBps === 0) return;
    const subscription = this.#slots.find(({ kind, use }) => kind === 'video' && (use?.subscription.packets ?? 0) > 0)
      ?.use?.subscription;
    if (!subscription) return;
    let bytes = ((this.#probeBps - this.#mediaBps(now)) * 0.02) / 8;
    while (bytes > 0) {
      const sent = subscription.sendPadding(now);
      if (sent === 0) return;
      bytes -= sent;
    }
  }

  #mediaBps(now: number): number {
    return this.#slots.reduce((sum, { use }) => {
      if (!use || use.subscription.current < 0) return sum;
      return sum + use.publication.bitrateOf(use.subscription.current, now);
    }, 0);
  }

  /** Ends subscriptions that the permissions no longer allow. */
  enforce(): void {
    if (!this.#deps.permissions().subscribe) for (const trackId of this.trackIds) this.unsubscribe(trackId);
  }

  statistics(): { lossPercent: number | null; jitterMs: number | null; rttMs: number | null } {
    const known = this.#slots.flatMap(({ use }) => (use ? [use.subscription] : []));
    const worst = (values: (number | null)[]) => {
      const numbers = values.filter((value) => value !== null);
      return numbers.length > 0 ? Math.max(...numbers) : null;
    };
    return {
      lossPercent: worst(known.map(({ lossPercent }) => lossPercent)),
      jitterMs: worst(known.map(({ jitterMs }) => jitterMs)),
      rttMs: worst(known.map(({ rttMs }) => rttMs)),
    };
  }

  close(): void {
    for (const { use } of this.#slots) use?.publication.unsubscribe(use.subscription);
    this.#slots.length = 0;
    this.#transport?.close();
    this.#transport = undefined;
  }
}
