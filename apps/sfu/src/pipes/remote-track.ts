import type { MediaTrackRequest } from '@parley/contract/media-control';
import type { Extensions } from '@parley/media-description';
import type { Encoding } from '../media/codecs.ts';
import { counters } from '../media/counters.ts';
import { Publication } from '../media/publication.ts';
import type { SenderReport } from '../media/rtcp.ts';
import { newRtpView, readRtp } from '../media/rtp.ts';
import type { Upstream } from '../media/upstream.ts';
import type { Pipe, PipedLayer } from './pipe.ts';
import { BACKUP_BIT } from './tap.ts';

const DEMAND_MS = 1000;

/** A track as the process that publishes it describes it to the others. */
export interface TrackDescription {
  id: string;
  /** Its number on pipes. */
  number: number;
  request: MediaTrackRequest;
  encoding: { codec: Encoding['codec']; red?: Encoding['red'] };
  mid: string;
  rids: string[];
  extensionIds: Extensions;
  publishedAt: number;
  isMuted: boolean;
  isMutedByServer: boolean;
}

interface Feed {
  run: number;
  upstream: Upstream;
}

/** A track that another process publishes: a publication as any other, which a pipe feeds. */
export class RemoteTrack {
  readonly publication: Publication;
  readonly number: number;
  readonly #pipe: Pipe;
  readonly #feeds: (Feed | undefined)[] = [];
  #demand = 0;
  #demandedAt = Number.NEGATIVE_INFINITY;

  constructor(description: TrackDescription, pipe: Pipe) {
    const { number, encoding, isMuted, isMutedByServer, ...init } = description;
    this.number = number;
    this.#pipe = pipe;
    this.publication = new Publication({
      ...init,
      encoding: { codec: encoding.codec, red: encoding.red },
      startsOff: true,
      events: {
        keyFrameNeeded: (_, layer) => this.#pipe.sendKeyFrameRequest(number, layer),
        // Where it is published they are known already.
        started: () => {},
        audioLevel: () => {},
        queued: () => setImmediate(() => this.publication.flush()),
      },
    });
    this.publication.isMuted = isMuted;
    this.publication.isMutedByServer = isMutedByServer;
  }

  /** Another description of the same track: it was muted, or its publisher has another transport. */
  update({ encoding: { codec, red }, mid, extensionIds, isMuted, isMutedByServer }: TrackDescription): void {
    const { publication } = this;
    const wasMuted = publication.isMuted || publication.isMutedByServer;
    publication.rebind(mid, { codec, red }, extensionIds);
    publication.isMuted = isMuted;
    publication.isMutedByServer = isMutedByServer;
    if (publication.backup) publication.backup.isMutedByServer = isMutedByServer;
    if (wasMuted && !isMuted && !isMutedByServer)
      for (const subscription of publication.subscriptions) subscription.restart();
  }

  receive({ layer, run }: PipedLayer, packet: Buffer, now: number): void {
    if (!readRtp(packet, view)) return;
    const feed = this.#feedOf(layer, run, view.ssrc);
    if (!feed) return;
    this.publication.receive(view, layer, now);
    if (feed.upstream.hasGap) this.#sendNack(layer, feed, now);
  }

  /** Undefined for a packet of a run that is over, or of a layer that there is not. */
  #feedOf(layer: number, run: number, ssrc: number): Feed | undefined {
    const feed = this.#feeds[layer];
    if (feed?.run === run) return feed;
    if (feed && ((run - feed.run) << 24) >> 24 < 0) return undefined;
    const bound = this.publication.bind(ssrc, this.publication.layers[layer]?.rid);
    if (bound?.layer !== layer) return undefined;
    this.#feeds[layer] = { run, upstream: bound.upstream };
    return this.#feeds[layer];
  }

  onSenderReport({ layer, run }: PipedLayer, report: SenderReport, now: number): void {
    if (this.#feeds[layer]?.run === run) this.publication.onSenderReport(report, layer, now);
  }

  #sendNack(layer: number, { run, upstream }: Feed, now: number): void {
    upstream.hasGap = false;
    const sequences = upstream.takeNacks(now, this.#pipe.rttMs ?? 0);
    if (upstream.hasGivenUp) this.publication.requestKeyFrame(layer);
    upstream.hasGivenUp = false;
    counters.pipeNacksOut += sequences.length;
    if (sequences.length > 0) this.#pipe.sendNack({ track: this.number, layer, run }, sequences);
  }

  /** Says which layers are wanted here: at once when that changed, and again every second. */
  updateDemand(now: number): void {
    const layers = this.#wantedLayers(now);
    const isDue = layers !== 0 && now - this.#demandedAt >= DEMAND_MS;
    if (layers === this.#demand && !isDue) return;
    this.#demand = layers;
    this.#demandedAt = now;
    this.#pipe.sendDemand(this.number, layers);
  }

  #wantedLayers(now: number): number {
    const { publication } = this;
    if (publication.kind === 'audio') return publication.subscriptions.length > 0 ? 1 : 0;
    publication.ceiling = Math.max(0, publication.layers.length - 1 - this.#pipe.layersCut);
    publication.takeDemand(now);
    const wanted = publication.layers.map(({ isEnabled }, layer) => (isEnabled ? layer : -1)).filter((at) => at >= 0);
    const backup = publication.lacksBackup ? BACKUP_BIT : 0;
    // In place of a layer that does not fit: who gets that one goes down as soon as the other is there.
    return wanted.reduce((bits, layer) => bits | (1 << Math.min(layer, publication.ceiling)), backup);
  }

  /** Every 20 ms. */
  tick(now: number): void {
    this.updateDemand(now);
    this.#feeds.forEach((feed, layer) => {
      if (feed?.upstream.hasMissing) this.#sendNack(layer, feed, now);
    });
    this.publication.flushKeyFrameRequests(now);
  }

  /** Twice a second. */
  report(now: number): void {
    for (const feed of this.#feeds) feed?.upstream.rate.measure(now);
    this.publication.measure(now);
  }

  /** Nobody here wants it any more. */
  close(): void {
    if (this.#demand !== 0) this.#pipe.sendDemand(this.number, 0);
  }
}

/** Reused for packet after packet. */
const view = newRtpView();
