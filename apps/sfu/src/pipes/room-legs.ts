import { DATA_FLOW, type DataChannelName, type DataFlowState, type DataHead } from '@parley/media-description';
import { FallbackBudget } from '../media/data-budget.ts';
import type { DataSender, OtherLegs, SentElsewhere, TrackOwner } from '../media/other-legs.ts';
import type { Participant } from '../media/participant.ts';
import type { Publication } from '../media/publication.ts';
import type { LegMessage, LegParticipant, LegState } from './leg-messages.ts';
import type { PipePeer } from './pipe-peer.ts';
import { RemotePublication } from './remote-publication.ts';
import type { TrackDescription } from './remote-track.ts';
import type { SharedChoice } from './shared-choice.ts';

/** What other processes are told of a participant. */
type Member = Pick<Participant, 'id' | 'identity' | 'isPlain' | 'permissions' | 'publications'>;

/** What the legs of a room need of it. */
export interface LeggedRoom {
  readonly id: string;
  readonly participants: ReadonlyMap<string, Member>;
  readonly fallbackPerSecond: number;
  offerTrack(owner: TrackOwner, publication: Publication): void;
  withdrawTrack(publication: Publication): void;
  changeEncoding(from: Publication, to: Publication): void;
  deliver(sender: DataSender, channel: DataChannelName, head: DataHead, payload: Uint8Array): void;
  /** What a process says to a sender of reliable data here. */
  onDataFlow(sender: string, process: string, state: DataFlowState): void;
}

interface RemoteOwner extends TrackOwner, DataSender {
  readonly peer: PipePeer;
  readonly publications: Map<string, Publication>;
  hasData: boolean;
}

export interface TrackNumbers {
  take(publication: Publication, legs: RoomLegs): number;
  /** No process gets the track any more. */
  release(number: number): void;
}

/** One room in several processes: what each of them knows of the others. A room in one process has no peers. */
export class RoomLegs implements OtherLegs {
  readonly #room: LeggedRoom;
  readonly #numbers: TrackNumbers;
  readonly #choice: SharedChoice;
  readonly #onClosed: () => void;
  /** Those that the room may be in: who else says so is not listened to. */
  readonly #allowed = new Set<PipePeer>();
  readonly #peers = new Set<PipePeer>();
  /** Those that missed something, because too much was on its way to them: they get the state anew. */
  readonly #stale = new Set<PipePeer>();
  /** Senders of reliable data whose process could not be told that receivers missed some. */
  readonly #unreportedMisses = new Set<string>();
  readonly #owners = new Map<string, RemoteOwner>();
  readonly #remotes = new Map<string, RemotePublication<RemoteOwner>>();
  /** Of our own tracks, once there was somebody to tell them. */
  readonly #numberOf = new Map<Publication, number>();

  constructor(room: LeggedRoom, numbers: TrackNumbers, choice: SharedChoice, onClosed: () => void) {
    this.#room = room;
    this.#numbers = numbers;
    this.#choice = choice;
    this.#onClosed = onClosed;
  }

  owners(): Iterable<TrackOwner> {
    return this.#owners.values();
  }

  publishers(): Iterable<TrackOwner> {
    return new Set([...this.#remotes.values()].map(({ owner }) => owner));
  }

  get peers(): Iterable<PipePeer> {
    return this.#peers;
  }

  isLinked(peer: PipePeer): boolean {
    return this.#peers.has(peer);
  }

  /** The room is in that process too. */
  link(peer: PipePeer): void {
    this.#allowed.add(peer);
    this.#peers.add(peer);
    this.#send(peer, this.#state(false));
  }

  /** The room is not there any more. */
  unlink(peer: PipePeer): void {
    if (!this.#peers.delete(peer)) return;
    this.#stale.delete(peer);
    this.#choice.forget(peer);
    for (const owner of [...this.#owners.values()]) if (owner.peer === peer) this.#dropOwner(owner);
    for (const number of this.#numberOf.values()) peer.dropTap(number);
  }

  /** Nor will it be. */
  forbid(peer: PipePeer): void {
    this.#allowed.delete(peer);
    this.unlink(peer);
  }

  #state(isAnswer: boolean): LegState {
    const members = [...this.#room.participants.values()];
    const tracks = members.flatMap((owner) =>
      [...owner.publications.values()].map((track) => ({ owner: owner.id, track: this.#describe(track) })),
    );
    const backups = members.flatMap(({ publications }) =>
      [...publications.values()].flatMap(({ backup }) => (backup ? [this.#describe(backup)] : [])),
    );
    return { is: 'state', isAnswer, participants: members.map(describeParticipant), tracks, backups };
  }

  #describe(publication: Publication): TrackDescription {
    const number = this.#numberOf.get(publication) ?? this.#numbers.take(publication, this);
    this.#numberOf.set(publication, number);
    const { id, request, encoding, mid, extensionIds, publishedAt, isMuted, isMutedByServer } = publication;
    // Of one stream with several layers the other process makes them itself.
    const rids = publication.isSimulcast ? publication.layers.map(({ rid }) => rid) : [];
    const { codec, red } = encoding;
    const described = { codec, ...(red && { red }) };
    return {
      ...{ id, number, request, encoding: described, mid, rids },
      ...{ extensionIds, publishedAt, isMuted, isMutedByServer },
    };
  }

  #tell(message: RoomMessage): void {
    for (const peer of this.#peers) this.#send(peer, message);
  }

  #send(peer: PipePeer, message: RoomMessage): void {
    if (!peer.send({ room: this.#room.id, ...message })) this.#stale.add(peer);
  }

  #refresh(peer: PipePeer): void {
    this.#stale.delete(peer);
    this.#send(peer, this.#state(true));
  }

  joined(participant: Member): void {
    if (this.#peers.size > 0) this.#tell({ is: 'participant', participant: describeParticipant(participant) });
  }

  left({ id }: TrackOwner): void {
    this.#tell({ is: 'participant.gone', id });
  }

  published(owner: TrackOwner, publication: Publication): void {
    if (this.#peers.size > 0) this.#tell({ is: 'track', owner: owner.id, track: this.#describe(publication) });
  }

  changed(publication: Publication): void {
    if (this.#peers.size > 0 && this.#numberOf.has(publication))
      this.#tell({ is: 'track', owner: '', track: this.#describe(publication) });
  }

  unpublished(publication: Publication): void {
    if (this.#forget(publication)) this.#tell({ is: 'track.gone', id: publication.id });
  }

  /** Said with the whole state, which is large but rare: processes from before know no message for it. */
  backupChanged(lost?: Publication): void {
    if (lost) this.#forget(lost);
    for (const peer of this.#peers) this.#send(peer, this.#state(true));
  }

  /** False for one that no other process was told of. */
  #forget(publication: Publication): boolean {
    const number = this.#numberOf.get(publication);
    if (number === undefined) return false;
    this.#numberOf.delete(publication);
    this.#numbers.release(number);
    return true;
  }

  demandChanged(publication: Publication, now: number): boolean {
    const remote = this.#remotes.get(publication.id);
    for (const track of remote?.tracks ?? []) track.updateDemand(now);
    return remote !== undefined;
  }

  sendData({ id }: DataSender, channel: DataChannelName, head: DataHead, payload: Uint8Array): SentElsewhere {
    const count = { sent: 0, refused: 0 };
    if (this.#peers.size === 0) return count;
    const data = { is: 'data', from: id, channel, head, payload: Buffer.from(payload).toString('base64') } as const;
    for (const peer of this.#peers) {
      const receivers = [...this.#owners.values()].filter(
        (one) => one.peer === peer && one.hasData && (!head.to || head.to.includes(one.identity)),
      );
      if (receivers.length === 0) continue;
      if (peer.send({ room: this.#room.id, ...data })) count.sent += receivers.length;
      else count.refused += receivers.length;
    }
    return count;
  }

  announceDataFlow(sender: string, state: DataFlowState): void {
    const owner = this.#owners.get(sender);
    const isTold = owner?.peer.send({ room: this.#room.id, ...fromNobody, flow: { sender, state } }) ?? true;
    // Of the other words the process there has a bound of its own.
    if (state !== DATA_FLOW.missed) return;
    if (isTold) this.#unreportedMisses.delete(sender);
    else this.#unreportedMisses.add(sender);
  }

  /** A microphone that nobody here takes does not come here. */
  get #isDeaf(): boolean {
    for (const { track } of this.#remotes.values())
      if (track.publication.voice && track.publication.subscriptions.length === 0) return true;
    return false;
  }

  leadingChoice(now: number): readonly string[] | undefined {
    return this.#peers.size > 0 ? this.#choice.leading(now, this.#isDeaf) : undefined;
  }

  announceChoice(tracks: readonly string[], now: number): void {
    if (this.#peers.size === 0 || this.#isDeaf) return;
    const choice = this.#choice.takeDue(tracks, now);
    // Who cannot be told now is told with the next one.
    if (choice) for (const peer of this.#peers) peer.send({ room: this.#room.id, ...fromNobody, choice });
  }

  /** What the room's part in another process says. */
  onMessage(message: LegMessage, peer: PipePeer): void {
    if (!this.#allowed.has(peer)) return;
    if (message.is === 'state') this.#onState(message, peer);
    else if (this.#peers.has(peer)) this.#onChange(message, peer);
  }

  #onChange(message: Exclude<LegMessage, LegState>, peer: PipePeer): void {
    if (message.is === 'participant') this.#addOwner(message.participant, peer);
    else if (message.is === 'participant.gone') this.#dropOwner(this.#owners.get(message.id));
    else if (message.is === 'track') this.#onTrack(message.owner, message.track, peer);
    else if (message.is === 'track.gone') this.#dropTrack(message.id);
    else if (message.is === 'data') this.#onData(message, peer);
    else this.unlink(peer);
  }

  #onState({ isAnswer, participants, tracks, backups = [] }: LegState, peer: PipePeer): void {
    this.#peers.add(peer);
    const there = new Set(participants.map(({ id }) => id));
    const published = new Set(tracks.map(({ track }) => track.id));
    for (const owner of [...this.#owners.values()])
      if (owner.peer === peer && !there.has(owner.id)) this.#dropOwner(owner);
    for (const [id, { owner }] of [...this.#remotes])
      if (owner.peer === peer && !published.has(id)) this.#dropTrack(id);
    for (const participant of participants) this.#addOwner(participant, peer);
    for (const { owner, track } of tracks) this.#onTrack(owner, track, peer);
    const byTrack = new Map(backups.map((backup) => [backup.id, backup]));
    for (const [id, remote] of this.#remotes) if (remote.owner.peer === peer) this.#setBackup(remote, byTrack.get(id));
    // Ours may have come before that process was told of the room's other legs.
    if (!isAnswer) this.#send(peer, this.#state(true));
  }

  #addOwner({ id, identity, hasData }: LegParticipant, peer: PipePeer): void {
    const known = this.#owners.get(id);
    if (known) known.hasData = hasData;
    else {
      const fallbackSent = new FallbackBudget(this.#room.fallbackPerSecond);
      this.#owners.set(id, { id, identity, hasData, fallbackSent, peer, publications: new Map() });
    }
  }

  #dropOwner(owner: RemoteOwner | undefined): void {
    if (!owner) return;
    for (const id of [...owner.publications.keys()]) this.#dropTrack(id);
    this.#owners.delete(owner.id);
  }

  #onTrack(ownerId: string, description: TrackDescription, peer: PipePeer): void {
    const known = this.#remotes.get(description.id);
    if (known?.track.number === description.number) {
      known.track.update(description);
      return;
    }
    if (known) this.#dropTrack(description.id);
    const owner = this.#owners.get(ownerId);
    if (!owner) return;
    const track = peer.addRemote(description);
    this.#remotes.set(description.id, new RemotePublication(track, owner));
    owner.publications.set(description.id, track.publication);
    this.#room.offerTrack(owner, track.publication);
  }

  #setBackup(remote: RemotePublication<RemoteOwner>, description?: TrackDescription): void {
    remote.setBackup(description, (from, to) => this.#room.changeEncoding(from, to));
  }

  #dropTrack(id: string): void {
    const remote = this.#remotes.get(id);
    if (!remote) return;
    this.#setBackup(remote);
    this.#remotes.delete(id);
    remote.owner.publications.delete(id);
    this.#room.withdrawTrack(remote.track.publication);
    remote.owner.peer.removeRemote(remote.track);
  }

  #onData(message: Extract<LegMessage, { is: 'data' }>, peer: PipePeer): void {
    const { from, channel, head, payload, flow, choice } = message;
    if (flow && this.#room.participants.has(flow.sender)) this.#room.onDataFlow(flow.sender, peer.name, flow.state);
    if (choice) this.#choice.onChoice(choice, peer);
    const sender = this.#owners.get(from);
    if (sender) this.#room.deliver(sender, channel, head, Buffer.from(payload, 'base64'));
  }

  tick(now: number): void {
    for (const peer of [...this.#stale]) if (!peer.isCongested) this.#refresh(peer);
    for (const sender of this.#unreportedMisses) this.announceDataFlow(sender, DATA_FLOW.missed);
    for (const { tracks } of this.#remotes.values()) for (const track of tracks) track.tick(now);
  }

  report(now: number): void {
    for (const { tracks } of this.#remotes.values()) for (const track of tracks) track.report(now);
  }

  close(): void {
    this.#tell({ is: 'unlink' });
    for (const peer of [...this.#peers]) this.unlink(peer);
    for (const number of this.#numberOf.values()) this.#numbers.release(number);
    this.#onClosed();
  }
}

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;
type RoomMessage = DistributiveOmit<LegMessage, 'room'>;

/** Processes from before drop it, whatever it says besides. */
const fromNobody = { is: 'data', from: '', channel: 'reliable', head: {}, payload: '' } as const;

const describeParticipant = ({ id, identity, isPlain, permissions }: Member): LegParticipant => ({
  id,
  identity,
  hasData: !isPlain && permissions.publishData,
});
