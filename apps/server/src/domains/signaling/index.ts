import type { DisconnectReason, Limits, signalingRoutes } from '@parley/contract';
import type { Clock } from '../../core/clock.ts';
import type { ConnectionRecorder, TakeNodeSamples } from '../../core/connections.ts';
import type { Ids } from '../../core/ids.ts';
import type { Log } from '../../core/log.ts';
import type { Metrics } from '../../core/metrics.ts';
import type { MissedChanges } from '../../core/missed-changes.ts';
import type { Domain } from '../../core/part.ts';
import { clockLeewaySeconds } from '../../core/tokens.ts';
import { ownTrace, type Tracer } from '../../core/tracing.ts';
import type { Fleet } from '../fleet/index.ts';
import type { Access } from '../projects/index.ts';
import type { RoomFrame, RoomMessage, Rooms } from '../rooms/index.ts';
import { disconnect } from './disconnect.ts';
import { createFollowNodes } from './follow-nodes.ts';
import { createHub } from './hub.ts';
import type { HubRoom } from './hub-room.ts';
import { createJoin } from './join.ts';
import { createMediaEvents } from './media-events.ts';
import { createMediaFrames } from './media-frames.ts';
import { type Member, type RtcConnection, sendTo } from './member.ts';
import type { Observe } from './observe.ts';
import { createPlainWebRtc } from './plain-webrtc.ts';
import { createReconcile } from './reconcile.ts';
import { createRpc } from './rpc.ts';
import { createSignalingSocket } from './socket.ts';
import { createTokenRefresh } from './token-refresh.ts';

interface SignalingDeps {
  clock: Clock;
  ids: Ids;
  log: Log;
  metrics: Metrics;
  missedChanges: MissedChanges;
  tracer: Tracer;
  limits: Limits;
  fleet: Fleet;
  rooms: Rooms;
  access: Pick<Access, 'inactiveOf'>;
  /** 0 to 1; spreads clients over time when they are sent to another node. */
  random: () => number;
  /** What the server saw of a connection. Best effort, not awaited. */
  connections: ConnectionRecorder;
  takeNodeSamples: TakeNodeSamples;
}

export function createSignaling({
  clock,
  ids,
  log,
  metrics,
  missedChanges,
  tracer,
  limits,
  fleet,
  rooms,
  access,
  random,
  connections,
  takeNodeSamples,
}: SignalingDeps): Domain<typeof signalingRoutes> {
  const { nodes } = fleet;
  const observe: Observe = (token, type, connectionId, data, about) => {
    const { projectId, environment, roomId, identity, id: tokenId, requestId } = token;
    const fact = { projectId, environment, roomId, identity, tokenId, connectionId, type, at: clock.now() };
    // The request that minted the token: every step leads back to it.
    const known = requestId === null ? data : { requestId, ...data };
    connections.record({ ...fact, source: 'SERVER', data: known, ...(about && { about }) });
  };

  const traced =
    (join: ReturnType<typeof createJoin>): typeof join =>
    (connection, frame, isPlain) => {
      const { projectId, roomId, id } = connection.session.token;
      const names = { 'parley.project_id': projectId, 'parley.room_id': roomId, 'parley.token_id': id };
      const attributes = { ...names, 'parley.connection_id': frame.connectionId };
      return tracer.trace('join', { kind: 'server', parent: ownTrace, attributes }, () =>
        join(connection, frame, isPlain),
      );
    };

  const { roomBus, eventsAfter, lastSeqs } = rooms;
  const hub = createHub({
    clock,
    log,
    roomBus,
    frameBytesMax: limits.SIGNALING_MAX_MESSAGE_BYTES,
    usualSize: limits.SIGNALING_MAX_PARTICIPANTS_PER_ROOM,
    eventsAfter,
    lastSeqs,
    onMessage: receive,
  });
  const followNodes = createFollowNodes({ log, rooms });
  const rpc = createRpc({ clock, ids, rooms });
  const mediaEvents = createMediaEvents({ clock, log, metrics, rooms, hub, observe, takeNodeSamples });
  const refresh = createTokenRefresh({ clock, log, tokens: rooms.tokens });
  nodes.onEvent(mediaEvents.receive);
  nodes.onHello(createReconcile({ log, nodes, hub, mediaEvents }));

  function receive(room: HubRoom, message: Exclude<RoomMessage, { is: 'event' }>): void {
    switch (message.is) {
      case 'ended':
        for (const { id, reason } of message.sessions) end(room, room.members.get(id), reason);
        return;
      case 'moved':
        if (message.processId !== fleet.watch.processId) handOver(room, room.members.get(message.sessionId));
        return;
      case 'rpcAnswer':
        rpc.receive(room.id, message);
        return;
      case 'spread':
        followNodes(room);
        return;
      case 'frame':
        receiveFrame(room, message);
    }
  }

  function receiveFrame(room: HubRoom, message: RoomFrame): void {
    const { to, type, fields } = message;
    if (message.to === null && message.type === 'quality') hub.announceQuality(room, message.fields.updates);
    else if (to === null) hub.broadcast(room, type, fields);
    for (const identity of to ?? []) room.arriving.get(identity)?.push(message);
    const named = to === null ? [] : [...room.members.values()].filter(({ session }) => to.includes(session.identity));
    for (const member of named) {
      sendTo(member, type, fields);
      // Permissions are checked here too, before the node checks them.
      if (message.type === 'permissions.changed')
        member.session = { ...member.session, permissions: message.fields.permissions };
    }
  }

  /** The session is over in the store; its socket follows. */
  function end(room: HubRoom, member: Member | undefined, reason: DisconnectReason): void {
    // A join that is under way handles it itself.
    if (!member || member.backlog) return;
    hub.remove(room, member);
    rpc.forget(member);
    const { connection, session } = member;
    if (connection && session.connectionId) observe(connection.session.token, 'left', session.connectionId, { reason });
    if (connection) connection.session.membership.state = { is: 'left' };
    disconnect(member, reason, random);
  }

  /** The client resumed at another process: this socket is stale. */
  function handOver(room: HubRoom, member: Member | undefined): void {
    if (!member) return;
    const to = [member.session.identity];
    for (const fields of member.heldData) roomBus.publish(room.id, { is: 'frame', to, type: 'data', fields });
    mediaEvents.handOver(member);
    hub.remove(room, member);
    rpc.forget(member);
    if (member.connection) member.connection.session.membership.state = { is: 'left' };
    member.connection?.close(1001, 'RESUMED_ELSEWHERE');
  }

  /** The socket was lost: the place is kept for a while. */
  async function closed(connection: RtcConnection, code: number): Promise<void> {
    const { state } = connection.session.membership;
    if (state.is !== 'joined' || state.member.connection !== connection) return;
    const { member } = state;
    const { session } = member;
    member.connection = null;
    if (session.connectionId)
      observe(connection.session.token, 'signaling.disconnected', session.connectionId, { code });
    const reason = reasonOfClose(code);
    if (reason) await rooms.departures.depart(session, session.roomId, { id: session.id }, reason);
    else await rooms.sweeps.markLost(session, code === 4408 ? connection.lastSeenAt : clock.now());
  }

  const join = traced(createJoin({ clock, log, limits, nodes, turn: fleet.turn, rooms, hub, observe, followNodes }));
  const media = createMediaFrames({ nodes, limits });
  const socket = createSignalingSocket({
    clock,
    log,
    limits,
    rooms,
    join,
    media,
    rpc,
    observe,
    closed,
  });

  /** Sessions that were ended elsewhere, and tokens that expire soon. */
  async function refreshMembers(): Promise<void> {
    if (hub.members().length === 0) return;
    for (const { id, roomId, reason } of await rooms.sweeps.endedHere()) {
      const room = hub.find(roomId);
      if (room) end(room, room.members.get(id), reason);
    }
    await Promise.all(hub.members().map(refresh));
    const now = clock.now() - clockLeewaySeconds * 1000;
    await depart(({ connection }) => connection !== null && connection.session.expiresAt <= now);
  }

  /** A socket ends with its token by itself; of WHIP and WHEP, and of a place that is kept, only the session does. */
  async function depart(isOver: (member: Member) => boolean): Promise<void> {
    const over = hub.members().filter((member) => !member.backlog && isOver(member));
    await Promise.all(
      over.map(({ session }) =>
        rooms.departures.depart(session, session.roomId, { id: session.id }, 'TOKEN_EXPIRED').catch((error) => {
          log.warn({ error, sessionId: session.id }, 'participant without a valid token not removed yet');
        }),
      ),
    );
  }

  async function departArchived(): Promise<void> {
    const inactive = await access.inactiveOf([...new Set(hub.members().map(({ session }) => session.projectId))]);
    if (inactive.length > 0) await depart(({ session }) => inactive.includes(session.projectId));
  }

  async function catchUp(): Promise<void> {
    if (await missedChanges.arePossible()) await hub.catchUp();
  }

  /** Takes back sessions that other processes thought lost. */
  async function reclaimSessions(): Promise<void> {
    const here = hub.members().flatMap(({ connection, session }) => (connection?.isOpen ? [session.id] : []));
    if (here.length > 0) await rooms.sweeps.found(here);
  }

  return {
    sockets: [socket],
    handlers: createPlainWebRtc({ clock, ids, nodes, turn: fleet.turn, rooms, join, media }),
    chores: [
      { name: 'signaling', everyMs: 1_000, run: refreshMembers, onEveryProcess: true },
      { name: 'archived-participants', everyMs: 1_500, run: departArchived, onEveryProcess: true },
      { name: 'room-catch-up', everyMs: 1_500, run: catchUp, onEveryProcess: true },
      { name: 'signaling-claim', everyMs: 5_000, run: reclaimSessions, onEveryProcess: true },
    ],
  };
}

/** Closes that end a session at once; after any other the client may resume. */
function reasonOfClose(code: number): DisconnectReason | null {
  if (code === 1000) return 'CLIENT_INITIATED';
  return code === 4401 ? 'TOKEN_EXPIRED' : null;
}
