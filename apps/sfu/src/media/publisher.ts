import type { MediaPermissions, MediaTrackRequest, MediaTransportState } from '@parley/contract/media-control';
import { apply, type Description, type MediaEntry } from '@parley/media-description';
import type { MediaClock } from './clock.ts';
import { acceptedCodecs, acceptedExtensions, chooseEncoding } from './codecs.ts';
import { MediaError } from './errors.ts';
import type { PeerTransport, PeerTransportListener } from './peer-transport.ts';
import { mayPublish } from './permissions.ts';
import { Publication } from './publication.ts';
import { Uplink } from './uplink.ts';

const TRACKS_MAX = 16;

export interface PublisherDeps {
  clock: MediaClock;
  /** A client whose offer need not list its layers lowest first. */
  isPlain: boolean;
  newTrackId(): string;
  newTransport(hasData: boolean, listener: PeerTransportListener): PeerTransport;
  candidates(): string[];
  permissions(): MediaPermissions;
  events: PublisherEvents;
}

interface PublisherEvents {
  state(state: MediaTransportState): void;
  published(publication: Publication): void;
  /** The backup of a published track is there. */
  backedUp(publication: Publication): void;
  /** It is gone, its transport was replaced. */
  backupLost(publication: Publication, backup: Publication): void;
  unpublished(publication: Publication): void;
  started(publication: Publication): void;
  audioLevel(level: number): void;
  /** The track goes on by another transport. */
  rebound(publication: Publication): void;
}

/** The `pub` side of a participant: the tracks it publishes, and their negotiation. */
export class Publisher {
  readonly #deps: PublisherDeps;
  readonly #publications = new Map<string, Publication>();
  readonly #byMid = new Map<string, Publication>();
  /** What the server muted: ending the track and publishing it again, by whatever transport, is no way around it. */
  readonly #mutedByServer = new Set<string>();
  /** Sounds that the server left on when it muted another one. */
  readonly #leftOn = new Set<string>();
  readonly #uplink: Uplink;
  #transport: PeerTransport | undefined;
  #remote: Description | undefined;

  constructor(deps: PublisherDeps) {
    this.#deps = deps;
    this.#uplink = new Uplink({
      clock: deps.clock,
      publicationOf: (mid, ssrc) => this.#byMid.get(mid ?? this.#describedBy(ssrc, 0)?.mid ?? ''),
      rtxSsrcOf: (ssrc) => this.#describedBy(ssrc, 0)?.ssrcs?.[1],
      repairedSsrcOf: (ssrc) => this.#describedBy(ssrc, 1)?.ssrcs?.[0],
    });
  }

  /** The line that names an SSRC as that of its stream (0) or of what repeats it (1). */
  #describedBy = (ssrc: number, place: 0 | 1): MediaEntry | undefined =>
    this.#remote?.media.find(({ ssrcs }) => ssrcs?.[place] === ssrc);

  get transport(): PeerTransport | undefined {
    return this.#transport;
  }

  get publications(): ReadonlyMap<string, Publication> {
    return this.#publications;
  }

  get uplink(): Uplink {
    return this.#uplink;
  }

  offer(requests: readonly MediaTrackRequest[], change: Description) {
    // Another transport: the answer to the first one was lost with the socket, and the client starts over.
    const isNew = !this.#transport || (change.ice !== undefined && change.ice.ufrag !== this.#remote?.ice?.ufrag);
    if (isNew && (!change.ice || !change.dtls))
      throw new MediaError('BAD_DESCRIPTION', 'The first offer must carry ICE and DTLS parameters.');
    const remote = isNew ? change : apply(this.#remote, change);
    const planned = requests.map((request) => this.#plan(request, change));
    if (planned.length + (isNew ? 0 : this.#publications.size) > TRACKS_MAX)
      throw new MediaError('BAD_REQUEST', `A participant publishes ${TRACKS_MAX} tracks at most.`);
    const local = isNew ? this.#reconnect(remote) : undefined;
    this.#remote = remote;
    this.#uplink.readExtensionIds(remote);
    for (const { publication, primary } of planned) this.#add(publication, primary);
    return {
      tracks: planned.map(({ request: { cid }, publication: { id: trackId, isMutedByServer } }) =>
        isMutedByServer ? { cid, trackId, mutedByServer: true } : { cid, trackId },
      ),
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
    const primary = this.#primaryOf(request);
    const publication: Publication = new Publication({
      id: primary?.id ?? this.#deps.newTrackId(),
      request: primary ? backupRequest(primary, request) : request,
      encoding,
      mid: entry.mid,
      rids: entry.rids ?? [],
      extensionIds: acceptedExtensions(entry, encoding),
      publishedAt: this.#deps.clock.wall(),
      isOrderGuessed: this.#deps.isPlain,
      events: {
        keyFrameNeeded: (ssrc) => this.#uplink.sendPli(ssrc),
        started: () => this.#deps.events.started(publication),
        audioLevel: (level) => this.#deps.events.audioLevel(level),
        // Within this turn of the event loop: nothing waits for a packet that has not come yet.
        queued: () => setImmediate(() => publication.flush()),
        // Other processes know the track by its first encoding.
        rebound: () => primary ?? this.#deps.events.rebound(publication),
        reordered: () => this.#uplink.reorder(publication),
      },
    });
    publication.isMutedByServer = this.#isMutedByServer(publication.request);
    return { request, publication, primary };
  }

  #primaryOf({ backupOf }: MediaTrackRequest): Publication | undefined {
    if (backupOf === undefined) return undefined;
    const primary = this.#publications.get(backupOf);
    if (!primary) throw new MediaError('NOT_FOUND', 'This participant does not publish the track to back up.');
    return primary;
  }

  muteByServer(publication: Publication, isMuted: boolean): void {
    for (const one of [publication, publication.backup]) if (one) one.isMutedByServer = isMuted;
    const key = sameTrackKey(publication.request);
    if (isMuted) this.#mutedByServer.add(key);
    else this.#mutedByServer.delete(key);
    for (const { request, isMutedByServer } of this.#publications.values())
      if (!isMutedByServer) this.#leftOn.add(sameTrackKey(request));
    if (isMuted) this.#leftOn.delete(key);
  }

  /** A muted microphone is not heard again as a sound of another source or name (ADR 144). */
  #isMutedByServer(request: MediaTrackRequest): boolean {
    const key = sameTrackKey(request);
    const isNewSound = request.kind === 'AUDIO' && !this.#leftOn.has(key);
    return this.#mutedByServer.has(key) || (isNewSound && [...this.#mutedByServer].some(isSound));
  }

  /** In place of the transport before, if there was one; its tracks end. */
  #reconnect(remote: Description): Omit<Description, 'media'> {
    const before = this.#transport;
    const local = this.#connect(remote);
    before?.close();
    for (const publication of [...this.#publications.values()]) this.#remove(publication);
    return local;
  }

  #connect(remote: Description): Omit<Description, 'media'> {
    // A viewer may not even open an empty transport, nor replace the one of a permission that was taken away.
    if (!this.#deps.permissions().publish) throw new MediaError('FORBIDDEN', 'This participant may not publish.');
    const transport: PeerTransport = this.#deps.newTransport(false, {
      packet: (buffer) => this.#uplink.onPacket(buffer),
      state: (state) => {
        if (this.#transport === transport) this.#deps.events.state(state);
      },
      data: () => {},
    });
    try {
      const local = transport.acceptOffer(remote);
      this.#transport = transport;
      this.#uplink.reset(transport);
      return { ...local, candidates: this.#deps.candidates() };
    } catch (error) {
      transport.close();
      throw new MediaError('BAD_DESCRIPTION', error instanceof Error ? error.message : 'The offer cannot be used.');
    }
  }

  #add(publication: Publication, primary: Publication | undefined): void {
    const before = this.#byMid.get(publication.mid);
    if (before) this.#remove(before);
    this.#byMid.set(publication.mid, publication);
    if (primary) {
      this.#dropBackup(primary);
      primary.backup = publication;
      this.#deps.events.backedUp(primary);
      return;
    }
    this.#publications.set(publication.id, publication);
    this.#deps.events.published(publication);
  }

  #dropBackup(primary: Publication): void {
    const { backup } = primary;
    if (!backup) return;
    primary.backup = undefined;
    this.#forget(backup);
    this.#deps.events.backupLost(primary, backup);
  }

  #forget(publication: Publication): void {
    if (this.#byMid.get(publication.mid) === publication) this.#byMid.delete(publication.mid);
    this.#uplink.forget(publication);
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
      codecs: acceptedCodecs(publication.encoding, publication.request.source),
      extensions: publication.extensionIds,
    };
    if (publication.isSimulcast) answer.rids = publication.layers.map((layer) => layer.rid);
    return answer;
  }

  unpublish(trackIds: readonly string[]): { description: Description } {
    const media: MediaEntry[] = [];
    for (const trackId of trackIds) {
      const publication = this.#publications.get(trackId);
      if (!publication) continue;
      for (const { mid, kind } of [publication, publication.backup].filter((one) => one !== undefined))
        media.push({ ...this.#answerEntry({ mid, kind, direction: 'inactive' }), direction: 'inactive' });
      this.#remove(publication);
    }
    return { description: { media } };
  }

  /** A track with its backup, or the backup alone. */
  #remove(publication: Publication): void {
    const primary = this.#publications.get(publication.id);
    if (primary) this.#dropBackup(primary);
    if (primary !== publication) return;
    this.#publications.delete(publication.id);
    this.#forget(publication);
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
    this.#uplink.readExtensionIds(remote);
    // Backups are asked for anew.
    for (const publication of this.#publications.values()) this.#dropBackup(publication);
    this.#byMid.clear();
    for (const { publication, entry } of kept.values()) {
      const encoding = chooseEncoding({ ...entry, codecs: sameCodecFirst(entry, publication) });
      if (!encoding || encoding.codec.name !== publication.encoding.codec.name) continue;
      publication.rebind(entry.mid, encoding, acceptedExtensions(entry, encoding));
      this.#byMid.set(entry.mid, publication);
    }
    for (const publication of [...this.#publications.values()])
      if (this.#byMid.get(publication.mid) !== publication) this.#remove(publication);
    return { description: { ...local, media: remote.media.map((entry) => this.#answerEntry(entry)) } };
  }

  /** Every 20 ms. */
  tick(now: number): void {
    // Most participants of a large room only subscribe.
    if (!this.#transport) return;
    this.#uplink.tick(now);
    for (const publication of this.#publications.values()) {
      publication.flushKeyFrameRequests(now);
      publication.backup?.flushKeyFrameRequests(now);
    }
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

/** A line without a track still needs a codec: without one it would be refused for good. */
function idleEntry(entry: MediaEntry): MediaEntry {
  const { mid, kind } = entry;
  const encoding = chooseEncoding(entry);
  if (!encoding) return { mid, kind, direction: 'inactive' };
  return {
    mid,
    kind,
    direction: 'inactive',
    codecs: acceptedCodecs(encoding),
    extensions: acceptedExtensions(entry, encoding),
  };
}

/** A participant has one microphone, camera and screen; tracks of the application's own are told apart by their names. */
const sameTrackKey = ({ kind, source, name = '' }: MediaTrackRequest): string =>
  `${kind} ${source === 'UNKNOWN' ? `named ${name}` : source}`;

const isSound = (key: string): boolean => key.startsWith('AUDIO ');

/** The same track in other layers; what the user mutes holds for both. */
function backupRequest(primary: Publication, { cid, layers = [] }: MediaTrackRequest): MediaTrackRequest {
  const { backupCodec: _, ...request } = primary.request;
  return { ...request, cid, layers, muted: primary.isMuted };
}

const isSending = ({ direction }: MediaEntry): boolean => direction === 'sendonly' || direction === 'sendrecv';

const sameCodecFirst = ({ codecs = [] }: MediaEntry, { encoding }: Publication) => [
  ...codecs.filter(({ name }) => name === encoding.codec.name || (name === 'red' && encoding.red)),
];
