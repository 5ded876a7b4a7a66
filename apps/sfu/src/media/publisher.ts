import type { MediaPermissions, MediaTrackRequest, MediaTransportState } from '@parley/contract/media-control';
import { apply, DEFAULT_EXTENSIONS, type Description, type MediaEntry } from '@parley/media-description';
import type { MediaClock } from './clock.ts';
import { acceptedCodecs, acceptedExtensions, chooseEncoding } from './codecs.ts';
import { MediaError } from './errors.ts';
import type { PathLoss } from './loss-window.ts';
import type { PeerTransport, PeerTransportListener } from './peer-transport.ts';
import { mayPublish } from './permissions.ts';
import { Publication } from './publication.ts';
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
import { ArrivalLog } from './transport-feedback.ts';
import { UplinkEstimator } from './uplink-estimator.ts';
import type { Upstream } from './upstream.ts';

const TRACKS_MAX = 16;
/** Streams a transport may bring; more is not a browser. */
const STREAMS_MAX = 64;
/** Sender of our RTCP toward publishers: any number that no browser uses for media. */
const NODE_SSRC = 1;
/** Senders act on what they hear: late feedback lets a queue grow, frequent feedback costs the path. */
const FEEDBACK_MS = 50;

export interface PublisherDeps {
  clock: MediaClock;
  newTrackId(): string;
  newTransport(hasData: boolean, listener: PeerTransportListener): PeerTransport;
  candidates(): string[];
  permissions(): MediaPermissions;
  events: PublisherEvents;
}

export interface PublisherEvents {
  state(state: MediaTransportState): void;
  published(publication: Publication): void;
  unpublished(publication: Publication): void;
  started(publication: Publication): void;
  audioLevel(level: number): void;
}

interface Stream {
  publication: Publication;
  layer: number;
  upstream: Upstream;
}

/** The `pub` side of a participant: what it sends us. */
export class Publisher {
  readonly #deps: PublisherDeps;
  readonly #publications = new Map<string, Publication>();
  readonly #byMid = new Map<string, Publication>();
  readonly #streams = new Map<number, Stream>();
  readonly #view: RtpView = newRtpView();
  #transport: PeerTransport | undefined;
  #remote: Description | undefined;
  #estimator = new UplinkEstimator();
  /** Header extension ids of the bundle: the same URI has the same id in every m-line. */
  #midId: number | undefined;
  #ridId: number | undefined;
  #absSendTimeId: number | undefined;
  #transportCcId: number | undefined;
  #arrivals = new ArrivalLog();
  #feedbackAt = 0;

  constructor(deps: PublisherDeps) {
    this.#deps = deps;
  }

  get transport(): PeerTransport | undefined {
    return this.#transport;
  }

  get publications(): ReadonlyMap<string, Publication> {
    return this.#publications;
  }

  /** What the publisher may send; null where it finds out by itself from our feedback. */
  get availableBps(): number | null {
    return this.#arrivals.hasHeard ? null : this.#estimator.bitsPerSecond;
  }

  offer(requests: readonly MediaTrackRequest[], change: Description) {
    const isFirst = !this.#transport;
    if (isFirst && (!change.ice || !change.dtls))
      throw new MediaError('BAD_DESCRIPTION', 'The first offer must carry ICE and DTLS parameters.');
    const remote = apply(this.#remote, change);
    const planned = requests.map((request) => this.#plan(request, change));
    if (this.#publications.size + planned.length > TRACKS_MAX)
      throw new MediaError('BAD_REQUEST', `A participant publishes ${TRACKS_MAX} tracks at most.`);
    const local = isFirst ? this.#connect(remote) : undefined;
    this.#remote = remote;
    this.#readExtensionIds(remote);
    for (const { publication } of planned) this.#add(publication);
    return {
      tracks: planned.map(({ request, publication }) => ({ cid: request.cid, trackId: publication.id })),
      description: { ...local, media: change.media.map((entry) => this.#answerEntry(entry)) } satisfies Description,
    };
  }

  #plan(request: MediaTrackRequest, change: Description) {
    if (!mayPublish(this.#deps.permissions(), request.kind))
      throw new MediaError('FORBIDDEN', `This participant may not publish ${request.kind.toLowerCase()}.`);
    const entry = change.media.find(({ trackId }) => trackId === request.cid);
    if (!entry || entry.kind !== request.kind.toLowerCase() || !isSending(entry))
      throw new MediaError(
        'BAD_DESCRIPTION',
        `The description has no sending ${request.kind.toLowerCase()} entry for track ${request.cid}.`,
      );
    const encoding = chooseEncoding(entry);
    if (!encoding) throw new MediaError('BAD_DESCRIPTION', 'None of the offered codecs is supported.');
    const publication: Publication = new Publication({
      id: this.#deps.newTrackId(),
      request,
      encoding,
      mid: entry.mid,
      rids: entry.rids ?? [],
      extensionIds: acceptedExtensions(entry.extensions ?? DEFAULT_EXTENSIONS[entry.kind]),
      publishedAt: this.#deps.clock.wall(),
      events: {
        keyFrameNeeded: (ssrc) => this.#transport?.send(writePli(NODE_SSRC, ssrc)),
        started: () => this.#deps.events.started(publication),
        audioLevel: (level) => this.#deps.events.audioLevel(level),
        // Within this turn: nothing waits for a packet that has not come yet.
        waiting: () => setImmediate(() => publication.flush()),
      },
    });
    return { request, publication };
  }

  #connect(remote: Description): Omit<Description, 'media'> {
    // A viewer has nothing to send: not even an empty transport is its to open.
    if (!this.#transport && !this.#deps.permissions().publish)
      throw new MediaError('FORBIDDEN', 'This participant may not publish.');
    const transport: PeerTransport = this.#deps.newTransport(false, {
      packet: (buffer) => this.#onPacket(buffer),
      state: (state) => {
        if (this.#transport === transport) this.#deps.events.state(state);
      },
      data: () => {},
    });
    try {
      const local = transport.acceptOffer(remote);
      this.#transport = transport;
      this.#estimator = new UplinkEstimator();
      this.#arrivals = new ArrivalLog();
      return { ...local, candidates: this.#deps.candidates() };
    } catch (error) {
      transport.close();
      throw new MediaError('BAD_DESCRIPTION', error instanceof Error ? error.message : 'The offer cannot be used.');
    }
  }

  #readExtensionIds(remote: Description): void {
    for (const { kind, extensions = DEFAULT_EXTENSIONS[kind] } of remote.media) {
      this.#midId = extensions.mid ?? this.#midId;
      this.#ridId = extensions.rid ?? this.#ridId;
      this.#absSendTimeId = extensions.absSendTime ?? this.#absSendTimeId;
      this.#transportCcId = extensions.transportCc ?? this.#transportCcId;
    }
  }

  #add(publication: Publication): void {
    const before = this.#byMid.get(publication.mid);
    if (before) this.#remove(before);
    this.#publications.set(publication.id, publication);
    this.#byMid.set(publication.mid, publication);
    this.#deps.events.published(publication);
  }

  #answerEntry(entry: MediaEntry): MediaEntry {
    const { mid, kind } = entry;
    const publication = this.#byMid.get(mid);
    if (kind === 'data') return { mid, kind, direction: 'inactive' };
    if (!publication) return idleEntry(entry);
    const answer: MediaEntry = {
      mid,
      kind,
      direction: 'recvonly',
      trackId: publication.id,
      codecs: acceptedCodecs(publication.encoding),
      extensions: publication.extensionIds,
    };
    if (publication.layers.length > 1) answer.rids = publication.layers.map((layer) => layer.rid);
    return answer;
  }

  unpublish(trackIds: readonly string[]): { description: Description } {
    const media: MediaEntry[] = [];
    for (const trackId of trackIds) {
      const publication = this.#publications.get(trackId);
      if (!publication) continue;
      media.push({
        ...this.#answerEntry({ mid: publication.mid, kind: publication.kind, direction: 'inactive' }),
        direction: 'inactive',
      });
      this.#remove(publication);
    }
    return { description: { media } };
  }

  #remove(publication: Publication): void {
    this.#publications.delete(publication.id);
    if (this.#byMid.get(publication.mid) === publication) this.#byMid.delete(publication.mid);
    for (const [ssrc, stream] of this.#streams) if (stream.publication === publication) this.#streams.delete(ssrc);
    this.#deps.events.unpublished(publication);
  }

  /** Another transport for the same tracks; those that the new description does not name end. */
  restart(remote: Description): { description: Description } {
    if (!remote.ice || !remote.dtls) throw new MediaError('BAD_DESCRIPTION', 'A restart carries a whole description.');
    const kept = new Map<string, { publication: Publication; entry: MediaEntry }>();
    for (const entry of remote.media) {
      const publication = this.#publications.get(entry.trackId ?? '');
      if (publication && isSending(entry)) kept.set(publication.id, { publication, entry });
    }
    const before = this.#transport;
    const local = this.#connect(remote);
    before?.close();
    this.#remote = remote;
    this.#readExtensionIds(remote);
    this.#streams.clear();
    this.#byMid.clear();
    for (const { publication, entry } of kept.values()) {
      const encoding = chooseEncoding({ ...entry, codecs: sameCodecFirst(entry, publication) });
      if (!encoding || encoding.codec.name !== publication.encoding.codec.name) continue;
      publication.rebind(entry.mid, encoding, acceptedExtensions(entry.extensions ?? DEFAULT_EXTENSIONS[entry.kind]));
      this.#byMid.set(entry.mid, publication);
    }
    for (const publication of [...this.#publications.values()])
      if (this.#byMid.get(publication.mid) !== publication) this.#remove(publication);
    return { description: { ...local, media: remote.media.map((entry) => this.#answerEntry(entry)) } };
  }

  #onPacket(buffer: Buffer): void {
    const now = this.#deps.clock.now();
    if (isRtcp(buffer)) {
      readRtcp(buffer, { senderReport: (report) => this.#onSenderReport(report, now) });
      return;
    }
    const view = this.#view;
    if (!readRtp(buffer, view)) return;
    const numberAt = findExtension(view, this.#transportCcId);
    if (numberAt >= 0 && extensionLength === 2) this.#arrivals.packet(buffer.readUInt16BE(numberAt), now);
    const stream = this.#streams.get(view.ssrc) ?? this.#learn(view);
    if (!stream) return;
    const at = findExtension(view, this.#absSendTimeId);
    this.#estimator.packet(at < 0 ? -1 : buffer.readUIntBE(at, 3), buffer.length, now);
    stream.publication.receive(view, stream.layer, now);
    if (stream.upstream.hasGap) this.#askAgain(stream, now);
  }

  #askAgain({ publication, layer, upstream }: Stream, now: number): void {
    upstream.hasGap = false;
    const sequences = upstream.takeNacks(now);
    if (upstream.hasGivenUp) publication.requestKeyFrame(layer);
    upstream.hasGivenUp = false;
    if (sequences.length > 0) this.#transport?.send(writeNack(NODE_SSRC, upstream.ssrc, sequences));
  }

  /** A new SSRC names its m-line and layer in header extensions, or was named in the description. */
  #learn(view: RtpView): Stream | undefined {
    if (this.#streams.size >= STREAMS_MAX) return undefined;
    const mid = readExtensionText(view, this.#midId);
    const publication =
      mid === undefined
        ? this.#byMid.get(this.#remote?.media.find(({ ssrcs }) => ssrcs?.[0] === view.ssrc)?.mid ?? '')
        : this.#byMid.get(mid);
    if (!publication || !isOwnPayload(publication, view.payloadType)) return undefined;
    const bound = publication.bind(view.ssrc, readExtensionText(view, this.#ridId));
    if (!bound) return undefined;
    for (const [ssrc, other] of this.#streams)
      if (other.publication === publication && other.layer === bound.layer) this.#streams.delete(ssrc);
    const stream = { publication, ...bound };
    this.#streams.set(view.ssrc, stream);
    // The browser takes a bandwidth report at its word in its first two seconds only: say it at once.
    if (publication.kind === 'video' && !this.#arrivals.hasHeard)
      this.#transport?.send(writeRemb(NODE_SSRC, this.#estimator.bitsPerSecond, [view.ssrc]));
    return stream;
  }

  #onSenderReport(report: SenderReport, now: number): void {
    const stream = this.#streams.get(report.ssrc);
    if (!stream) return;
    stream.upstream.onSenderReport(report, now);
    for (const subscription of stream.publication.subscriptions) subscription.onSenderReport(report, stream.layer, now);
  }

  /** Every 20 ms: what came is told, what is missing is asked for, key frames are requested. */
  tick(now: number): void {
    // Most of a large room only listens.
    if (!this.#transport) return;
    if (now - this.#feedbackAt >= FEEDBACK_MS) this.#sendFeedback(now);
    for (const stream of this.#streams.values()) if (stream.upstream.hasMissing) this.#askAgain(stream, now);
    for (const publication of this.#publications.values()) publication.flushKeyFrameRequests(now);
  }

  #sendFeedback(now: number): void {
    const [ssrc] = this.#streams.keys();
    const feedback = ssrc === undefined ? undefined : this.#arrivals.take(NODE_SSRC, ssrc);
    if (!feedback) return;
    this.#feedbackAt = now;
    this.#transport?.send(feedback);
  }

  /** Every second: how it arrived, and how much more may come. */
  report(now: number): void {
    if (!this.#transport || this.#streams.size === 0) return;
    const reports: ReceptionReport[] = [];
    const path: PathLoss = { expected: 0, lost: 0 };
    for (const { upstream } of this.#streams.values()) {
      upstream.measure(now);
      const report = upstream.report(now);
      if (!report) continue;
      reports.push(report);
      const { expected, lost } = upstream.takePathLoss();
      path.expected += expected;
      path.lost += lost;
    }
    this.#estimator.loss(path, now);
    const ssrcs = [...this.#streams.values()]
      .filter(({ publication }) => publication.kind === 'video')
      .map(({ upstream }) => upstream.ssrc);
    const packets = [writeReceiverReport(NODE_SSRC, reports)];
    // A browser that has feedback estimates by itself; our own estimate is for the others.
    if (ssrcs.length > 0 && !this.#arrivals.hasHeard)
      packets.push(writeRemb(NODE_SSRC, this.#estimator.bitsPerSecond, ssrcs));
    this.#transport.send(Buffer.concat(packets));
  }

  statistics(): { lossPercent: number | null; jitterMs: number | null } {
    const upstreams = [...this.#streams.values()].map(({ upstream }) => upstream);
    if (upstreams.length === 0) return { lossPercent: null, jitterMs: null };
    return {
      lossPercent: Math.max(...upstreams.map(({ lossPercent }) => lossPercent)),
      jitterMs: Math.max(...upstreams.map(({ jitterMs }) => jitterMs)),
    };
  }

  /** Ends tracks that the permissions no longer allow. */
  enforce(): void {
    for (const publication of [...this.#publications.values()])
      if (!mayPublish(this.#deps.permissions(), publication.request.kind)) this.#remove(publication);
  }

  close(): void {
    this.#transport?.close();
    this.#transport = undefined;
    for (const publication of [...this.#publications.values()]) this.#remove(publication);
  }
}

/** A line that carries nothing now still needs a codec: without one it would be refused for good. */
function idleEntry(entry: MediaEntry): MediaEntry {
  const { mid, kind, extensions = DEFAULT_EXTENSIONS[kind] } = entry;
  const encoding = chooseEncoding(entry);
  if (!encoding) return { mid, kind, direction: 'inactive' };
  return {
    mid,
    kind,
    direction: 'inactive',
    codecs: acceptedCodecs(encoding),
    extensions: acceptedExtensions(extensions),
  };
}

const isSending = ({ direction }: MediaEntry): boolean => direction === 'sendonly' || direction === 'sendrecv';

const isOwnPayload = ({ encoding: { codec, red } }: Publication, payloadType: number): boolean =>
  payloadType === codec.pt || payloadType === red?.pt;

const sameCodecFirst = ({ codecs = [] }: MediaEntry, { encoding }: Publication) => [
  ...codecs.filter(({ name }) => name === encoding.codec.name || (name === 'red' && encoding.red)),
];
