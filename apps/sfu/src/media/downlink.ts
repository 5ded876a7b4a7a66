import type { MediaTrackSettings } from '@parley/contract/media-control';
import { allocate, type Demand, layerForSize } from './allocator.ts';
import { counters } from './counters.ts';
import { Deliveries } from './deliveries.ts';
import { DownlinkEstimator } from './downlink-estimator.ts';
import type { PathLoss } from './loss-window.ts';
import { GATHER_MS } from './node-offers.ts';
import { Pacer } from './pacer.ts';
import { PathBudget } from './path-budget.ts';
import type { PeerTransport } from './peer-transport.ts';
import type { Publication } from './publication.ts';
import type { Outlet } from './retransmission.ts';
import { readRtcp } from './rtcp.ts';
import type { Slot, SlotUse, StreamState } from './slot.ts';
import { type ExtensionTable, stampTransport, translateExtensions } from './template.ts';
import type { TrackTotals } from './track-sampler.ts';
import { type Candidate, chooseVisible } from './visible.ts';

/** Share of the estimate that video may use; the rest is for audio, retransmission and data. */
const VIDEO_SHARE = 0.95;
/** Probes go a little above what the next layer needs: the bit rate of a layer varies. */
const PROBE_MARGIN = 1.1;
const DEFAULT_PRIORITY = 100;
const SCREEN_PRIORITY = 200;
/** What the videos of a subscriber are counted by. */
export const LAYER_NAMES = ['0', '1', '2', '3', 'paused'] as const;
/** How many `sentBps` samples make a second. */
const SAMPLES = 5;
const SAMPLE_MS = 180;

interface DownlinkDeps {
  slots(): readonly Slot[];
  isAdaptive: boolean;
  /** Of the room: states of many tracks change. */
  isLarge(): boolean;
  /** Videos at once; as many as there are, unless it is said. */
  maxVisible?: number | undefined;
  /** When a participant was last heard to speak. */
  spokeAt(participant: string): number;
  events: {
    streamState(state: StreamState): void;
    streamStates(states: StreamState[]): void;
    /** Which layers of a track are subscribed to may have changed. */
    demandChanged(publication: Publication): void;
  };
}

/** The path to one subscriber: its bandwidth estimate, the layers that fit it, and the reports about it. */
export class Downlink {
  readonly #deps: DownlinkDeps;
  readonly estimator = new DownlinkEstimator();
  /** The control plane of the subscriber understands states that come together. */
  takesStates = false;
  #announcedAt = Number.NEGATIVE_INFINITY;
  readonly #uses = new Map<number, SlotUse>();
  readonly #settings = new Map<string, MediaTrackSettings>();
  /** Videos beyond `maxVisible`. */
  readonly #unseen = new Set<Publication>();
  #transport: PeerTransport | undefined;
  #deliveries = new Deliveries();
  #sentSamples: { bytes: number; at: number }[] = [];
  #probeBps = 0;
  readonly #resendBudget = new PathBudget();
  readonly #pacer = new Pacer((packet, table, now) => this.#send(packet, table, now));

  constructor(deps: DownlinkDeps) {
    this.#deps = deps;
  }

  /** A new transport: its counters start at zero, and no track is attached. */
  reset(transport: PeerTransport): void {
    this.#transport = transport;
    this.#uses.clear();
    this.#sentSamples = [];
    this.#announcedAt = Number.NEGATIVE_INFINITY;
    this.#deliveries = new Deliveries();
    this.#pacer.reset();
  }

  /**
   * Where subscriptions of this path send; `table` where the client has extension ids of its own. Bursts of video are
   * spread, audio never waits.
   */
  outlet(kind: Slot['kind'], table?: ExtensionTable | undefined): Outlet {
    return {
      rtp:
        kind === 'audio'
          ? (packet, now) => this.#send(packet, table, now)
          : (packet, now) => this.#pacer.send(packet, table, now),
      rtcp: (packet) => this.#transport?.send(packet),
    };
  }

  /** Numbered here, when it leaves: feedback about it is compared with this time. */
  #send(packet: Buffer, table: ExtensionTable | undefined, now: number): void {
    stampTransport(packet, this.#deliveries.sent(packet.length, now));
    this.#transport?.send(table ? translateExtensions(packet, table) : packet);
  }

  /** Reports of the subscriber about this track count from now on. */
  attach(use: SlotUse): void {
    this.#uses.set(use.subscription.ids.ssrc, use);
  }

  detach({ publication, subscription }: SlotUse): void {
    this.#uses.delete(subscription.ids.ssrc);
    this.#settings.delete(publication.id);
  }

  updateSettings(updates: readonly MediaTrackSettings[], now: number): void {
    for (const update of updates) {
      const before = this.#settings.get(update.trackId);
      if (!before && !this.#deps.slots().some(({ use }) => use?.publication.id === update.trackId)) continue;
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
        const loss = this.#uses.get(report.ssrc)?.subscription.onReceptionReport(report, now);
        path.expected += loss?.expected ?? 0;
        path.lost += loss?.lost ?? 0;
      },
      nack: (ssrc, sequences) => {
        const use = this.#uses.get(ssrc);
        this.#resendBudget.estimate(this.estimator.bitsPerSecond);
        const isVp8 = use?.publication.encoding.codec.name === 'VP8';
        counters.nacksIn += sequences.length;
        const { delayMs } = this.#pacer;
        counters.resent += use?.subscription.resend(sequences, isVp8, now, this.#resendBudget, delayMs) ?? 0;
      },
      keyFrameRequest: (ssrc) => {
        const use = this.#uses.get(ssrc);
        if (!use) return;
        counters.keyFrameRequestsIn += 1;
        use.publication.requestKeyFrame(Math.max(use.subscription.current, use.subscription.target));
        use.publication.flushKeyFrameRequests(now);
      },
      remb: (bps) => this.estimator.remb(bps, now),
      transportFeedback: (feedback) => this.estimator.feedback(this.#deliveries.onFeedback(feedback), now),
    });
    counters.lostOut += Math.max(0, path.lost);
    if (path.expected > 0) this.estimator.loss(path, this.sentBps(now), now);
    if (this.estimator.bitsPerSecond < before) this.allocate(now);
  }

  /** Bits per second sent, over about the last second. */
  sentBps(now: number): number {
    const first = this.#sentSamples[0];
    const transport = this.#transport;
    if (!first || !transport || now <= first.at) return 0;
    return ((transport.sentBytes - first.bytes) * 8000) / (now - first.at);
  }

  /** Selects a layer for each video. Every 200 ms, and at once when anything that matters changed. */
  allocate(now: number): void {
    const transport = this.#transport;
    if (!transport?.isOpen) return;
    const videos = this.#deps
      .slots()
      .flatMap(({ kind, use, isActive }) => (kind === 'video' && use && isActive ? [use] : []))
      .filter(({ subscription }) => !subscription.isUndecodable);
    const isVisible = this.#visible(videos);
    const demands = videos.map((use) => ({ ...this.#demand(use, now), ...(isVisible(use) ? {} : { ceiling: -1 }) }));
    const { layers, wantedBps } = allocate(demands, this.estimator.bitsPerSecond * VIDEO_SHARE);
    videos.forEach((use, index) => {
      this.#selectLayer(use, layers[index] ?? -1, now);
    });
    this.#probeBps = this.estimator.probe((wantedBps / VIDEO_SHARE) * PROBE_MARGIN, now);
    this.#pacer.estimate(Math.max(this.estimator.burstBps(this.sentBps(now)), this.#probeBps));
    this.#announceStates(now);
    if (now - (this.#sentSamples.at(-1)?.at ?? 0) < SAMPLE_MS) return;
    this.#sentSamples.push({ bytes: transport.sentBytes, at: now });
    if (this.#sentSamples.length > SAMPLES) this.#sentSamples.shift();
  }

  /** Which of the videos have a place; the others are paused. */
  #visible(videos: readonly SlotUse[]): (use: SlotUse) => boolean {
    const { maxVisible, spokeAt } = this.#deps;
    this.#unseen.clear();
    if (maxVisible === undefined || videos.length <= maxVisible) return () => true;
    const candidates = new Map(videos.map((use) => [use, this.#candidate(use, spokeAt(use.streamId))]));
    const chosen = chooseVisible([...candidates.values()], maxVisible);
    for (const [{ publication }, candidate] of candidates) if (!chosen.has(candidate)) this.#unseen.add(publication);
    return ({ publication }) => !this.#unseen.has(publication);
  }

  #candidate({ publication, subscription }: SlotUse, spokeAt: number): Candidate {
    const settings = this.#settings.get(publication.id);
    return {
      isWanted: settings?.enabled !== false,
      priority: priorityOf(publication, settings),
      isShown: settings?.height !== undefined,
      isSent: subscription.target >= 0,
      spokeAt,
    };
  }

  #selectLayer({ publication, subscription }: SlotUse, layer: number, now: number): void {
    const { fps = Number.POSITIVE_INFINITY } = this.#settings.get(publication.id) ?? {};
    subscription.setTemporalLimit(publication.temporalLayerFor(Math.max(subscription.current, layer), fps));
    if (subscription.target !== layer) {
      subscription.setTarget(layer);
      this.#deps.events.demandChanged(publication);
      publication.flushKeyFrameRequests(now);
    } else if (subscription.isSwitching) publication.requestKeyFrame(layer);
    if (layer < subscription.current && this.estimator.isCongested(now)) subscription.dropCurrentLayer();
  }

  #demand({ publication, subscription }: SlotUse, now: number): Demand {
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
      priority: priorityOf(publication, settings),
    };
  }

  /** What is held back is read again when it is due: the last state of each track, and none of one that is gone. */
  #announceStates(now: number): void {
    const { slots, isLarge, events } = this.#deps;
    const isTogether = this.takesStates && isLarge();
    if (isTogether && now - this.#announcedAt < GATHER_MS) return;
    const states: StreamState[] = [];
    for (const slot of slots()) {
      const state = this.#takeChange(slot);
      if (state) states.push(state);
    }
    if (states.length === 0) return;
    this.#announcedAt = now;
    if (isTogether) events.streamStates(states);
    else for (const state of states) events.streamState(state);
  }

  /** The state of the track, if it is another than was announced. */
  #takeChange(slot: Slot): StreamState | undefined {
    if (!slot.use || !slot.isActive) return undefined;
    const { publication, subscription } = slot.use;
    if (subscription.isUndecodable) return undefined;
    const isOff = this.#settings.get(publication.id)?.enabled === false || this.#unseen.has(publication);
    if (subscription.isSwitching && subscription.current < 0) return undefined;
    const isMuted = publication.isMuted || publication.isMutedByServer;
    const reason = isMuted ? 'MUTED' : isOff ? 'SETTINGS' : subscription.target < 0 ? 'BANDWIDTH' : null;
    const state: StreamState = {
      trackId: publication.id,
      state: reason ? 'PAUSED' : 'ACTIVE',
      reason,
      layer: reason ? null : subscription.current,
    };
    const { announced: last } = slot;
    if (last && last.state === state.state && last.reason === state.reason && last.layer === state.layer)
      return undefined;
    slot.announced = state;
    return state;
  }

  /** Every 20 ms: what waits, and padding while the path is probed. */
  tick(now: number): void {
    this.#pacer.drain(now);
    // What waits fills the path as padding would.
    if (this.#probeBps === 0 || this.#pacer.delayMs > 0) return;
    const subscription = this.#deps
      .slots()
      .find(({ kind, use }) => kind === 'video' && (use?.subscription.packets ?? 0) > 0)?.use?.subscription;
    if (!subscription) return;
    let bytes = ((this.#probeBps - this.#mediaBps(now)) * 0.02) / 8;
    while (bytes > 0) {
      const sent = subscription.sendPadding(now);
      if (sent === 0) return;
      bytes -= sent;
    }
  }

  #mediaBps(now: number): number {
    return this.#deps.slots().reduce((sum, { use }) => {
      if (!use || use.subscription.current < 0) return sum;
      return sum + use.publication.bitrateOf(use.subscription.current, now);
    }, 0);
  }

  /** Adds the subscribed videos to those of others, by `LAYER_NAMES`. */
  countLayers(counts: number[]): void {
    const paused = LAYER_NAMES.length - 1;
    for (const { kind, use } of this.#deps.slots()) {
      if (kind !== 'video' || !use) continue;
      const { current } = use.subscription;
      const index = current < 0 ? paused : Math.min(current, paused - 1);
      counts[index] = (counts[index] ?? 0) + 1;
    }
  }

  /** Of each track that is or was sent to the subscriber. */
  totals(): TrackTotals[] {
    return [...this.#uses.values()].flatMap(({ publication: { id, kind }, subscription: { octets, statistics } }) => {
      const { expected, lost } = statistics;
      return octets === 0 ? [] : [{ id, way: 'in' as const, kind, bytes: octets, expected, lost }];
    });
  }

  statistics(): { lossPercent: number | null; jitterMs: number | null; rttMs: number | null } {
    const known = this.#deps.slots().flatMap(({ use }) => (use ? [use.subscription.statistics] : []));
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

const priorityOf = ({ request }: Publication, settings: MediaTrackSettings | undefined): number =>
  settings?.priority ?? (request.source === 'SCREEN_SHARE' ? SCREEN_PRIORITY : DEFAULT_PRIORITY);
