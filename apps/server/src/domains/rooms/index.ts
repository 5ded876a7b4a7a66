import type { Limits, roomRoutes } from '@parley/contract';
import type { ProjectScope } from '../../core/caller.ts';
import type { Changes } from '../../core/changes.ts';
import type { Clock } from '../../core/clock.ts';
import type { Cursors } from '../../core/cursors.ts';
import type { Db, Tx } from '../../core/db.ts';
import type { Handlers } from '../../core/handlers.ts';
import type { Ids } from '../../core/ids.ts';
import type { Log } from '../../core/log.ts';
import type { Bus } from '../../core/ports.ts';
import type { ReplicatedReads } from '../../core/replicated-reads.ts';
import type { Chore } from '../../core/timers.ts';
import type { Tokens } from '../../core/tokens.ts';
import type { RevokedTokens, Standing } from '../end-users/index.ts';
import type { Fleet } from '../fleet/index.ts';
import type { Access, OfflineTokens } from '../projects/index.ts';
import { createDepartures } from './departures.ts';
import { createFurtherNodes } from './further-nodes.ts';
import { createIceServers, type TurnConfig } from './ice-servers.ts';
import { createLostNodes } from './lost-nodes.ts';
import { createMassRevocation } from './mass-revocation.ts';
import { createParticipants } from './participants.ts';
import { createPersonalData } from './personal.ts';
import { createPlacement } from './placement.ts';
import { createRoomBus } from './room-bus.ts';
import { createRoomChange } from './room-change.ts';
import { listLastSeqs, listRoomEvents } from './room-event-store.ts';
import { createRoomNodes } from './room-nodes.ts';
import { updateRoomLinks } from './room-store.ts';
import { createRooms } from './rooms.ts';
import { createRtcTokens } from './rtc-tokens.ts';
import { findLiveSession, listJoinedMembers, type StoredSession } from './session-store.ts';
import { createSessions } from './sessions.ts';
import { createSweeps } from './sweeps.ts';

export { assertPayloadFits } from './participants.ts';
export { toParticipant, toRoom, toTrack } from './records.ts';
export type { RoomBus, RoomFrame, RoomMessage } from './room-bus.ts';
export type { RoomEvent } from './room-event-store.ts';
export type { JoinPlacement, Placement } from './room-nodes.ts';
export { countPlaced, type StoredRoom } from './room-store.ts';
export type { StoredToken } from './rtc-token-store.ts';
export { grantOf, type RtcTokens, type TokenName } from './rtc-tokens.ts';
export type { StoredSession } from './session-store.ts';
export type { Admission } from './sessions.ts';

interface RoomsDeps {
  db: Db;
  replicated: ReplicatedReads;
  clock: Clock;
  ids: Ids;
  cursors: Cursors;
  tokens: Tokens;
  bus: Bus;
  log: Log;
  changes: Changes;
  limits: Limits;
  fleet: Fleet;
  access: Pick<Access, 'assertNotArchived' | 'isKeyActive' | 'roleIn'>;
  standing: Pick<Standing, 'issue' | 'assertHolds' | 'assertHoldsIn'>;
  revokedTokens: Pick<RevokedTokens, 'note' | 'announce'>;
  offlineTokens: OfflineTokens;
  turn: TurnConfig;
  serverRegion: string | null;
  signalingUrl: string;
  /** Refuses minting for a project that has used up what it may. */
  assertMayMint: (scope: ProjectScope) => Promise<void>;
}

export type Rooms = ReturnType<typeof createRoomsDomain>;

export function createRoomsDomain(deps: RoomsDeps) {
  const { db, bus, fleet, limits } = deps;
  const { processId } = fleet.watch;
  const participantsMax = {
    usual: limits.SIGNALING_MAX_PARTICIPANTS_PER_ROOM,
    large: limits.SIGNALING_MAX_PARTICIPANTS_OF_LARGE_ROOMS,
  };
  const dataFallback = {
    sentPerSecond: limits.SIGNALING_MAX_DATA_SENT_PER_SECOND,
    receivedPerSecond: limits.SIGNALING_MAX_DATA_RECEIVED_PER_SECOND,
  };
  const roomBus = createRoomBus({ bus });
  const roomChange = createRoomChange({ ...deps, nodes: fleet.nodes, roomBus });
  const departures = createDepartures({ ...deps, roomChange });
  const roomNodes = createRoomNodes({ fleet, dataFallback });
  const furtherNodes = createFurtherNodes({ ...deps, roomChange, roomNodes });
  const lostNodes = createLostNodes({ ...deps, departures, roomChange });
  const placement = createPlacement({ ...deps, roomChange, roomNodes, furtherNodes, lostNodes });
  const rooms = createRooms({ ...deps, roomChange, departures, roomNodes, participantsMax });
  const iceServers = createIceServers(deps);
  const tokens = createRtcTokens({
    ...deps,
    departures,
    roomChange,
    iceServers,
    ttlSecondsDefault: limits.RTC_TOKEN_DEFAULT_TTL_SECONDS,
    refreshableSeconds: limits.RTC_SESSION_MAX_AGE_SECONDS,
    findRoom: rooms.find,
  });
  const sessions = createSessions({
    ...deps,
    roomChange,
    departures,
    processId,
    participantsMax,
    viewersMax: limits.LIVE_STREAM_MAX_VIEWERS,
  });
  const participants = createParticipants({ ...deps, nodes: fleet.nodes, rooms, sessions, departures, roomChange });
  const sweeps = createSweeps({ ...deps, watch: fleet.watch, departures, roomChange });

  const handlers: Handlers<typeof roomRoutes> = {
    listRooms: ({ caller, query }) => rooms.list(caller, query),
    createRoom: ({ caller, body }) => rooms.create(caller, body),
    getRoom: ({ caller, params }) => rooms.get(caller, params.id),
    updateRoom: ({ caller, params, body }) => rooms.update(caller, params.id, body),
    closeRoom: ({ caller, params }) => rooms.close(caller, params.id, 'API'),
    listRoomParticipants: ({ caller, params }) => participants.list(caller, params.id),
    listRoomSessions: ({ caller, params, query }) => participants.listPast(caller, params.id, query),
    removeParticipant: ({ caller, params, query }) => participants.remove(caller, params.id, params.identity, query),
    updateParticipant: ({ caller, params, body }) => participants.update(caller, params.id, params.identity, body),
    muteTrack: ({ caller, params, body }) =>
      participants.mute(caller, params.id, params.identity, params.trackId, body.muted ?? true),
    sendRoomData: ({ caller, params, body }) => participants.sendData(caller, params.id, body),
    mintRtcToken: ({ caller, params, body, request }) =>
      tokens.mint(caller, params.roomId, { ...body, requestId: request.id, keyId: caller.publicId }),
    revokeRtcToken: ({ caller, params }) => tokens.revoke(caller, params.roomId, params.tokenId),
    listProjectRooms: ({ caller, query }) => rooms.list(caller, query, deps.replicated.current),
    createProjectRoom: ({ caller, body }) => rooms.create(caller, body),
    getProjectRoom: ({ caller, params }) => participants.detail(caller, params.roomId),
    closeProjectRoom: ({ caller, params }) => rooms.close(caller, params.roomId, 'DASHBOARD'),
    mintTestToken: ({ caller, params, body, request }) =>
      tokens.mintTest(caller, params.roomId, body.participantIdentity, request.id),
    removeProjectParticipant: ({ caller, params, query }) =>
      participants.remove(caller, params.roomId, params.identity, query),
    updateProjectParticipant: ({ caller, params, body }) =>
      participants.update(caller, params.roomId, params.identity, body),
    muteProjectTrack: ({ caller, params, body }) =>
      participants.mute(caller, params.roomId, params.identity, params.trackId, body.muted ?? true),
  };

  const chores: Chore[] = [
    {
      name: 'lost-participants',
      everyMs: 1_000,
      run: sweeps.endLostSessions,
      onEveryProcess: true,
      isDue: sweeps.hasLostSessions,
    },
    {
      name: 'dead-processes',
      everyMs: 5_000,
      run: sweeps.markDeadProcessesLost,
      onEveryProcess: true,
      isDue: fleet.watch.hasDead,
    },
    { name: 'room-events', everyMs: 60_000, run: sweeps.deleteOldEvents, onDatabaseAlone: true },
    { name: 'rtc-tokens', everyMs: 10 * 60_000, run: tokens.deleteExpired, onDatabaseAlone: true },
  ];

  return {
    handlers,
    chores,
    rooms,
    tokens,
    sessions,
    participants,
    departures,
    placement,
    followNodes: furtherNodes.follow,
    sweeps,
    roomBus,
    iceServers,
    participantsMax,
    personalData: createPersonalData(deps),
    authenticateRtcToken: tokens.authenticateCaller,
    revokeTokens: createMassRevocation({ ...deps, departures, roomChange }),
    eventsAfter: (roomId: string, seq: number) => listRoomEvents(db, roomId, seq),
    /** The number of the last event of each of these rooms. */
    lastSeqs: (roomIds: readonly string[]) => listLastSeqs(db, roomIds),
    joinedMembers: (roomId: string) => listJoinedMembers(db, roomId),
    /** Who is in the room under this identity. */
    async joinedAs(roomId: string, identity: string): Promise<StoredSession | undefined> {
      const session = await findLiveSession(db, roomId, identity);
      return session?.joinedAt ? session : undefined;
    },
    /** Attaches a conversation to a room, or takes it away. */
    attachConversation: (tx: Tx, scope: ProjectScope, roomId: string, conversationId: string | null) =>
      updateRoomLinks(tx, scope, roomId, { conversationId }),
  };
}
