import {
  type ConnectionEventType,
  DisconnectReason,
  type FrameFields,
  type SignalingServerFrames,
} from '@parley/contract';
import type { MediaAddress, MediaEventFrame, MediaEventName, MediaEvents } from '@parley/contract/media-control';
import { Compile } from 'typebox/schema';
import type { Clock } from '../../core/clock.ts';
import type { TakeNodeSamples } from '../../core/connections.ts';
import type { Log } from '../../core/log.ts';
import type { Metrics } from '../../core/metrics.ts';
import { type Rooms, toTrack } from '../rooms/index.ts';
import type { Hub } from './hub.ts';
import type { HubRoom } from './hub-room.ts';
import { type Member, sendData, sendTo } from './member.ts';
import type { Observe } from './observe.ts';

interface MediaEventDeps {
  clock: Clock;
  log: Log;
  metrics: Metrics;
  rooms: Rooms;
  hub: Hub;
  observe: Observe;
  takeNodeSamples: TakeNodeSamples;
}

type DataFields = FrameFields<SignalingServerFrames['data']>;
type PassedType = 'sub.offer' | 'stream.state' | 'publish.quality';

/** An event without a handler does not compile. */
type Handlers = { [N in MediaEventName]: (data: MediaEvents[N], server: string) => void };

/** Entries of one `stream.states` frame, which are shorter. */
const statesMax = 100;
/** A node that says much about what is not on it fills a counter, not the log. */
const foreignLogEveryMs = 60_000;
/** One batch of samples may come early: what was held up comes together. */
const samplesAheadMs = 50_000;

/** So long may a process take to tell the node that a participant has resumed there. */
const attachMsMax = 10_000;

/** Events of a node: frames for its participants here, and facts to record of those whose socket is here. */
export function createMediaEvents({ clock, log, metrics, rooms, hub, observe, takeNodeSamples }: MediaEventDeps) {
  const foreignLoggedAt = new Map<string, number>();
  /** Session → the participant who has resumed at another process, and until when the node may not know that. */
  const handedOver = new Map<string, { member: Member; until: number }>();

  /** The event is about a room or participant of another node: dropped. */
  function dropForeign(server: string, roomId: string): void {
    metrics.count('parley_media_foreign_events_total');
    const now = clock.elapsed();
    if (now - (foreignLoggedAt.get(server) ?? Number.NEGATIVE_INFINITY) < foreignLogEveryMs) return;
    foreignLoggedAt.set(server, now);
    log.warn({ server, roomId }, 'event of a media node about what is not on it');
  }

  /**
   * The participant, when this process holds their socket and the node their media. All processes of the room get the
   * event; only this one records it.
   */
  function own(
    server: string,
    { room, participant, identity }: { room: string; participant: string; identity?: string },
  ): Member | undefined {
    const member = hub.find(room)?.members.get(participant);
    if (!member) return undefined;
    const isOwn = member.serverName === server && (identity === undefined || identity === member.session.identity);
    if (!isOwn) dropForeign(server, room);
    return isOwn ? member : undefined;
  }

  /** Frames that only the participant they are about gets. */
  function pass<K extends PassedType>(
    server: string,
    address: MediaAddress,
    type: K,
    fields: FrameFields<SignalingServerFrames[K]>,
  ): void {
    const member = own(server, address);
    if (member) sendTo(member, type, fields);
  }

  function sendStates(member: Member, states: MediaEvents['stream.states']['states']): void {
    if (!member.takesChanges) for (const state of states) sendTo(member, 'stream.state', state);
    else
      for (let at = 0; at < states.length; at += statesMax)
        sendTo(member, 'stream.states', { states: states.slice(at, at + statesMax) });
  }

  function handOver(member: Member): void {
    const now = clock.elapsed();
    for (const [id, { until }] of handedOver) {
      if (until > now) break;
      handedOver.delete(id);
    }
    handedOver.set(member.session.id, { member, until: now + attachMsMax });
  }

  /** To where they are now. */
  function passOn(server: string, { room, participant }: MediaAddress, fields: DataFields): void {
    const { member, until } = handedOver.get(participant) ?? { until: 0 };
    if (member?.serverName !== server || member.address.room !== room || until <= clock.elapsed()) return;
    rooms.roomBus.publish(room, { is: 'frame', to: [member.session.identity], type: 'data', fields });
  }

  /** Where members have their media on the node, or on another one of the room. */
  function toThose(server: string, roomId: string, tell: (here: HubRoom) => void): void {
    const here = hub.find(roomId);
    if (!here) return;
    const isFor = ({ serverName }: Member): boolean => serverName === server || here.nodes.has(server);
    if ([...here.members.values()].some(isFor)) tell(here);
    else if (here.members.size > 0) dropForeign(server, roomId);
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

  /** Those that account for no more time than has passed. */
  function keepSamples(member: Member, { everyMs, tracks }: Pick<MediaEvents['track.samples'], 'everyMs' | 'tracks'>) {
    const { projectId, environment, connectionId, roomId, identity } = member.session;
    const now = clock.elapsed();
    if (connectionId === null || member.sampledUntil - samplesAheadMs > now) return;
    const count = Math.max(...tracks.map(({ kbps }) => kbps.length));
    member.sampledUntil = Math.max(member.sampledUntil, now) + count * everyMs;
    takeNodeSamples({ projectId, environment, connectionId, roomId, identity, everyMs, count, tracks });
  }

  const handlers: Handlers = {
    'sub.offer': ({ room, participant, ...offer }, server) => pass(server, { room, participant }, 'sub.offer', offer),
    'stream.state': ({ room, participant, ...state }, server) =>
      pass(server, { room, participant }, 'stream.state', state),
    'stream.states': ({ room, participant, states }, server) => {
      const member = own(server, { room, participant });
      if (member) sendStates(member, states);
    },
    'publish.quality': ({ room, participant, ...quality }, server) =>
      pass(server, { room, participant }, 'publish.quality', quality),
    data: ({ room, participant, ...data }, server) => {
      const member = own(server, { room, participant });
      if (member) sendData(member, data);
      else passOn(server, { room, participant }, data);
    },
    speakers: ({ room, speakers }, server) => toThose(server, room, (here) => hub.tellSpeakers(here, speakers, server)),
    quality: ({ room, updates }, server) => toThose(server, room, (here) => hub.announceQuality(here, updates, server)),

    'track.published': ({ track, ...address }, server) => {
      const member = own(server, address);
      if (!member || member.tracks.has(track.id)) return;
      member.tracks.set(track.id, track);
      const { identity } = address;
      record(member, { type: 'track.published', data: { identity, track: toTrack(track) } }, { isPublisher: true });
      fact(member, 'track.published', { trackId: track.id, kind: track.kind, source: track.source });
    },
    'track.started': ({ track, ...address }, server) => {
      own(server, address)?.tracks.set(track.id, track);
    },
    'track.unpublished': ({ trackId, ...address }, server) => {
      const member = own(server, address);
      if (!member?.tracks.delete(trackId)) return;
      const isPublisher = member.tracks.size > 0;
      const { identity } = address;
      record(member, { type: 'track.unpublished', data: { identity, trackId } }, { isPublisher });
      fact(member, 'track.unpublished', { trackId });
    },
    'track.muted': ({ trackId, muted, by, ...address }, server) => {
      const member = own(server, address);
      const track = member?.tracks.get(trackId);
      if (!member || !track || track.muted === muted) return;
      member.tracks.set(trackId, { ...track, muted });
      const { identity } = address;
      // The route that muted it for the server has recorded that too.
      if (by === 'PUBLISHER') record(member, { type: 'track.muted', data: { identity, trackId, muted, by } });
      fact(member, muted ? 'track.muted' : 'track.unmuted', { trackId, by });
    },
    'participant.closed': ({ reason, ...address }, server) => {
      const member = own(server, address);
      if (member) ended(member, isKnownReason.Check(reason) ? reason : 'UNKNOWN');
    },
    'transport.state': ({ pc, state, ...address }, server) => {
      const member = own(server, address);
      const type = transportFacts[state];
      if (member && type) fact(member, type, { pc });
    },
    'track.samples': ({ everyMs, tracks, ...address }, server) => {
      const member = own(server, address);
      if (member) keepSamples(member, { everyMs, tracks });
    },
    'participant.state': () => {},
    // Its participants are closed one by one.
    'room.closed': () => {},
    'node.silent': ({ room, node }) => {
      const member = [...(hub.find(room)?.members.values() ?? [])].find(({ serverName }) => serverName === node);
      if (member)
        rooms.placement
          .onSilent(member.session, room, node)
          .catch((error) => log.warn({ error, server: node, roomId: room }, 'room not moved yet'));
    },
  };

  const receive = <N extends MediaEventName>(server: string, { type, data }: MediaEventFrame<N>): void =>
    handlers[type](data, server);

  return { receive, handOver, ended, record };
}

/** A node also passes on reasons of newer servers. */
const isKnownReason = Compile(DisconnectReason);

const transportFacts: Partial<Record<string, ConnectionEventType>> = {
  CONNECTING: 'ice.checking',
  CONNECTED: 'dtls.connected',
  DISCONNECTED: 'ice.disconnected',
  FAILED: 'ice.failed',
};
