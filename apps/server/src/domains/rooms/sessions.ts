import { createHash, timingSafeEqual } from 'node:crypto';
import { type DisconnectReason, type ErrorCode, fail, type RoomEventType, ServiceError } from '@parley/contract';
import type { ProjectScope } from '../../core/caller.ts';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db, Tx } from '../../core/db.ts';
import { type Ids, randomBase62 } from '../../core/ids.ts';
import { clockLeewaySeconds } from '../../core/tokens.ts';
import type { Departure, Departures } from './departures.ts';
import type { Placement } from './placement.ts';
import { toParticipant } from './records.ts';
import type { RoomBus } from './room-bus.ts';
import { insertRoomEvents, type RoomEvent } from './room-event-store.ts';
import { lockRoom, type StoredRoom, takePlace } from './room-store.ts';
import { findToken, type StoredToken } from './rtc-token-store.ts';
import {
  findLiveSession,
  findSession,
  insertSession,
  type StoredSession,
  updateAccepted,
  updateResumed,
  updateSessionFields,
} from './session-store.ts';

export interface SessionDeps {
  db: Db;
  clock: Clock;
  ids: Ids;
  roomBus: RoomBus;
  departures: Departures;
  processId: string;
  participantsMax: number;
  /** Viewers of a live stream; 0 for no ceiling. */
  viewersMax: number;
}

/** A place in a room that is held, but not yet taken. */
export interface Admission {
  room: StoredRoom;
  session: StoredSession;
  resumeToken: string;
}

const hashOf = (resumeToken: string): Buffer => createHash('sha256').update(resumeToken).digest();

export function createSessions(deps: SessionDeps) {
  const { db, clock, ids, roomBus, departures, processId, participantsMax, viewersMax } = deps;

  /** Asked inside the transaction that holds the room's row: no revocation can come in between. */
  async function checkToken(tx: Tx, given: StoredToken): Promise<StoredToken> {
    const token = (await findToken(tx, given, given.id)) ?? fail('SVC_INVALID_TOKEN');
    if (token.revokedAt !== null) fail('SVC_TOKEN_REVOKED');
    if (Date.parse(given.expiresAt) + clockLeewaySeconds * 1000 <= clock.now()) fail('SVC_TOKEN_EXPIRED');
    if (!token.permissions.join) fail('SVC_JOIN_NOT_ALLOWED');
    return token;
  }

  async function lockOpen(tx: Tx, scope: ProjectScope, roomId: string): Promise<StoredRoom> {
    const room = (await lockRoom(tx, scope, roomId)) ?? fail('SVC_ROOM_NOT_FOUND');
    return room.status === 'ACTIVE' ? room : fail('SVC_ROOM_CLOSED');
  }

  /** Newest wins, unless the room says otherwise; a viewer never takes the place of a member. */
  async function makeWay(tx: Tx, room: StoredRoom, token: StoredToken): Promise<Departure | null> {
    const old = await findLiveSession(tx, room.id, token.identity);
    if (!old) return null;
    const isHeld = room.duplicateIdentity === 'REJECT_NEW' && old.signalLostAt === null;
    if (isHeld || (token.kind === 'VIEWER' && old.kind === 'MEMBER')) fail('SVC_DUPLICATE_IDENTITY');
    return departures.end(tx, room, { id: old.id }, 'DUPLICATE_IDENTITY');
  }

  const ceilingOf = (room: StoredRoom, token: StoredToken): number | null =>
    token.kind === 'MEMBER'
      ? Math.min(room.participantsMax ?? participantsMax, participantsMax)
      : viewersMax === 0
        ? null
        : viewersMax;

  /** Holds a place: the token, the room, the identity and the cap are decided in one transaction. */
  async function admit(given: StoredToken, connectionId: string): Promise<Admission> {
    const resumeToken = randomBase62(43);
    const at = iso(clock.now());
    const { room, session, departure } = await db.transaction(async (tx) => {
      const locked = await lockOpen(tx, given, given.roomId);
      const token = await checkToken(tx, given);
      const way = await makeWay(tx, locked, token);
      const place = await takePlace(tx, {
        id: locked.id,
        kind: token.kind,
        max: ceilingOf(locked, token),
        newSessionId: ids.newId('roomSession'),
        at,
      });
      if (!place) fail('SVC_ROOM_FULL');
      const inserted = await insertSession(tx, {
        ...token,
        id: ids.newId('participantSession'),
        tokenId: token.id,
        roomSessionId: place.sessionId,
        admission: place.admission,
        connectionId,
        processId,
        resumeHash: hashOf(resumeToken),
        createdAt: at,
      });
      return { room: locked, session: inserted, departure: way };
    });
    if (departure) departures.announce(departure);
    return { room, session, resumeToken };
  }

  /** The node took the participant. Undefined when the room moved meanwhile: place it again. */
  async function accept(held: StoredSession, placement: Placement): Promise<StoredSession | undefined> {
    const at = iso(clock.now());
    const accepted = await db.transaction(async (tx) => {
      const room = await lockOpen(tx, held, held.roomId);
      const { serverName, serverInstance, region } = placement;
      if (room.serverName !== serverName || room.serverInstance !== serverInstance) return null;
      const session = await updateAccepted(tx, { id: held.id, serverName, serverInstance, region, at });
      if (!session) throw refusalOf((await findSession(tx, held.roomId, held.id))?.leftReason ?? null);
      const events = await announceJoin(tx, session, at);
      return { session, events };
    });
    if (!accepted) return undefined;
    tell(held.roomId, accepted.events);
    return accepted.session;
  }

  /** Viewers are many and do nothing that others could see: nobody is told of each. */
  const announceJoin = (tx: Tx, session: StoredSession, at: string): Promise<RoomEvent[]> =>
    session.kind === 'VIEWER'
      ? Promise.resolve([])
      : insertRoomEvents(
          tx,
          session.roomId,
          [{ type: 'participant.joined', data: { participant: toParticipant(session) } }],
          at,
        );

  function tell(roomId: string, events: readonly RoomEvent[]): void {
    for (const event of events) roomBus.publish(roomId, { is: 'event', event });
  }

  /** Takes up a session whose socket was lost; null when there is none to take up: join anew. */
  async function resume(
    given: StoredToken,
    { sessionId, resumeToken, connectionId }: { sessionId: string; resumeToken: string; connectionId: string },
  ): Promise<{ room: StoredRoom; session: StoredSession } | null> {
    const resumed = await db.transaction(async (tx) => {
      const room = await lockOpen(tx, given, given.roomId);
      await checkToken(tx, given);
      const session = await findSession(tx, given.roomId, sessionId);
      if (!session || session.leftAt !== null || session.identity !== given.identity) return null;
      if (!timingSafeEqual(session.resumeHash, hashOf(resumeToken))) return null;
      const taken = await updateResumed(tx, sessionId, { processId, connectionId });
      return taken ? { room, session: taken } : null;
    });
    if (resumed) roomBus.publish(given.roomId, { is: 'moved', sessionId, processId });
    return resumed;
  }

  /** Records something a participant did. Nothing is recorded for somebody who has left, or for a viewer. */
  async function record(
    session: StoredSession,
    event: { type: RoomEventType; data: Record<string, unknown> },
    fields: Parameters<typeof updateSessionFields>[2] = {},
  ): Promise<StoredSession | undefined> {
    const recorded = await db.transaction(async (tx) => {
      const room = await lockRoom(tx, session, session.roomId);
      const current = room && (await updateSessionFields(tx, session.id, fields));
      if (!current) return null;
      const data = event.type === 'participant.updated' ? { participant: toParticipant(current) } : event.data;
      const events =
        current.kind === 'VIEWER'
          ? []
          : await insertRoomEvents(tx, session.roomId, [{ type: event.type, data }], iso(clock.now()));
      return { current, events };
    });
    if (!recorded) return undefined;
    tell(session.roomId, recorded.events);
    return recorded.current;
  }

  return { admit, accept, resume, record };
}

/** What to tell a client whose join was overtaken. */
function refusalOf(reason: DisconnectReason | null): ServiceError {
  const codes: Partial<Record<DisconnectReason, ErrorCode>> = {
    TOKEN_REVOKED: 'SVC_TOKEN_REVOKED',
    ROOM_CLOSED: 'SVC_ROOM_CLOSED',
    STREAM_ENDED: 'SVC_ROOM_CLOSED',
    DUPLICATE_IDENTITY: 'SVC_DUPLICATE_IDENTITY',
    PARTICIPANT_REMOVED: 'SVC_FORBIDDEN',
  };
  const code = reason === null ? undefined : codes[reason];
  return code ? new ServiceError(code) : new ServiceError('SVC_MEDIA_UNAVAILABLE', { retryAfterSeconds: 2 });
}

export type Sessions = ReturnType<typeof createSessions>;
