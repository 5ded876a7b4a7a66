import { DEFAULT_EXTENSIONS, type Description } from '@parley/media-description';
import type { MediaClock } from './clock.ts';
import { counters } from './counters.ts';
import type { PathLoss } from './loss-window.ts';
import type { PeerTransport } from './peer-transport.ts';
import type { Publication } from './publication.ts';
import {
  type ReceptionReport,
  readRtcp,
  type SenderReport,
  writeNack,
  writePli,
  writeReceiverReport,
  writeRemb,
} from './rtcp.ts';
import { extensionLength, findExtension, isRtcp, newRtpView, type RtpView, readExtensionText, readRtp } from './rtp.ts';
import { RtxStreams, unwrapRtx } from './rtx.ts';
import type { TrackTotals } from './track-sampler.ts';
import { ArrivalLog } from './transport-feedback.ts';
import { UplinkEstimator } from './uplink-estimator.ts';
import type { Upstream } from './upstream.ts';

/** Streams of a transport at most; no browser sends more. */
const STREAMS_MAX = 64;
/** Sender of our RTCP toward publishers: any number that no browser uses for media. */
const NODE_SSRC = 1;
/** Late feedback lets a queue grow at the sender, frequent feedback costs bandwidth. */
const FEEDBACK_MS = 50;

interface UplinkDeps {
  clock: MediaClock;
  /** The track of a new stream: by the m-line it names, or by its SSRC in the description. */
  publicationOf(mid: string | undefined, ssrc: number): Publication | undefined;
  /** By the description: the RTX stream that repeats a stream, and the stream that an RTX stream repeats. */
  rtxSsrcOf(ssrc: number): number | undefined;
  repairedSsrcOf(rtxSsrc: number): number | undefined;
}

interface Stream {
  publication: Publication;
  layer: number;
  upstream: Upstream;
  /** Since the stream began. */
  loss: PathLoss;
}

/** The path from one publisher: its RTP streams, and the feedback that it gets about them. */
export class Uplink {
  readonly #deps: UplinkDeps;
  readonly #streams = new Map<number, Stream>();
  readonly #rtx = new RtxStreams<Stream>();
  readonly #view: RtpView = newRtpView();
  #transport: PeerTransport | undefined;
  #estimator = new UplinkEstimator();
  #arrivals = new ArrivalLog();
  #feedbackAt = 0;
  /** Header extension ids of what must be read before the line is known. */
  #midId: number | undefined;
  #ridId: number | undefined;
  #repairedRidId: number | undefined;
  #transportCcId: number | undefined;

  constructor(deps: UplinkDeps) {
    this.#deps = deps;
  }

  /** A new transport: streams and estimates start over. */
  reset(transport: PeerTransport): void {
    this.#transport = transport;
    this.#streams.clear();
    this.#rtx.clear();
    this.#estimator = new UplinkEstimator();
    this.#arrivals = new ArrivalLog();
  }

  readExtensionIds(remote: Description): void {
    for (const { kind, extensions = DEFAULT_EXTENSIONS[kind] } of remote.media) {
      this.#midId = extensions.mid ?? this.#midId;
      this.#ridId = extensions.rid ?? this.#ridId;
      this.#repairedRidId = extensions.repairedRid ?? this.#repairedRidId;
      this.#transportCcId = extensions.transportCc ?? this.#transportCcId;
    }
  }

  /** What the publisher may send; null for one that estimates by itself from our feedback. */
  get availableBps(): number | null {
    return this.#arrivals.hasHeard ? null : this.#estimator.bitsPerSecond;
  }

  /** The track ended. */
  forget(publication: Publication): void {
    for (const stream of this.#streams.values()) if (stream.publication === publication) this.#end(stream);
  }

  #end(stream: Stream): void {
    this.#streams.delete(stream.upstream.ssrc);
    this.#rtx.forget(stream);
  }

  /** Its layers have other indexes. */
  reorder(publication: Publication): void {
    for (const stream of this.#streams.values())
      if (stream.publication === publication)
        stream.layer = publication.layers.findIndex(({ upstream }) => upstream === stream.upstream);
  }

  /** RTP or RTCP of the publisher. */
  onPacket(buffer: Buffer): void {
    const now = this.#deps.clock.now();
    if (isRtcp(buffer)) {
      readRtcp(buffer, { senderReport: (report) => this.#onSenderReport(report, now) });
      return;
    }
    const view = this.#view;
    if (!readRtp(buffer, view)) return;
    counters.packetsIn += 1;
    const numberAt = findExtension(view, this.#transportCcId);
    if (numberAt >= 0 && extensionLength === 2) this.#arrivals.packet(buffer.readUInt16BE(numberAt), now);
    const own = this.#streams.get(view.ssrc);
    const repaired = own ? undefined : this.#repairedBy(view);
    const stream = own ?? repaired ?? this.#addStream(view);
    if (!stream) return;
    // By the ids of its own line: on another one the same number may name another extension.
    const sentAt = findExtension(view, stream.publication.extensionIds.absSendTime);
    const hasTime = sentAt >= 0 && extensionLength === 3;
    this.#estimator.packet(hasTime ? buffer.readUIntBE(sentAt, 3) : -1, buffer.length, now);
    if (repaired && !unwrapRtx(view, repaired.upstream.ssrc, repaired.publication.encoding.codec.pt)) return;
    if (repaired) counters.rtxIn += 1;
    stream.publication.receive(view, stream.layer, now, repaired !== undefined);
    if (stream.upstream.hasGap) this.#sendNack(stream, now);
  }

  /** A new SSRC names its m-line and layer in header extensions, or was named in the description. */
  #addStream(view: RtpView): Stream | undefined {
    if (this.#streams.size >= STREAMS_MAX || this.#isRtx(view.ssrc)) return undefined;
    const publication = this.#deps.publicationOf(readExtensionText(view, this.#midId), view.ssrc);
    if (!publication || !isOwnPayload(publication, view.payloadType)) return undefined;
    const bound = publication.bind(view.ssrc, readExtensionText(view, this.#ridId));
    if (!bound) return undefined;
    for (const other of this.#streams.values())
      if (other.publication === publication && other.layer === bound.layer) this.#end(other);
    const stream = { publication, ...bound, loss: { expected: 0, lost: 0 } };
    this.#streams.set(view.ssrc, stream);
    const rtxSsrc = this.#deps.rtxSsrcOf(view.ssrc);
    if (rtxSsrc !== undefined && rtxSsrc !== view.ssrc) this.#rtx.bind(rtxSsrc, stream);
    // Browsers follow a bandwidth report upward only in their first two seconds: send it at once.
    if (publication.kind === 'video' && !this.#arrivals.hasHeard)
      this.#transport?.send(writeRemb(NODE_SSRC, this.#estimator.bitsPerSecond, [view.ssrc]));
    return stream;
  }

  #isRtx = (ssrc: number): boolean =>
    this.#rtx.get(ssrc) !== undefined || this.#deps.repairedSsrcOf(ssrc) !== undefined;

  /** The stream that a packet of another SSRC repeats. */
  #repairedBy(view: RtpView): Stream | undefined {
    const known = this.#rtx.get(view.ssrc);
    if (known) return hasRtx(known, view.payloadType) ? known : undefined;
    const stream = this.#learnRepaired(view);
    if (stream) this.#rtx.bind(view.ssrc, stream);
    return stream;
  }

  /** By the description, by the m-line and layer that the packet names, or because only one stream can be meant. */
  #learnRepaired(view: RtpView): Stream | undefined {
    const streams = [...this.#streams.values()].filter((stream) => hasRtx(stream, view.payloadType));
    const described = this.#deps.repairedSsrcOf(view.ssrc);
    if (described !== undefined) return streams.find(({ upstream }) => upstream.ssrc === described);
    const mid = readExtensionText(view, this.#midId);
    const rid = readExtensionText(view, this.#repairedRidId);
    const meant = streams.filter((stream) => {
      const { publication, layer } = stream;
      const { isSimulcast } = publication;
      if (mid !== undefined && mid !== publication.mid) return false;
      if (rid !== undefined && isSimulcast) return rid === publication.layers[layer]?.rid;
      return (mid !== undefined && !isSimulcast) || !this.#rtx.repairs(stream);
    });
    return meant.length === 1 ? meant[0] : undefined;
  }

  #onSenderReport(report: SenderReport, now: number): void {
    const stream = this.#streams.get(report.ssrc);
    stream?.publication.onSenderReport(report, stream.layer, now);
  }

  #sendNack({ publication, layer, upstream }: Stream, now: number): void {
    upstream.hasGap = false;
    const sequences = upstream.takeNacks(now);
    if (upstream.hasGivenUp) publication.requestKeyFrame(layer);
    upstream.hasGivenUp = false;
    counters.nacksOut += sequences.length;
    if (sequences.length > 0) this.#transport?.send(writeNack(NODE_SSRC, upstream.ssrc, sequences));
  }

  sendPli(ssrc: number): void {
    counters.keyFrameRequestsOut += 1;
    this.#transport?.send(writePli(NODE_SSRC, ssrc));
  }

  /** Every 20 ms: feedback about what arrived, NACKs for what is missing. */
  tick(now: number): void {
    if (now - this.#feedbackAt >= FEEDBACK_MS) this.#sendFeedback(now);
    for (const stream of this.#streams.values()) if (stream.upstream.hasMissing) this.#sendNack(stream, now);
  }

  #sendFeedback(now: number): void {
    const [ssrc] = this.#streams.keys();
    const feedback = ssrc === undefined ? undefined : this.#arrivals.take(NODE_SSRC, ssrc);
    if (!feedback) return;
    this.#feedbackAt = now;
    this.#transport?.send(feedback);
  }

  /** Twice a second: receiver reports, and the bandwidth estimate for publishers without one of their own. */
  report(now: number): void {
    if (!this.#transport || this.#streams.size === 0) return;
    const reports: ReceptionReport[] = [];
    const path: PathLoss = { expected: 0, lost: 0 };
    for (const { publication, upstream, loss } of this.#streams.values()) {
      upstream.rate.measure(now);
      publication.measure(now);
      const report = upstream.report(now);
      if (!report) continue;
      reports.push(report);
      const { expected, lost } = upstream.takePathLoss();
      path.expected += expected;
      path.lost += lost;
      loss.expected += expected;
      loss.lost += lost;
    }
    counters.lostIn += path.lost;
    this.#estimator.loss(path, now);
    const packets = [writeReceiverReport(NODE_SSRC, reports)];
    const ssrcs = this.#videoSsrcs();
    if (ssrcs.length > 0 && !this.#arrivals.hasHeard)
      packets.push(writeRemb(NODE_SSRC, this.#estimator.bitsPerSecond, ssrcs));
    this.#transport.send(Buffer.concat(packets));
  }

  #videoSsrcs(): number[] {
    const videos = [...this.#streams.values()].filter(({ publication }) => publication.kind === 'video');
    return videos.map(({ upstream }) => upstream.ssrc);
  }

  /** Of each track, all its layers together. */
  totals(): TrackTotals[] {
    const totals = new Map<string, TrackTotals>();
    for (const { publication, upstream, loss } of this.#streams.values()) {
      const { id, kind } = publication;
      const known: TrackTotals = totals.get(id) ?? {
        id,
        way: 'out',
        kind,
        bytes: 0,
        expected: 0,
        lost: 0,
      };
      known.bytes += upstream.rate.bytes;
      known.expected += loss.expected;
      known.lost += loss.lost;
      totals.set(id, known);
    }
    return [...totals.values()];
  }

  statistics(): { lossPercent: number | null; jitterMs: number | null } {
    const upstreams = [...this.#streams.values()].map(({ upstream }) => upstream);
    if (upstreams.length === 0) return { lossPercent: null, jitterMs: null };
    return {
      lossPercent: Math.max(...upstreams.map(({ lossPercent }) => lossPercent)),
      jitterMs: Math.max(...upstreams.map(({ jitterMs }) => jitterMs)),
    };
  }
}

const hasRtx = ({ publication }: Stream, payloadType: number): boolean =>
  publication.encoding.codec.rtx === payloadType;

const isOwnPayload = ({ encoding: { codec, red } }: Publication, payloadType: number): boolean =>
  payloadType === codec.pt || payloadType === red?.pt;
