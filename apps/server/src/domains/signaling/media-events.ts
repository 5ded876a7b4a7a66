import type { ConnectionEventType, DisconnectReason, FrameFields, SignalingServerFrames } from '@parley/contract';
import type { MediaAddress, MediaEventFrame, MediaEventName, MediaEvents } from '@parley/contract/media-control';
import type { Log } from '../../core/log.ts';
import { type Rooms, toTrack } from '../rooms/index.ts';
import type { Hub, HubRoom } from './hub.ts';
import { type Member, sendTo } from './member.ts';
import type { Observe } from './observe.ts';

interface MediaEventDeps {
  log: Log;
  rooms: Rooms;
  hub: Hub;
  observe: Observe;
}

type PassedType = 'sub.offer' | 'stream.state' | 'publish.quality' | 'data';

/** An event without a handler does not compile. */
type Handlers = { [N in MediaEventName]: (data: MediaEvents[N]) => void };

/** Entries of one `speakers` or `quality` frame: more would not fit. */
const entriesMax = 60;

/** Events of a node: frames for its participants here, and facts to record of those whose socket is here. */
export function createMediaEvents({ log, rooms, hub, observe }: MediaEventDeps) {
  /** The participant, when this process holds their socket. All processes of the room get the event; only this one records it. */
  const own = ({ room, participant }: { room: string; participant: string }): Member | undefined =>
    hub.find(room)?.members.get(participant);

  /** Frames that only the participant they are about gets. */
  function pass<K extends PassedType>(
    { room, participant }: MediaAddress,
    type: K,
    fields: FrameFields<SignalingServerFrames[K]>,
  ): void {
    const member = own({ room, participant });
    if (member) sendTo(member, type, fields);
  }

  function inPieces<T>(room: string, entries: readonly T[], send: (here: HubRoom, piece: T[]) => void): void {
    const here = hub.find(room);
    for (let at = 0; here && at < entries.length; at += entriesMax) send(here, entries.slice(at, at + entriesMax));
  }

  /** In the order in which they happened, after the join itself was recorded. */
  function record(
    member: Member,
    ...event: Parameters<Rooms['sessions']['record']> extends [unknown, ...infer E] ? E : never
  ): void {
    member.recording = member.recording
      .then(async () => void (await rooms.sessions.record(member.session, ...event)))
      .catch((error) => log.error({ error, sessionId: member.session.id }, 'room event not recorded'));
  }

  function ended(member: Member, reason: DisconnectReason): void {
    const { id, roomId } = member.session;
    rooms.departures
      .depart(member.session, roomId, { id }, reason)
      .catch((error) => log.error({ error, sessionId: id }, 'participant closed by the node not ended yet'));
  }

  const fact = (member: Member, type: ConnectionEventType, data: Record<string, unknown>): void => {
    const { connection, session } = member;
    if (connection && session.connectionId) observe(connection.session.token, type, session.connectionId, data);
  };

  const handlers: Handlers = {
    'sub.offer': ({ room, participant, ...offer }) => pass({ room, participant }, 'sub.offer', offer),
    'stream.state': ({ room, participant, ...state }) => pass({ room, participant }, 'stream.state', state),
    'publish.quality': ({ room, participant, ...quality }) => pass({ room, participant }, 'publish.quality', quality),
    data: ({ room, participant, ...data }) => pass({ room, participant }, 'data', data),
    speakers: ({ room, speakers }) =>
      inPieces(room, speakers, (here, piece) => hub.broadcast(here, 'speakers', { speakers: piece })),
    quality: ({ room, updates }) =>
      inPieces(room, updates, (here, piece) => hub.broadcast(here, 'quality', { updates: piece })),

    'track.published': ({ identity, track, ...address }) => {
      const member = own(address);
      if (!member || member.tracks.has(track.id)) return;
      member.tracks.set(track.id, track);
      record(member, { type: 'track.published', data: { identity, track: toTrack(track) } }, { isPublisher: true });
      fact(member, 'track.published', { trackId: track.id, kind: track.kind, source: track.source });
    },
    'track.started': ({ track, ...address }) => {
      own(address)?.tracks.set(track.id, track);
    },
    'track.unpublished': ({ identity, trackId, ...address }) => {
      const member = own(address);
      if (!member?.tracks.delete(trackId)) return;
      const isPublisher = member.tracks.size > 0;
      record(member, { type: 'track.unpublished', data: { identity, trackId } }, { isPublisher });
      fact(member, 'track.unpublished', { trackId });
    },
    'track.muted': ({ identity, trackId, muted, by, ...address }) => {
      const member = own(address);
      const track = member?.tracks.get(trackId);
      if (!member || !track || track.muted === muted) return;
      member.tracks.set(trackId, { ...track, muted });
      // The route that muted it for the server has recorded that too.
      if (by === 'PUBLISHER') record(member, { type: 'track.muted', data: { identity, trackId, muted, by } });
      fact(member, muted ? 'track.muted' : 'track.unmuted', { trackId, by });
    },
    'participant.closed': ({ reason, ...address }) => {
      const member = own(address);
      if (member) ended(member, reason);
    },
    'transport.state': ({ pc, state, ...address }) => {
      const member = own(address);
      const type = transportFacts[state];
      if (member && type) fact(member, type, { pc });
    },
    'participant.state': () => {},
    // Its participants are closed one by one.
    'room.closed': () => {},
  };

  /** A newer node may emit events that this process does not know yet. */
  const receive = <N extends MediaEventName>({ type, data }: MediaEventFrame<N>): void => handlers[type]?.(data);

  return { receive, ended, record };
}

const transportFacts: Partial<Record<string, ConnectionEventType>> = {
  CONNECTING: 'ice.checking',
  CONNECTED: 'dtls.connected',
  DISCONNECTED: 'ice.disconnected',
  FAILED: 'ice.failed',
};
