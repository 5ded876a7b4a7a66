import { type FrameData, fail, type Limits, type SignalingClientFrames } from '@parley/contract';
import type { MediaParticipantSnapshot } from '@parley/contract/media-control';
import type { Clock } from '../../core/clock.ts';
import type { ConnectionAbout } from '../../core/connections.ts';
import { toServiceError } from '../../core/faults.ts';
import type { Log } from '../../core/log.ts';
import { asServiceError, MediaRefusal, type Nodes, type Turn } from '../fleet/index.ts';
import { type Admission, type Rooms, type StoredSession, toParticipant } from '../rooms/index.ts';
import type { FollowNodes } from './follow-nodes.ts';
import type { Hub } from './hub.ts';
import type { HubRoom } from './hub-room.ts';
import { createMember, type Member, type RtcConnection } from './member.ts';
import type { Observe } from './observe.ts';
import { createResume } from './resume.ts';
import { createWelcome } from './welcome.ts';

interface JoinDeps {
  clock: Clock;
  log: Log;
  limits: Limits;
  nodes: Nodes;
  turn: Turn;
  rooms: Rooms;
  hub: Hub;
  observe: Observe;
  followNodes: FollowNodes;
}

type JoinFrame = FrameData<SignalingClientFrames['join']>;

const movesMax = 3;

export function createJoin({ clock, log, limits, nodes, turn, rooms, hub, observe, followNodes }: JoinDeps) {
  const { sendJoined, rosters } = createWelcome({ clock, log, limits, nodes, turn, rooms, hub });
  const resume = createResume({ clock, nodes, rooms, hub, observe, followNodes, sendJoined });
  const usualSize = limits.SIGNALING_MAX_PARTICIPANTS_PER_ROOM;

  /** `isPlain`: the connection has no socket behind it (WHIP, WHEP). */
  async function join(connection: RtcConnection, frame: JoinFrame, isPlain = false): Promise<undefined> {
    const { session } = connection;
    const { membership } = session;
    if (membership.state.is !== 'none') fail('SVC_BAD_REQUEST', { message: 'This connection has joined already.' });
    membership.state = { is: 'joining' };
    observe(
      session.token,
      'join.requested',
      frame.connectionId,
      { ...(frame.client && { client: frame.client }) },
      aboutClient(connection, frame),
    );
    // Subscribed before anything is checked: a revocation is either seen by the check or arrives as a message.
    const room = await hub.enter(session.token.roomId);
    try {
      const member = (await resume(room, connection, frame)) ?? (await joinFresh(room, connection, frame, isPlain));
      if (!connection.isOpen)
        await rooms.departures.depart(member.session, room.id, { id: member.session.id }, 'SIGNAL_CLOSED');
    } catch (error) {
      membership.state = { is: 'none' };
      observe(session.token, 'join.failed', frame.connectionId, {
        code: toServiceError(error).code,
      });
      throw error;
    } finally {
      hub.exit(room);
    }
    return undefined;
  }

  async function joinFresh(
    room: HubRoom,
    connection: RtcConnection,
    frame: JoinFrame,
    isPlain: boolean,
  ): Promise<Member> {
    const held = await rooms.sessions.admit(connection.session.token, frame.connectionId);
    const member = createMember(held.session, '', connection, frame.roster);
    const isPaged = frame.roster === true && held.room.joinedCount >= usualSize;
    room.members.set(held.session.id, member);
    try {
      const { others, since } = await addToNode(room, member, held, frame, {
        plain: isPlain,
        brief: isPaged || isPlain,
      });
      connection.session.membership.state = { is: 'joined', member };
      const known = { resumeToken: held.resumeToken, resumed: false, media: undefined };
      if (isPaged) await sendJoined(room, member, { ...known, ...(await rosters.of(room, member)) });
      else {
        const participants = isPlain ? [] : await listOthers(member.session, others);
        await sendJoined(room, member, { ...known, since, participants });
      }
      const { serverName } = member;
      const place = { serverName, region: member.session.region };
      observe(connection.session.token, 'join.succeeded', frame.connectionId, { serverName }, place);
      return member;
    } catch (error) {
      hub.remove(room, member);
      await rooms.departures
        .depart(held.session, room.id, { id: held.session.id }, 'JOIN_FAILURE')
        .catch((cause) => log.warn({ error: cause, sessionId: held.session.id }, 'held place not given back yet'));
      // Another join with this identity was admitted after ours and was faster.
      if (error instanceof MediaRefusal && error.code === 'STALE') fail('SVC_DUPLICATE_IDENTITY');
      throw asServiceError(error, 'SVC_JOIN_NOT_ALLOWED');
    }
  }

  /** Adds the participant to the room's node, and retries if the room has moved to another one. */
  async function addToNode(
    room: HubRoom,
    member: Member,
    { session }: Admission,
    frame: JoinFrame,
    { plain, brief }: { plain: boolean; brief: boolean },
  ): Promise<{ others: MediaParticipantSnapshot[]; since: number }> {
    for (let moves = 0; moves < movesMax; moves++) {
      const placement = await rooms.placement.place(session, session.roomId, frame.region ?? null);
      const isSpread = placement.nodes.length > 1 && placement.nodes.some((name) => !room.nodes.has(name));
      room.nodes = new Set(placement.nodes);
      if (isSpread) rooms.roomBus.publish(room.id, { is: 'spread' });
      member.serverName = placement.serverName;
      // Read before the node's list: what happens in between is sent twice, never left out.
      const { eventSeq } = await rooms.rooms.find(session, session.roomId);
      const { participants } = await nodes.command(placement.serverName, 'participant.add', {
        ...member.address,
        ...wishesOf(session, frame),
        ...(plain && { plain }),
        ...(brief && { brief }),
        streamStates: true,
      });
      const accepted = await rooms.sessions.accept(session, placement);
      if (accepted) {
        member.session = accepted;
        const elsewhere = brief ? [] : await rosters.elsewhere(room, member);
        return { others: [...participants, ...elsewhere], since: eventSeq };
      }
      await nodes
        .command(placement.serverName, 'participant.remove', { ...member.address, reason: 'NODE_DRAINED' })
        .catch((error) => log.warn({ error, server: placement.serverName }, 'participant not removed from the node'));
    }
    return fail('SVC_MEDIA_UNAVAILABLE', { retryAfterSeconds: 2 });
  }

  /** Who else is there; viewers are not shown one by one. */
  async function listOthers(own: StoredSession, media: readonly MediaParticipantSnapshot[]) {
    const onNode = new Map(media.map((participant) => [participant.participant, participant]));
    const members = await rooms.joinedMembers(own.roomId);
    return members.filter(({ id }) => id !== own.id).map((session) => toParticipant(session, onNode.get(session.id)));
  }

  return join;
}

/** The participant as the node is to serve them. */
const wishesOf = (session: StoredSession, { autoSubscribe, adaptiveStream, maxVisible }: JoinFrame) => ({
  identity: session.identity,
  order: session.admission,
  permissions: session.permissions,
  autoSubscribe: autoSubscribe ?? true,
  ...(adaptiveStream === undefined ? {} : { adaptiveStream }),
  ...(maxVisible !== undefined && { maxVisible }),
  ...(session.kind === 'VIEWER' && { viewer: true }),
});

const aboutClient = ({ ip, userAgent }: RtcConnection, { client }: JoinFrame): ConnectionAbout => ({
  clientIp: ip,
  userAgent,
  sdkName: client?.sdk ?? null,
  sdkVersion: client?.version ?? null,
});
