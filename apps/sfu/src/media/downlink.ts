import type { MediaTrackSettings } from '@parley/contract/media-control';
import { allocate, type Demand, layerForSize } from './allocator.ts';
import { Deliveries } from './deliveries.ts';
import { DownlinkEstimator } from './downlink-estimator.ts';
import type { PathLoss } from './loss-window.ts';
import type { PeerTransport } from './peer-transport.ts';
import type { Publication } from './publication.ts';
import { readRtcp } from './rtcp.ts';
import type { Slot, StreamState } from './slot.ts';
import type { Outlet } from './subscription.ts';
import { type ExtensionTable, stampTransport, translateExtensions } from './template.ts';

/** Part of the estimate that video may use; the rest is for audio, repeats and data. */
const VIDEO_SHARE = 0.95;
/** A little more than the next layer needs is asked for: the rate of a layer is never quite the same. */
const PROBE_MARGIN = 1.1;
const DEFAULT_PRIORITY = 100;
const SCREEN_PRIORITY = 200;
/** How many `sentBps` samples make a second. */
const SAMPLES = 5;
const SAMPLE_MS = 180;

export interface DownlinkDeps {
  slots: readonly Slot[];
  isAdaptive: boolean;
  events: {
    streamState(state: StreamState): void;
    /** What the subscribers take of a track may have changed. */
    demandChanged(publication: Publication): void;
  };
}

/** The path to one subscriber: what it bears, what goes over it, and what comes back about it. */
export class Downlink {
  readonly #deps: DownlinkDeps;
  readonly estimator = new DownlinkEstimator();
  readonly bySsrc = new Map<number, Slot>();
  readonly #settings = new Map<string, MediaTrackSettings>();
  #transport: PeerTransport | undefined;
  #deliveries = new Deliveries();
  #sentSamples: { bytes: number; at: number }[] = [];
  #probeBps = 0;

  constructor(deps: DownlinkDeps) {
    this.#deps = deps;
  }

  /** The transport is another one: its counters start anew. */
  reset(transport: PeerTransport): void {
    this.#transport = transport;
    this.#sentSamples = [];
    this.#deliveries = new Deliveries();
  }

  /** For subscriptions of this path; `table` where the client has extension ids of its own. */
  outlet(table?: ExtensionTable): Outlet {
    return {
      rtp: (packet, now) => {
        stampTransport(packet, this.#deliveries.sent(packet.length, now));
        this.#transport?.send(table ? translateExtensions(packet, table) : packet);
      },
      rtcp: (packet) => this.#transport?.send(packet),
    };
  }

  forget(trackId: string): void {
    this.#settings.delete(trackId);
  }

  updateSettings(updates: readonly MediaTrackSettings[], now: number): void {
    for (const update of updates) {
      const before = this.#settings.get(update.trackId);
      if (!before && !this.#deps.slots.some(({ use }) => use?.publication.id === update.trackId)) continue;
      this.#settings.set(update.trackId, { ...before, ...update });
    }
    this.allocate(now);
  }

  /** Reports and requests of the subscriber. */
  onReports(buffer: Buffer, now: number): void {
    const path: PathLoss = { expected: 0, lost: 0 };
    const before = this.estimator.bitsPerSecond;
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
      transportFeedback: (feedback) => this.estimator.feedback(this.#deliveries.onFeedback(feedback), now),
    });
    if (path.expected > 0) this.estimator.loss(path, this.sentBps(now), now);
    if (this.estimator.bitsPerSecond < before) this.allocate(now);
  }

  #find(ssrc: number): Slot['use'] {
    const use = this.bySsrc.get(ssrc)?.use;
    return use?.subscription.ids.ssrc === ssrc ? use : undefined;
  }

  /** What went out over about the last second. */
  sentBps(now: number): number {
    const first = this.#sentSamples[0];
    const transport = this.#transport;
    if (!first || !transport || now <= first.at) return 0;
    return ((transport.sentBytes - first.bytes) * 8000) / (now - first.at);
  }

  /** Every 200 ms, and at once when anything that matters changed: which layer of which track. */
  allocate(now: number): void {
    const transport = this.#transport;
    if (!transport?.isOpen) return;
    const slots = this.#deps.slots.filter(
      (slot) => slot.kind === 'video' && slot.use && slot.isAnswered && !slot.isDirty,
    );
    const demands = slots.map((slot) => this.#demand(slot, now));
    const { layers, wantedBps } = allocate(demands, this.estimator.bitsPerSecond * VIDEO_SHARE);
    slots.forEach((slot, index) => {
      const { publication, subscription } = slot.use ?? {};
      const layer = layers[index] ?? -1;
      if (!publication || !subscription) return;
      const { fps = Number.POSITIVE_INFINITY } = this.#settings.get(publication.id) ?? {};
      subscription.setTemporalLimit(publication.temporalLayerFor(Math.max(subscription.current, layer), fps));
      if (subscription.target !== layer) {
        subscription.setTarget(layer);
        this.#deps.events.demandChanged(publication);
        publication.flushKeyFrameRequests(now);
      } else if (subscription.isSwitching) publication.requestKeyFrame(layer);
      if (layer < subscription.current && this.estimator.isCongested(now)) subscription.letGo();
    });
    this.#probeBps = this.estimator.probe((wantedBps / VIDEO_SHARE) * PROBE_MARGIN, now);
    for (const slot of this.#deps.slots) this.#tellState(slot);
    if (now - (this.#sentSamples.at(-1)?.at ?? 0) < SAMPLE_MS) return;
    this.#sentSamples.push({ bytes: transport.sentBytes, at: now });
    if (this.#sentSamples.length > SAMPLES) this.#sentSamples.shift();
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
    const subscription = this.#deps.slots.find(
      ({ kind, use }) => kind === 'video' && (use?.subscription.packets ?? 0) > 0,
    )?.use?.subscription;
    if (!subscription) return;
    let bytes = ((this.#probeBps - this.#mediaBps(now)) * 0.02) / 8;
    while (bytes > 0) {
      const sent = subscription.sendPadding(now);
      if (sent === 0) return;
      bytes -= sent;
    }
  }

  #mediaBps(now: number): number {
    return this.#deps.slots.reduce((sum, { use }) => {
      if (!use || use.subscription.current < 0) return sum;
      return sum + use.publication.bitrateOf(use.subscription.current, now);
    }, 0);
  }

  statistics(): { lossPercent: number | null; jitterMs: number | null; rttMs: number | null } {
    const known = this.#deps.slots.flatMap(({ use }) => (use ? [use.subscription] : []));
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
}
