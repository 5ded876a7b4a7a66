import type {
  DataFallback,
  MediaCloseReason,
  MediaEvent,
  MediaEvents,
  MediaPermissions,
  MediaRequests,
  MediaRoomSnapshot,
  MediaSubscribeResult,
  MediaTrackChoice,
  MediaTransport,
  MediaTransportState,
} from '@parley/contract/media-control';
import type { DataChannelName, DataFlowState, DataHead } from '@parley/media-description';
import type { MediaClock } from './clock.ts';
import { Crowd, type SnapshotOptions } from './crowd.ts';
import { DataRelay } from './data-relay.ts';
import { MediaError } from './errors.ts';
import { Loudest } from './loudest.ts';
import type { DataSender, OtherLegs, TrackOwner } from './other-legs.ts';
import { Participant, type ParticipantInit } from './participant.ts';
import type { PeerTransport, PeerTransportListener } from './peer-transport.ts';
import type { Publication } from './publication.ts';
import { Publisher } from './publisher.ts';
import { scoreOf } from './quality.ts';
import { Speakers } from './speakers.ts';
import { Subscriber, type SubscriberDeps } from './subscriber.ts';
import { resolveChoice } from './track-choice.ts';
import { SAMPLE_EVERY_MS } from './track-sampler.ts';

export type Emit = (event: MediaEvent) => void;

export interface RoomDeps {
  clock: MediaClock;
  random(): number;
  newTrackId(): string;
  newTransport(name: string, hasData: boolean, listener: PeerTransportListener): PeerTransport;
  candidates(): string[];
  newLegs(room: Room): OtherLegs;
  emit: Emit;
  /** A data message was not delivered to a receiver. */
  onDataDropped(): void;
}

interface RoomInit {
  id: string;
  emptyTimeoutMs: number;
  dataFallback: DataFallback;
}

/** How a participant takes videos. */
type Viewing = Pick<SubscriberDeps, 'isAdaptive' | 'maxVisible'>;

/** One room: its participants, who subscribes to whom, and the events about them. */
export class Room {
  readonly id: string;
  readonly openedAt: number;
  readonly emptyTimeoutMs: number;
  emptySince: number;
  readonly #deps: RoomDeps;
  readonly #dataFallback: DataFallback;
  readonly #participants = new Crowd();
  readonly #speakers = new Speakers();
  readonly #loudest = new Loudest<Publication>();
  readonly #legs: OtherLegs;
  readonly data: DataRelay;

  constructor({ id, emptyTimeoutMs, dataFallback }: RoomInit, deps: RoomDeps) {
    this.id = id;
    this.emptyTimeoutMs = emptyTimeoutMs;
    this.#dataFallback = dataFallback;
    this.#deps = deps;
    this.openedAt = deps.clock.wall();
    this.emptySince = deps.clock.now();
    this.#legs = deps.newLegs(this);
    this.data = new DataRelay({
      ...deps,
      legs: this.#legs,
      room: id,
      participants: this.#participants,
      onDropped: deps.onDataDropped,
    });
  }

  get participants(): ReadonlyMap<string, Participant> {
    return this.#participants;
  }

  get(id: string): Participant {
    const participant = this.#participants.get(id);
    if (!participant) throw new MediaError('NOT_FOUND', 'No such participant in this room.');
    return participant;
  }

  add(init: Omit<ParticipantInit, 'joinedAt' | 'fallback'> & Viewing): Participant {
    const known = this.#participants.get(init.id);
    if (known) return known;
    const others = this.#participants.ofIdentity(init.identity);
    // Adds come from several processes and may arrive out of order.
    if (others.some(({ order }) => order > init.order))
      throw new MediaError('STALE', 'A newer session of this identity is in the room.');
    for (const { id } of others) this.remove(id, 'DUPLICATE_IDENTITY');
    const joined = { ...init, joinedAt: this.#deps.clock.wall(), fallback: this.#dataFallback };
    const participant = new Participant(joined, (self) => this.#sidesOf(self, init));
    this.#participants.add(participant);
    this.#legs.joined(participant);
    if (participant.wantsSubscriber) participant.subscriber.open();
    if (participant.isAutoSubscribed) this.#subscribeToAll(participant);
    return participant;
  }

  #sidesOf(self: Participant, { isAdaptive, maxVisible }: Viewing) {
    const { clock, random, newTrackId, candidates, emit } = this.#deps;
    const address = { room: this.id, participant: self.id };
    const named = (pc: MediaTransport) => (hasData: boolean, listener: PeerTransportListener) =>
      this.#deps.newTransport(`${this.id}/${self.id}/${pc}`, hasData, listener);
    const shared = { clock, candidates, permissions: () => self.permissions };
    const publisher = new Publisher({
      ...shared,
      isPlain: self.isPlain,
      newTrackId,
      newTransport: named('pub'),
      events: {
        state: (state) => this.#onTransport(self, 'pub', state),
        published: (publication) => this.#onPublished(self, publication),
        backedUp: (publication) => this.#onBackup(publication, publication.backup),
        backupLost: (publication, backup) => this.#onBackup(backup, publication, backup),
        unpublished: (publication) => this.#onUnpublished(self, publication),
        started: (publication) => this.#onStarted(self, publication),
        audioLevel: (level) => this.#speakers.addLevel(self.identity, level),
        rebound: (publication) => this.#legs.changed(publication),
      },
    });
    const subscriber = new Subscriber({
      ...shared,
      random,
      isAdaptive,
      maxVisible,
      isLarge: () => this.#loudest.isLarge,
      spokeAt: (participant) => this.#loudest.spokeAt(participant),
      newTransport: named('sub'),
      events: {
        state: (state) => this.#onTransport(self, 'sub', state),
        offer: (revision, restart, description) =>
          emit({ type: 'sub.offer', data: { ...address, revision, restart, description } }),
        data: (channel, message) => this.data.onMessage(self, channel, message),
        streamState: (state) => emit({ type: 'stream.state', data: { ...address, ...state } }),
        streamStates: (states) => emit({ type: 'stream.states', data: { ...address, states } }),
        demandChanged: (publication) => this.#announceDemand(publication),
      },
    });
    return { publisher, subscriber };
  }

  #onTransport(participant: Participant, pc: MediaTransport, state: MediaTransportState): void {
    const { clock, emit } = this.#deps;
    participant.onTransport(pc, state, clock.now());
    emit({ type: 'transport.state', data: { room: this.id, participant: participant.id, pc, state } });
    if (state === 'CONNECTED' && participant.state === 'JOINING') this.#advance(participant, 'JOINED');
    if (state === 'CONNECTED' && pc === 'sub') this.#advance(participant, 'ACTIVE');
  }

  #advance(participant: Participant, state: 'JOINED' | 'ACTIVE'): void {
    if (participant.state === state || participant.state === 'ACTIVE') return;
    participant.state = state;
    this.#deps.emit({ type: 'participant.state', data: { ...this.#addressOf(participant), state } });
  }

  #addressOf = ({ id, identity }: Participant) => ({ room: this.id, participant: id, identity });

  #onPublished(participant: Participant, publication: Publication): void {
    this.#participants.publishers.add(participant);
    const track = publication.describe(this.#deps.clock.now());
    this.#deps.emit({ type: 'track.published', data: { ...this.#addressOf(participant), track } });
    this.#legs.published(participant, publication);
    this.offerTrack(participant, publication);
  }

  /** A track that can be subscribed to from now on, of this process or of another one. */
  offerTrack(owner: TrackOwner, publication: Publication): void {
    this.#loudest.add(publication, owner.id);
    for (const other of this.#participants.values())
      if (other !== owner && other.isAutoSubscribed) other.subscriber.subscribe(publication, owner.id);
  }

  withdrawTrack(publication: Publication): void {
    this.#loudest.delete(publication);
    for (const other of this.#participants.values()) other.subscriber.unsubscribe(publication.id);
  }

  /** The backup of a track is there, or not any more: who needs it is moved on its line. */
  changeEncoding(from: Publication, to: Publication): void {
    for (const { subscriber } of this.#participants.values()) subscriber.changeEncoding(from, to);
  }

  #onBackup(from: Publication, to: Publication | undefined, lost?: Publication): void {
    if (to) this.changeEncoding(from, to);
    this.#legs.backupChanged(lost);
  }

  #onUnpublished(participant: Participant, publication: Publication): void {
    if (participant.publications.size === 0) this.#participants.publishers.delete(participant);
    this.withdrawTrack(publication);
    this.#legs.unpublished(publication);
    this.#deps.emit({ type: 'track.unpublished', data: { ...this.#addressOf(participant), trackId: publication.id } });
  }

  #onStarted(participant: Participant, publication: Publication): void {
    this.#advance(participant, 'ACTIVE');
    const track = publication.describe(this.#deps.clock.now());
    this.#deps.emit({ type: 'track.started', data: { ...this.#addressOf(participant), track } });
  }

  #publisherOf(publication: Publication): Participant | undefined {
    for (const participant of this.#participants.publishers)
      if (isOwn(participant.publisher.publications.get(publication.id), publication)) return participant;
    return undefined;
  }

  #announceDemand(publication: Publication): void {
    const now = this.#deps.clock.now();
    if (this.#legs.demandChanged(publication, now)) return;
    const layers = publication.takeDemand(now);
    const owner = this.#publisherOf(publication);
    if (!owner) return;
    const isBackup = owner.publisher.publications.get(publication.id) !== publication;
    const address = { room: this.id, participant: owner.id, trackId: publication.id };
    const announce = (data: Pick<MediaEvents['publish.quality'], 'layers' | 'backup'>): void =>
      this.#deps.emit({ type: 'publish.quality', data: { ...address, ...data } });
    if (layers) announce(isBackup ? { layers, backup: true } : { layers });
    if (publication.takeBackupRequest(now)) announce({ layers: [], backup: true });
  }

  #subscribeToAll(participant: Participant): void {
    for (const publishers of [this.#participants.publishers, this.#legs.publishers()])
      for (const other of publishers)
        if (other !== participant)
          for (const publication of other.publications.values())
            participant.subscriber.subscribe(publication, other.id);
  }

  /** Here and in the other processes of the room. */
  *#owners(): Iterable<TrackOwner> {
    yield* this.#participants.values();
    yield* this.#legs.owners();
  }

  subscribe(participant: Participant, choice: MediaTrackChoice): MediaSubscribeResult {
    const { found, missing } = resolveChoice(this.#owners(), participant, choice);
    const result: MediaSubscribeResult = { accepted: [], refused: [] };
    for (const { publication, owner } of found) {
      if (participant.subscriber.subscribe(publication, owner.id)) result.accepted.push(publication.id);
      else result.refused.push({ id: publication.id, code: 'FORBIDDEN' });
    }
    for (const id of missing) result.refused.push({ id, code: 'NOT_FOUND' });
    return result;
  }

  unsubscribe(participant: Participant, choice: MediaTrackChoice): MediaSubscribeResult {
    const { found, missing } = resolveChoice(this.#owners(), participant, choice);
    const result: MediaSubscribeResult = { accepted: [], refused: [] };
    for (const { publication } of found) {
      participant.subscriber.unsubscribe(publication.id);
      result.accepted.push(publication.id);
    }
    for (const id of missing) result.refused.push({ id, code: 'NOT_FOUND' });
    return result;
  }

  mute({ room: _, participant: id, trackId, muted, by }: MediaRequests['track.mute']): boolean {
    const participant = this.get(id);
    const publication = participant.publisher.publications.get(trackId);
    if (!publication) throw new MediaError('NOT_FOUND', 'This participant does not publish that track.');
    const before = by === 'SERVER' ? publication.isMutedByServer : publication.isMuted;
    if (by === 'SERVER') participant.publisher.muteByServer(publication, muted);
    else for (const one of encodingsOf(publication)) one.isMuted = muted;
    if (before === muted) return false;
    if (!muted)
      for (const { subscriptions } of encodingsOf(publication))
        for (const subscription of subscriptions) subscription.restart();
    this.#legs.changed(publication);
    this.#deps.emit({ type: 'track.muted', data: { ...this.#addressOf(participant), trackId, muted, by } });
    return true;
  }

  setPermissions(participant: Participant, permissions: MediaPermissions): void {
    participant.permissions = permissions;
    participant.publisher.enforce();
    participant.subscriber.enforce();
    this.#legs.joined(participant);
    if (participant.wantsSubscriber) participant.subscriber.open();
    if (permissions.subscribe && participant.isAutoSubscribed) this.#subscribeToAll(participant);
  }

  get fallbackPerSecond(): number {
    return this.#dataFallback.sentPerSecond;
  }

  /** A data message of a participant in another process. */
  deliver(sender: DataSender, channel: DataChannelName, head: DataHead, payload: Uint8Array): void {
    this.data.deliver(sender, channel, head, payload);
  }

  /** From another process, where receivers of one of ours are. */
  onDataFlow(sender: string, process: string, state: DataFlowState): void {
    this.data.onFlow(sender, process, state);
  }

  /** Every 20 ms. */
  tick(now: number): void {
    for (const { publisher, subscriber } of this.#participants.values()) {
      publisher.tick(now);
      subscriber.tick(now);
    }
    this.#loudest.tick(now, () => [...this.#owners()].length, this.#legs);
    this.#legs.tick(now);
    this.data.tick(now);
  }

  /** Every 200 ms. */
  allocate(now: number): void {
    for (const { publisher, subscriber } of this.#participants.values()) {
      subscriber.downlink.allocate(now);
      for (const publication of publisher.publications.values())
        for (const one of encodingsOf(publication)) this.#announceDemand(one);
    }
  }

  /** Every 500 ms. */
  report(now: number): void {
    for (const participant of [...this.#participants.values()]) {
      participant.publisher.uplink.report(now);
      participant.subscriber.report(now);
      participant.reliable.expire(now);
      participant.measure(now);
      const reason = participant.goneReason(now);
      if (reason) this.remove(participant.id, reason);
    }
    this.#legs.report(now);
    const speakers = this.#speakers.takeChanges();
    if (speakers.length > 0) this.#deps.emit({ type: 'speakers', data: { room: this.id, speakers } });
  }

  /** Every 5 s. */
  rate(now: number): void {
    this.#sampleTracks(now);
    const updates: MediaEvents['quality']['updates'] = [];
    for (const participant of this.#participants.values()) {
      const rated = scoreOf([participant.stats('pub'), participant.stats('sub')]);
      if (!rated || rated.quality === participant.quality) continue;
      participant.quality = rated.quality;
      updates.push({ identity: participant.identity, ...rated });
    }
    if (updates.length > 0) this.#deps.emit({ type: 'quality', data: { room: this.id, updates } });
  }

  #sampleTracks(now: number): void {
    for (const participant of this.#participants.values()) {
      // Who has no signaling socket has no time line either.
      const tracks = participant.isPlain ? null : participant.sampleTracks(now);
      if (!tracks) continue;
      const address = { room: this.id, participant: participant.id };
      this.#deps.emit({ type: 'track.samples', data: { ...address, everyMs: SAMPLE_EVERY_MS, tracks } });
    }
  }

  remove(id: string, reason: MediaCloseReason): boolean {
    const participant = this.#participants.get(id);
    if (!participant) return false;
    this.data.forget(participant, reason);
    participant.publisher.close();
    participant.subscriber.close();
    this.#participants.delete(id);
    this.#legs.left(participant);
    this.#speakers.forget(participant.identity);
    this.emptySince = this.#deps.clock.now();
    this.#deps.emit({ type: 'participant.closed', data: { ...this.#addressOf(participant), reason } });
    return true;
  }

  close(reason: MediaCloseReason): void {
    for (const id of [...this.#participants.keys()]) this.remove(id, reason);
    this.#legs.close();
    this.#deps.emit({ type: 'room.closed', data: { room: this.id, reason } });
  }

  snapshot(options: SnapshotOptions = {}): MediaRoomSnapshot {
    const participants = this.#participants.snapshots(this.#deps.clock.now(), options);
    return { room: this.id, openedAt: new Date(this.openedAt).toISOString(), participants };
  }
}

/** A track, and its backup while there is one. */
const encodingsOf = (publication: Publication): Publication[] =>
  publication.backup ? [publication, publication.backup] : [publication];

const isOwn = (published: Publication | undefined, publication: Publication): boolean =>
  published !== undefined && encodingsOf(published).includes(publication);
