import type {
  MediaCloseReason,
  MediaCommandFrame,
  MediaErrorCode,
  MediaEventName,
  MediaEvents,
  MediaParticipantSnapshot,
  MediaPermissions,
  MediaTrack,
} from '@parley/contract/media-control';
import type { Description, MediaEntry } from '@parley/media-description';
import type { WebSocket } from 'ws';

/** A server process of the control plane, seen from the node. */
export interface Controller {
  id: string;
  seq: number;
  kept: { seq: number; frame: string }[];
  socket: WebSocket | null;
}

interface NodeParticipant {
  id: string;
  identity: string;
  order: number;
  permissions: MediaPermissions;
  owner: Controller;
  autoSubscribe: boolean;
  isViewer: boolean;
  joinedAt: string;
  tracks: Map<string, MediaTrack & { mid: string }>;
  subscriptions: Set<string>;
  revision: number;
  isAwaitingAnswer: boolean;
  offered: Map<string, MediaEntry>;
}

export interface NodeRoom {
  id: string;
  openedBy: Set<Controller>;
  participants: Map<string, NodeParticipant>;
}

export class Refusal extends Error {
  readonly code: MediaErrorCode;
  constructor(code: MediaErrorCode, message: string = code) {
    super(message);
    this.code = code;
  }
}

const entriesPerOffer = 20;
const transport: Omit<Description, 'media'> = {
  ice: { ufrag: 'node', pwd: 'p'.repeat(24) },
  dtls: { role: 'actpass', fingerprint: `sha-256 ${'AB:'.repeat(31)}AB` },
  candidates: ['udp 2130706431 127.0.0.1 4443 host'],
};
/** Whole for a whole offer, as WHIP and WHEP send it. */
const answerTo = ({ ice }: Description): Description => ({ ...(ice && transport), media: [] });

interface NodeRoomsDeps {
  rooms: Map<string, NodeRoom>;
  capacity: number | undefined;
  isBusy(): boolean;
  /** How it refuses to meet other nodes; null: it knows them. */
  refusesToMeet(): MediaErrorCode | null;
  emit<N extends MediaEventName>(type: N, data: MediaEvents[N]): void;
}

/** What a node does on command, less the media. */
export function createNodeRooms({ rooms, capacity, isBusy, refusesToMeet, emit }: NodeRoomsDeps) {
  let trackNumber = 0;

  const roomOf = (id: string): NodeRoom => rooms.get(id) ?? raise('NOT_FOUND', 'No such room.');
  function partOf({ room, participant }: { room: string; participant: string }): NodeParticipant {
    return roomOf(room).participants.get(participant) ?? raise('NOT_FOUND', 'No such participant.');
  }

  const snapshotOf = (one: NodeParticipant, isBrief = false): MediaParticipantSnapshot => ({
    participant: one.id,
    identity: one.identity,
    state: 'JOINED',
    permissions: one.permissions,
    joinedAt: one.joinedAt,
    quality: null,
    transports: { pub: null, sub: null },
    tracks: [...one.tracks.values()].map(({ mid: _, ...track }) => track),
    subscriptions: isBrief ? [] : [...one.subscriptions],
  });

  const shownOf = (room: NodeRoom, withoutViewers = false): NodeParticipant[] =>
    [...room.participants.values()].filter(({ isViewer }) => !(withoutViewers && isViewer));

  function close(room: NodeRoom, one: NodeParticipant, reason: MediaCloseReason): void {
    for (const trackId of [...one.tracks.keys()]) unpublish(room, one, trackId);
    emit('participant.closed', { room: room.id, participant: one.id, identity: one.identity, reason });
    room.participants.delete(one.id);
  }

  function unpublish(room: NodeRoom, one: NodeParticipant, trackId: string): void {
    if (!one.tracks.delete(trackId)) return;
    emit('track.unpublished', { room: room.id, participant: one.id, identity: one.identity, trackId });
    for (const other of room.participants.values()) if (other.subscriptions.delete(trackId)) offer(room, other);
  }

  /** The next offer, when the last was answered: only what changed, and no more than fits a frame. */
  function offer(room: NodeRoom, one: NodeParticipant): void {
    if (one.isAwaitingAnswer) return;
    const wanted = new Map<string, MediaEntry>();
    for (const other of room.participants.values()) {
      for (const track of other.tracks.values())
        if (one.subscriptions.has(track.id)) wanted.set(track.id, entryOf(track));
    }
    const changed = [
      ...[...wanted].filter(([id]) => !one.offered.has(id)).map(([id, entry]) => ({ id, entry })),
      ...[...one.offered]
        .filter(([id, entry]) => !wanted.has(id) && entry.direction !== 'inactive')
        .map(([id, entry]) => ({ id, entry: { ...entry, direction: 'inactive' as const } })),
    ].slice(0, entriesPerOffer);
    if (changed.length === 0 && one.revision > 0) return;
    for (const { id, entry } of changed) one.offered.set(id, entry);
    const isFirst = one.revision === 0;
    one.revision += 1;
    one.isAwaitingAnswer = true;
    const description: Description = {
      ...(isFirst && transport),
      media: changed.map(({ entry }) => entry),
    };
    emit('sub.offer', { room: room.id, participant: one.id, revision: one.revision, restart: false, description });
  }

  function subscribe(room: NodeRoom, one: NodeParticipant, trackIds: Iterable<string>): void {
    for (const id of trackIds) one.subscriptions.add(id);
    offer(room, one);
  }

  const tracksOf = (room: NodeRoom, but: NodeParticipant): string[] =>
    [...room.participants.values()].flatMap((other) => (other === but ? [] : [...other.tracks.keys()]));

  const execute = (controller: Controller, frame: MediaCommandFrame): object => {
    switch (frame.type) {
      case 'ping':
        return { at: new Date().toISOString() };
      case 'room.open': {
        const room = rooms.get(frame.data.room);
        if (!room && capacity !== undefined && rooms.size >= capacity) raise('FULL');
        if (room) room.openedBy.add(controller);
        else
          rooms.set(frame.data.room, {
            id: frame.data.room,
            openedBy: new Set([controller]),
            participants: new Map(),
          });
        return { created: !room, ...(isBusy() && (room?.participants.size ?? 0) > 0 && { busy: true }) };
      }
      case 'node.meet':
        return raise(refusesToMeet() ?? 'NOT_FOUND');
      case 'room.link':
        roomOf(frame.data.room).openedBy.add(controller);
        return { unknown: refusesToMeet() === null ? [] : frame.data.nodes.map(({ node }) => node) };
      case 'room.close': {
        const room = rooms.get(frame.data.room);
        for (const one of [...(room?.participants.values() ?? [])]) if (room) close(room, one, frame.data.reason);
        return { closed: rooms.delete(frame.data.room) };
      }
      case 'participant.add':
        return add(controller, frame.data);
      case 'participant.attach': {
        const one = partOf(frame.data);
        one.owner = controller;
        return { participant: snapshotOf(one) };
      }
      case 'participant.remove': {
        const room = rooms.get(frame.data.room);
        const one = room?.participants.get(frame.data.participant);
        if (room && one) close(room, one, frame.data.reason);
        return { removed: one !== undefined };
      }
      case 'participant.update': {
        const one = partOf(frame.data);
        one.permissions = frame.data.permissions;
        if (!one.permissions.publish)
          for (const id of [...one.tracks.keys()]) unpublish(roomOf(frame.data.room), one, id);
        return {};
      }
      case 'pub.offer':
        return publish(roomOf(frame.data.room), partOf(frame.data), frame.data);
      case 'pub.unpublish': {
        const one = partOf(frame.data);
        for (const id of frame.data.trackIds) unpublish(roomOf(frame.data.room), one, id);
        return { description: { media: [] } };
      }
      case 'sub.answer': {
        const one = partOf(frame.data);
        if (frame.data.revision !== one.revision) raise('STALE', 'Not the latest revision.');
        one.isAwaitingAnswer = false;
        offer(roomOf(frame.data.room), one);
        return {};
      }
      case 'sub.accept':
        partOf(frame.data);
        return { description: answerTo(frame.data.description) };
      case 'ice':
      case 'track.settings':
        partOf(frame.data);
        return {};
      case 'ice.restart':
        partOf(frame.data);
        return { description: frame.data.pc === 'pub' ? { media: [] } : null };
      case 'track.mute': {
        const one = partOf(frame.data);
        const track = one.tracks.get(frame.data.trackId) ?? raise('NOT_FOUND', 'No such track.');
        const { muted, by } = frame.data;
        const isChanged = track.muted !== muted;
        track.muted = muted;
        const { room, participant } = frame.data;
        if (isChanged) emit('track.muted', { room, participant, identity: one.identity, trackId: track.id, muted, by });
        return { changed: isChanged };
      }
      case 'subscribe':
      case 'unsubscribe':
        return choose(roomOf(frame.data.room), partOf(frame.data), frame);
      case 'data.send':
        return sendData(roomOf(frame.data.room), frame.data);
      case 'snapshot': {
        const asked = frame.data.room === undefined ? [...rooms.values()] : [roomOf(frame.data.room)];
        const held = asked.map((room) => ({
          room: room.id,
          openedAt: new Date(0).toISOString(),
          participants: shownOf(room, frame.data.withoutViewers).map((one) => snapshotOf(one, frame.data.brief)),
        }));
        return { rooms: held, seq: controller.seq };
      }
      case 'stats':
        return { participants: [] };
    }
  };

  function add(controller: Controller, data: Extract<MediaCommandFrame, { type: 'participant.add' }>['data']): object {
    const room = roomOf(data.room);
    const others = [...room.participants.values()].filter(
      ({ id, identity }) => identity === data.identity && id !== data.participant,
    );
    if (others.some(({ order }) => order > (data.order ?? 0))) raise('STALE');
    for (const other of others) close(room, other, 'DUPLICATE_IDENTITY');
    const one: NodeParticipant = room.participants.get(data.participant) ?? {
      id: data.participant,
      identity: data.identity,
      order: data.order ?? 0,
      permissions: data.permissions,
      owner: controller,
      autoSubscribe: data.autoSubscribe,
      isViewer: data.viewer ?? false,
      joinedAt: new Date().toISOString(),
      tracks: new Map(),
      subscriptions: new Set(),
      revision: 0,
      isAwaitingAnswer: false,
      offered: new Map(),
    };
    one.owner = controller;
    room.participants.set(one.id, one);
    if (one.permissions.subscribe) subscribe(room, one, one.autoSubscribe ? tracksOf(room, one) : []);
    const there = data.brief ? [] : shownOf(room, true);
    return { participant: snapshotOf(one), participants: there.map((other) => snapshotOf(other)) };
  }

  function publish(
    room: NodeRoom,
    one: NodeParticipant,
    { tracks, description }: Extract<MediaCommandFrame, { type: 'pub.offer' }>['data'],
  ): object {
    if (!Array.isArray(description.media)) raise('BAD_DESCRIPTION');
    const { publish: mayPublish, publishAudio, publishVideo } = one.permissions;
    const isOnly = publishAudio !== publishVideo;
    const mayKind = (kind: string) => mayPublish && (!isOnly || (kind === 'AUDIO' ? publishAudio : publishVideo));
    if (!tracks.every(({ kind }) => mayKind(kind))) raise('FORBIDDEN');
    const made = tracks.map((request) => {
      const id = `trk_${String(++trackNumber).padStart(24, '0')}`;
      const track = {
        id,
        kind: request.kind,
        source: request.source,
        name: request.name ?? null,
        metadata: request.metadata ?? null,
        muted: request.muted ?? false,
        codec: request.kind === 'AUDIO' ? 'opus' : 'VP8',
        width: null,
        height: null,
        simulcast: (request.layers?.length ?? 0) > 1,
        layers: (request.layers ?? []).map(({ rid, width, height, bitrate }) => ({
          rid,
          width: width ?? null,
          height: height ?? null,
          bitrate: bitrate ?? null,
        })),
        publishedAt: new Date().toISOString(),
        mid: String(trackNumber),
      };
      one.tracks.set(id, track);
      const { mid: _, ...shown } = track;
      emit('track.published', { room: room.id, participant: one.id, identity: one.identity, track: shown });
      for (const other of room.participants.values())
        if (other !== one && other.permissions.subscribe && other.autoSubscribe) subscribe(room, other, [id]);
      return { cid: request.cid, trackId: id };
    });
    return { tracks: made, description: answerTo(description) };
  }

  function choose(
    room: NodeRoom,
    one: NodeParticipant,
    { type, data }: Extract<MediaCommandFrame, { type: 'subscribe' | 'unsubscribe' }>,
  ): object {
    if (!one.permissions.subscribe) raise('FORBIDDEN');
    const known = new Set(tracksOf(room, one));
    const named = [...room.participants.values()].filter(({ identity }) => data.identities?.includes(identity));
    const asked = [...(data.trackIds ?? []), ...named.flatMap(({ tracks }) => [...tracks.keys()])];
    const accepted = asked.filter((id) => known.has(id));
    const refused = asked.filter((id) => !known.has(id)).map((id) => ({ id, code: 'NOT_FOUND' as const }));
    if (type === 'subscribe') subscribe(room, one, accepted);
    else {
      for (const id of accepted) one.subscriptions.delete(id);
      offer(room, one);
    }
    return { accepted, refused };
  }

  function sendData(
    room: NodeRoom,
    { participant, topic, payload, encoding, to }: Extract<MediaCommandFrame, { type: 'data.send' }>['data'],
  ): object {
    const sender = participant === undefined ? null : partOf({ room: room.id, participant });
    if (sender && !sender.permissions.publishData) raise('FORBIDDEN');
    const receivers = [...room.participants.values()].filter(
      (one) => one !== sender && one.permissions.publishData && (to === undefined || to.includes(one.identity)),
    );
    for (const { id } of receivers) {
      emit('data', {
        room: room.id,
        participant: id,
        from: sender?.identity ?? null,
        topic: topic ?? null,
        payload,
        encoding: encoding ?? 'utf8',
        at: new Date().toISOString(),
      });
    }
    return { delivered: receivers.length };
  }

  return { execute, partOf };
}

function entryOf({ mid, kind, id }: MediaTrack & { mid: string }): MediaEntry {
  return {
    mid,
    kind: kind === 'AUDIO' ? 'audio' : 'video',
    direction: 'sendonly',
    trackId: id,
    streamId: id,
    codecs: kind === 'AUDIO' ? [{ name: 'opus', pt: 111 }] : [{ name: 'VP8', pt: 96, rtx: 97 }],
    ssrcs: kind === 'AUDIO' ? [Number(mid)] : [Number(mid), Number(mid) + 100_000],
  };
}

function raise(code: MediaErrorCode, message?: string): never {
  throw new Refusal(code, message);
}
