import type {
  DataFallback,
  MediaCloseReason,
  MediaParticipantSnapshot,
  MediaPermissions,
  MediaQuality,
  MediaTransport,
  MediaTransportState,
  MediaTransportStats,
} from '@parley/contract/media-control';
import { DataBudget, FallbackBudget } from './data-budget.ts';
import type { PeerTransport } from './peer-transport.ts';
import type { Publication } from './publication.ts';
import type { Publisher } from './publisher.ts';
import { ReliableQueue } from './reliable-queue.ts';
import { Silence } from './silence.ts';
import type { Subscriber } from './subscriber.ts';
import { TrackSampler } from './track-sampler.ts';

/** A transport that stays failed for this long without being rebuilt ends the participant. */
const FAILED_MS_MAX = 30_000;
/** A client without a socket that says nothing for this long is gone; reports come every few seconds. */
const SILENT_MS_MAX = 12_000;
/** So long may a client without a socket take from its answer to a connection. */
const CONNECTING_MS_MAX = 14_000;
/** Packets that a receiver answers with a report at the latest. */
const UNANSWERED_PACKETS = 10;

export interface ParticipantInit {
  id: string;
  identity: string;
  /** Which of two sessions of an identity is the newer one. */
  order: number;
  permissions: MediaPermissions;
  isAutoSubscribed: boolean;
  /** Without a signaling socket, by which others would be known to be there. */
  isPlain: boolean;
  /** One of an audience, of whom nobody is told. */
  isViewer?: boolean;
  joinedAt: number;
  fallback: DataFallback;
}

/** One participant of a room: its publisher and subscriber side, and the state and quality of both. */
export class Participant {
  readonly id: string;
  readonly identity: string;
  readonly order: number;
  readonly joinedAt: number;
  readonly dataBudget = new DataBudget();
  /** Data by signaling: what others got of this participant, and what it got. */
  readonly fallbackSent: FallbackBudget;
  readonly fallbackReceived: FallbackBudget;
  readonly reliable = new ReliableQueue(() => this.subscriber.transport);
  permissions: MediaPermissions;
  isAutoSubscribed: boolean;
  state: 'JOINING' | 'JOINED' | 'ACTIVE' = 'JOINING';
  quality: MediaQuality | null = null;
  /** Without a signaling socket: neither data nor anything else but media reaches it. */
  readonly isPlain: boolean;
  readonly isViewer: boolean;
  #hasHungUp = false;
  readonly #failedAt = new Map<MediaTransport, number>();
  readonly #silence = { pub: new Silence(0), sub: new Silence(UNANSWERED_PACKETS) };
  /** Of transports that have not connected yet, since when they are there. */
  readonly #connectingSince = new Map<MediaTransport, number>();
  readonly #rates = new Map<MediaTransport, Rates>();
  readonly #samples = new TrackSampler();
  readonly publisher: Publisher;
  readonly subscriber: Subscriber;

  constructor(
    init: ParticipantInit,
    sides: (participant: Participant) => { publisher: Publisher; subscriber: Subscriber },
  ) {
    this.id = init.id;
    this.identity = init.identity;
    this.order = init.order;
    this.permissions = init.permissions;
    this.isAutoSubscribed = init.isAutoSubscribed;
    this.isPlain = init.isPlain;
    this.isViewer = init.isViewer ?? false;
    this.joinedAt = init.joinedAt;
    this.fallbackSent = new FallbackBudget(init.fallback.sentPerSecond);
    this.fallbackReceived = new FallbackBudget(init.fallback.receivedPerSecond);
    const { publisher, subscriber } = sides(this);
    this.publisher = publisher;
    this.subscriber = subscriber;
  }

  get publications(): ReadonlyMap<string, Publication> {
    return this.publisher.publications;
  }

  get wantsSubscriber(): boolean {
    return !this.isPlain && (this.permissions.subscribe || this.permissions.publishData);
  }

  onTransport(pc: MediaTransport, state: MediaTransportState, now: number): void {
    if (state === 'FAILED') this.#failedAt.set(pc, now);
    else if (state === 'CLOSED') this.#hasHungUp = true;
    else if (state === 'CONNECTED' || state === 'NEW' || state === 'CONNECTING') this.#failedAt.delete(pc);
  }

  /** Why the participant is to be removed; undefined while it is there. */
  goneReason(now: number): MediaCloseReason | undefined {
    // Nobody can rebuild the transport of a client without a socket.
    const failedMsMax = this.isPlain ? 0 : FAILED_MS_MAX;
    if ([...this.#failedAt.values()].some((since) => now - since > failedMsMax)) return 'CONNECTION_TIMEOUT';
    if (!this.isPlain) return undefined;
    if (this.#hasHungUp) return 'CLIENT_INITIATED';
    return this.#isSilent(now) || this.#isNotConnecting(now) ? 'CONNECTION_TIMEOUT' : undefined;
  }

  /** ICE gives up only once it has candidates to check, and a client may never send a packet. */
  #isNotConnecting(now: number): boolean {
    return (['pub', 'sub'] as const).some((pc) => {
      const state = this.#transport(pc)?.state;
      if (state !== 'NEW' && state !== 'CONNECTING') {
        this.#connectingSince.delete(pc);
        return false;
      }
      const since = this.#connectingSince.get(pc) ?? now;
      this.#connectingSince.set(pc, since);
      return now - since >= CONNECTING_MS_MAX;
    });
  }

  #isSilent(now: number): boolean {
    return (['pub', 'sub'] as const).some((pc) => {
      const transport = this.#transport(pc);
      if (transport?.state !== 'CONNECTED') return false;
      // Who has not begun to send has no reports to send either: ICE consent knows whether they are there.
      const mayBeQuiet = pc === 'pub' && transport.receivedBytes === 0;
      return this.#silence[pc].measure(transport, now) > SILENT_MS_MAX && !mayBeQuiet;
    });
  }

  #transport(pc: MediaTransport): PeerTransport | undefined {
    return pc === 'pub' ? this.publisher.transport : this.subscriber.transport;
  }

  /** Call it about once a second. */
  measure(now: number): void {
    for (const pc of ['pub', 'sub'] as const) {
      const transport = this.#transport(pc);
      if (!transport) continue;
      const { receivedBytes: inBytes, sentBytes: outBytes } = transport;
      const before = this.#rates.get(pc);
      const elapsed = before ? now - before.at : 0;
      const isSame = before && elapsed > 0 && inBytes >= before.inBytes && outBytes >= before.outBytes;
      this.#rates.set(pc, {
        at: now,
        inBytes,
        outBytes,
        inBps: isSame ? ((inBytes - before.inBytes) * 8000) / elapsed : 0,
        outBps: isSame ? ((outBytes - before.outBytes) * 8000) / elapsed : 0,
      });
    }
  }

  /** Every 5 s: samples of its tracks, when there are enough to send. */
  sampleTracks(now: number): ReturnType<TrackSampler['sample']> {
    return this.#samples.sample([...this.publisher.uplink.totals(), ...this.subscriber.downlink.totals()], now);
  }

  stats(pc: MediaTransport): MediaTransportStats | null {
    const transport = this.#transport(pc);
    if (!transport) return null;
    const rates = this.#rates.get(pc);
    const { lossPercent, jitterMs } =
      pc === 'pub' ? this.publisher.uplink.statistics() : this.subscriber.downlink.statistics();
    return {
      state: transport.state,
      rttMs: pc === 'sub' ? this.subscriber.downlink.statistics().rttMs : null,
      packetLossPercent: lossPercent,
      jitterMs,
      inBps: Math.round(rates?.inBps ?? 0),
      outBps: Math.round(rates?.outBps ?? 0),
      availableBps:
        pc === 'pub' ? this.publisher.uplink.availableBps : this.subscriber.downlink.estimator.bitsPerSecond,
    };
  }

  snapshot(now: number, isBrief = false): MediaParticipantSnapshot {
    return {
      participant: this.id,
      identity: this.identity,
      state: this.state,
      permissions: this.permissions,
      joinedAt: new Date(this.joinedAt).toISOString(),
      quality: this.quality,
      transports: { pub: this.publisher.transport?.state ?? null, sub: this.subscriber.transport?.state ?? null },
      tracks: [...this.publisher.publications.values()].map((publication) => publication.describe(now)),
      subscriptions: isBrief ? [] : this.subscriber.trackIds,
    };
  }
}

interface Rates {
  at: number;
  inBytes: number;
  outBytes: number;
  inBps: number;
  outBps: number;
}
