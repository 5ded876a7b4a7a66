import { createHash, timingSafeEqual } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { type DisconnectReason, type ErrorCode, fail, type RoomEventType, ServiceError } from '@parley/contract';
import { type Clock, iso } from '../../core/clock.ts';
import type { Tx } from '../../core/db.ts';
import { type Ids, randomBase62 } from '../../core/ids.ts';
import { clockLeewaySeconds } from '../../core/tokens.ts';
import type { Standing } from '../end-users/index.ts';
import { ceilingOf, type ParticipantsMax } from './ceiling.ts';
import type { Departures } from './departures.ts';
import { toParticipant } from './records.ts';
import type { RoomChange, RoomRecord } from './room-change.ts';
import type { Placement } from './room-nodes.ts';
import { listFurtherNodes, type RoomTx, type StoredRoom, takePlace } from './room-store.ts';
import { findToken, isCutOff, type StoredToken } from './rtc-token-store.ts';
import { grantOf } from './rtc-tokens.ts';
import {
  findLiveSession,
  findSession,
  insertSession,
  type StoredSession,
  updateAccepted,
  updateResumed,
  updateSessionFields,
} from './session-store.ts';

interface SessionDeps {
  clock: Clock;
  ids: Ids;
  roomChange: RoomChange;
  departures: Departures;
  standing: Pick<Standing, 'assertHoldsIn'>;
  processId: string;
  participantsMax: ParticipantsMax;
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
  const { clock, ids, roomChange, departures, standing, processId, participantsMax, viewersMax } = deps;

  /** Asked inside the transaction that holds the room's row: no revocation can come in between. */
  async function checkToken(tx: Tx, given: StoredToken): Promise<StoredToken> {
    const token = (await findToken(tx, given, given.id)) ?? fail('SVC_INVALID_TOKEN');
    await standing.assertHoldsIn(tx, grantOf(token));
    if (token.revokedAt !== null || (token.claimsHash !== null && (await isCutOff(tx, token))))
      fail('SVC_TOKEN_REVOKED');
    if (Date.parse(given.expiresAt) + clockLeewaySeconds * 1000 <= clock.now()) fail('SVC_TOKEN_EXPIRED');
    if (!token.permissions.join) fail('SVC_JOIN_NOT_ALLOWED');
    return token;
  }

  /** A change of a room that is open. */
  const openRoomChange: RoomChange = (scope, roomId, work) =>
    roomChange(scope, roomId, (tx, record, room) =>
      room.status === 'ACTIVE' ? work(tx, record, room) : fail('SVC_ROOM_CLOSED'),
    );

  /** Newest wins, unless the room says otherwise; a viewer never takes the place of a member. */
  async function evictDuplicate(tx: RoomTx, record: RoomRecord, room: StoredRoom, token: StoredToken): Promise<void> {
    const old = await findLiveSession(tx, room.id, token.identity);
    if (!old) return;
    const isHeld = room.duplicateIdentity === 'REJECT_NEW' && old.signalLostAt === null;
    if (isHeld || (token.kind === 'VIEWER' && old.kind === 'MEMBER')) fail('SVC_DUPLICATE_IDENTITY');
    await departures.end(tx, record, room.id, { id: old.id }, 'DUPLICATE_IDENTITY');
  }

  const ceilingFor = (room: StoredRoom, token: StoredToken): number | null =>
    token.kind === 'MEMBER' ? ceilingOf(room.participantsMax, participantsMax) : viewersMax === 0 ? null : viewersMax;

  /** Holds a place: the token, the room, the identity and the cap are decided in one transaction. */
  async function admit(given: StoredToken, connectionId: string): Promise<Admission> {
    const resumeToken = randomBase62(43);
    const at = iso(clock.now());
    return openRoomChange(given, given.roomId, async (tx, record, room) => {
      const token = await checkToken(tx, given);
      await evictDuplicate(tx, record, room, token);
      const place = await takePlace(tx, {
        id: room.id,
        kind: token.kind,
        max: ceilingFor(room, token),
        newSessionId: ids.newId('roomSession'),
        at,
      });
      if (!place) fail('SVC_ROOM_FULL');
      const session = await insertSession(tx, {
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
      return { room, session, resumeToken };
    });
  }

  /** The node took the participant. Undefined when the room moved meanwhile: place it again. */
  async function accept(held: StoredSession, placement: Placement): Promise<StoredSession | undefined> {
    const at = iso(clock.now());
    return openRoomChange(held, held.roomId, async (tx, record, room) => {
      const { serverName, serverInstance, region } = placement;
      const isThere = (node: { serverName: string | null; serverInstance: string | null }): boolean =>
        node.serverName === serverName && node.serverInstance === serverInstance;
      if (!isThere(room) && !(await listFurtherNodes(tx, room.id)).some(isThere)) return undefined;
      const session = await updateAccepted(tx, { id: held.id, serverName, serverInstance, region, at });
      if (!session) throw refusalOf((await findSession(tx, held.roomId, held.id))?.leftReason ?? null);
      // Viewers are many and do nothing that others could see: their joins are no events.
      if (session.kind === 'MEMBER')
        record.event({ type: 'participant.joined', data: { participant: toParticipant(session) } });
      return session;
    });
  }

  /** Resumes a session whose socket was lost; null when there is none: then the client joins again. */
  async function resume(
    given: StoredToken,
    { sessionId, resumeToken, connectionId }: { sessionId: string; resumeToken: string; connectionId: string },
  ): Promise<{ session: StoredSession; isAllowedOther: boolean } | null> {
    return openRoomChange(given, given.roomId, async (tx, record) => {
      const token = await checkToken(tx, given);
      const session = await findSession(tx, given.roomId, sessionId);
      if (!session || session.leftAt !== null || session.identity !== given.identity) return null;
      if (session.kind !== token.kind || session.isTest !== token.isTest) return null;
      if (!timingSafeEqual(session.resumeHash, hashOf(resumeToken))) return null;
      const taken = await updateResumed(tx, sessionId, { processId, connectionId }, token);
      if (!taken) return null;
      record.message({ is: 'moved', sessionId, processId });
      const isAllowedOther = !isDeepStrictEqual(session.permissions, taken.permissions);
      if (isAllowedOther) announceUpdate(record, taken);
      return { session: taken, isAllowedOther };
    });
  }

  /** Records something a participant did, as a part of a larger change; undefined for a participant who has left. */
  async function recordIn(
    tx: RoomTx,
    record: RoomRecord,
    session: StoredSession,
    event: { type: RoomEventType; data: Record<string, unknown> },
    fields: Parameters<typeof updateSessionFields>[2] = {},
  ): Promise<StoredSession | undefined> {
    const current = await updateSessionFields(tx, session.id, fields);
    // What viewers do is not seen by others.
    if (current?.kind !== 'MEMBER') return current;
    if (event.type === 'participant.updated') announceUpdate(record, current);
    else record.event(event);
    return current;
  }

  /** The same in a change of its own. */
  const record = (
    session: StoredSession,
    event: { type: RoomEventType; data: Record<string, unknown> },
    fields?: Parameters<typeof updateSessionFields>[2],
  ): Promise<StoredSession | undefined> =>
    roomChange(session, session.roomId, (tx, changes) => recordIn(tx, changes, session, event, fields));

  return { admit, accept, resume, record, recordIn };
}

function announceUpdate(record: RoomRecord, session: StoredSession): void {
  if (session.kind === 'MEMBER')
    record.event({ type: 'participant.updated', data: { participant: toParticipant(session) } });
}

/** The error for a client whose join was overtaken. */
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
