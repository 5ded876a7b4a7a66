import type { DisconnectReason, ParticipantKind, RtcTokenPermissions } from '@parley/contract';
import type { ProjectScope } from '../../core/caller.ts';
import type { Queryable } from '../../core/db.ts';
import { hasFirst } from '../../core/due-store.ts';
import { empty, json, type Sql, sql } from '../../core/sql.ts';
import type { SignsOfLife } from '../fleet/index.ts';
import type { RoomTx } from './room-store.ts';

/** One stay of one participant in one room. */
export interface StoredSession extends ProjectScope {
  id: string;
  roomId: string;
  roomSessionId: string;
  /** Grows with each admission to the room. */
  admission: number;
  identity: string;
  kind: ParticipantKind;
  isTest: boolean;
  tokenId: string;
  connectionId: string | null;
  permissions: RtcTokenPermissions;
  metadata: string | null;
  serverName: string | null;
  region: string | null;
  processId: string;
  signalLostAt: string | null;
  resumeHash: Buffer;
  isPublisher: boolean;
  createdAt: string;
  joinedAt: string | null;
  leftAt: string | null;
  leftReason: DisconnectReason | null;
}

const columns = sql`p.id, p.project_id as "projectId", p.environment, p.room_id as "roomId",
  p.room_session_id as "roomSessionId", p.admission, p.identity, p.kind, p.is_test as "isTest", p.token_id as "tokenId",
  p.connection_id as "connectionId", '{"updateMetadata":false}'::jsonb || p.permissions as permissions, p.metadata, p.server_name as "serverName", p.region,
  p.process_id as "processId", p.signal_lost_at as "signalLostAt", p.resume_hash as "resumeHash",
  p.is_publisher as "isPublisher", p.created_at as "createdAt", p.joined_at as "joinedAt", p.left_at as "leftAt",
  p.left_reason as "leftReason"`;

type NewSession = Pick<
  StoredSession,
  | 'id'
  | 'projectId'
  | 'environment'
  | 'roomId'
  | 'roomSessionId'
  | 'admission'
  | 'identity'
  | 'kind'
  | 'isTest'
  | 'tokenId'
  | 'connectionId'
  | 'permissions'
  | 'metadata'
  | 'processId'
  | 'resumeHash'
  | 'createdAt'
>;

export async function insertSession(tx: RoomTx, session: NewSession): Promise<StoredSession> {
  const [row] = await tx.query<StoredSession>(sql`
    insert into participant_sessions as p (id, project_id, environment, room_id, room_session_id, admission, identity, kind,
      is_test, token_id, connection_id, permissions, metadata, process_id, resume_hash, created_at)
    values (${session.id}, ${session.projectId}, ${session.environment}, ${session.roomId}, ${session.roomSessionId}, ${session.admission},
      ${session.identity}, ${session.kind}, ${session.isTest}, ${session.tokenId}, ${session.connectionId},
      ${json(session.permissions)}::jsonb, ${session.metadata}, ${session.processId}, ${session.resumeHash},
      ${session.createdAt})
    returning ${columns}`);
  return row as StoredSession;
}

/** Who holds a place under this identity. */
export async function findLiveSession(
  db: Queryable,
  roomId: string,
  identity: string,
): Promise<StoredSession | undefined> {
  const [row] = await db.query<StoredSession>(sql`
    select ${columns} from participant_sessions p
    where p.room_id = ${roomId} and p.identity = ${identity} and p.left_at is null`);
  return row;
}

export async function findSession(db: Queryable, roomId: string, id: string): Promise<StoredSession | undefined> {
  const [row] = await db.query<StoredSession>(sql`
    select ${columns} from participant_sessions p where p.id = ${id} and p.room_id = ${roomId}`);
  return row;
}

/** Who is in the room; not those who only hold a place so far. */
export async function listJoined(db: Queryable, roomId: string): Promise<StoredSession[]> {
  return db.query<StoredSession>(sql`
    select ${columns} from participant_sessions p
    where p.room_id = ${roomId} and p.left_at is null and p.joined_at is not null order by p.joined_at, p.id`);
}

/** Those of them whom others see one by one. */
export async function listJoinedMembers(db: Queryable, roomId: string): Promise<StoredSession[]> {
  return db.query<StoredSession>(sql`
    select ${columns} from participant_sessions p
    where p.room_id = ${roomId} and p.kind = 'MEMBER' and p.left_at is null and p.joined_at is not null
    order by p.joined_at, p.id`);
}

/** Whether anybody of the room has joined on a node. */
export async function hasJoinedOn(db: Queryable, roomId: string, serverName: string): Promise<boolean> {
  const rows = await db.query(sql`
    select p.id from participant_sessions p
    where p.room_id = ${roomId} and p.left_at is null and p.joined_at is not null and p.server_name = ${serverName}
    limit 1`);
  return rows.length > 0;
}

/** All sessions ever, newest first. */
export async function listSessions(
  db: Queryable,
  roomId: string,
  after: readonly [string, string] | null,
  limit: number,
): Promise<StoredSession[]> {
  return db.query<StoredSession>(sql`
    select ${columns} from participant_sessions p
    where p.room_id = ${roomId} and p.joined_at is not null
      ${after === null ? empty : sql`and (p.created_at, p.id) < (${after[0]}, ${after[1]})`}
    order by p.created_at desc, p.id desc limit ${limit}`);
}

interface Acceptance {
  id: string;
  serverName: string;
  serverInstance: string;
  region: string | null;
  at: string;
}

/** The join is accepted: from here on the minutes count. Undefined when the session was ended meanwhile. */
export async function updateAccepted(
  tx: RoomTx,
  { id, serverName, serverInstance, region, at }: Acceptance,
): Promise<StoredSession | undefined> {
  const [row] = await tx.query<StoredSession>(sql`
    update participant_sessions as p set joined_at = ${at}, server_name = ${serverName},
      server_instance = ${serverInstance}, region = ${region}
    where p.id = ${id} and p.left_at is null and p.joined_at is null returning ${columns}`);
  return row;
}

/** The socket of a session is at another process, or back at this one. From here on it stands on the token it came with. */
export async function updateResumed(
  tx: RoomTx,
  id: string,
  { processId, connectionId }: { processId: string; connectionId: string },
  token: { id: string; permissions: RtcTokenPermissions },
): Promise<StoredSession | undefined> {
  const [row] = await tx.query<StoredSession>(sql`
    update participant_sessions as p set process_id = ${processId}, connection_id = ${connectionId}, signal_lost_at = null,
      token_id = ${token.id}, permissions = ${json(token.permissions)}::jsonb
    where p.id = ${id} and p.left_at is null and p.joined_at is not null returning ${columns}`);
  return row;
}

/** The socket is gone; the place is kept. False when another process has the session by now. */
export async function updateSignalLost(tx: RoomTx, id: string, processId: string, at: string): Promise<boolean> {
  const touched = await tx.execute(sql`
    update participant_sessions set signal_lost_at = ${at}
    where id = ${id} and process_id = ${processId} and left_at is null and signal_lost_at is null`);
  return touched > 0;
}

/** Rooms with sessions whose socket was at a process. */
export async function listRoomsOfProcess(db: Queryable, processId: string): Promise<(ProjectScope & { id: string })[]> {
  return db.query(sql`
    select distinct p.room_id as id, p.project_id as "projectId", p.environment from participant_sessions p
    where p.process_id = ${processId} and p.left_at is null and p.signal_lost_at is null order by p.room_id`);
}

/** The same for all participants of a room whose socket was at a process that died. */
export async function updateProcessLost(
  tx: RoomTx,
  roomId: string,
  processId: string,
  at: string,
): Promise<{ identity: string; kind: ParticipantKind }[]> {
  return tx.query(sql`
    update participant_sessions set signal_lost_at = ${at}
    where room_id = ${roomId} and process_id = ${processId} and left_at is null and signal_lost_at is null
    returning identity, kind`);
}

/** Sessions that another process marked as lost while their sockets are here: no change of a room, and no event. */
export async function updateSignalFound(db: Queryable, processId: string, ids: readonly string[]): Promise<void> {
  await db.execute(sql`
    update participant_sessions set signal_lost_at = null
    where id = any(${ids}) and process_id = ${processId} and left_at is null and signal_lost_at is not null`);
}

export async function updateSessionFields(
  tx: RoomTx,
  id: string,
  fields: { permissions?: RtcTokenPermissions; metadata?: string | null; isPublisher?: boolean },
): Promise<StoredSession | undefined> {
  const { permissions, metadata, isPublisher } = fields;
  const [row] = await tx.query<StoredSession>(sql`
    update participant_sessions as p set id = p.id
      ${permissions === undefined ? empty : sql`, permissions = ${json(permissions)}::jsonb`}
      ${metadata === undefined ? empty : sql`, metadata = ${metadata}`}
      ${isPublisher === undefined ? empty : sql`, is_publisher = ${isPublisher}`}
    where p.id = ${id} and p.left_at is null returning ${columns}`);
  return row;
}

/** Which sessions of a room to end. */
export type SessionChoice =
  | { all: true }
  | { id: string }
  | { identity: string }
  | { tokenIds: readonly string[] }
  | { lostBefore: string }
  /** Those that were on a node, or on a life of it other than this instance. */
  | { serverName: string; exceptInstance: string | null };

function chosen(choice: SessionChoice): Sql {
  if ('all' in choice) return sql`true`;
  if ('id' in choice) return sql`p.id = ${choice.id}`;
  if ('identity' in choice) return sql`p.identity = ${choice.identity}`;
  if ('tokenIds' in choice) return sql`p.token_id = any(${choice.tokenIds}::text[])`;
  if ('lostBefore' in choice) return sql`p.signal_lost_at < ${choice.lostBefore}`;
  const { serverName, exceptInstance } = choice;
  return exceptInstance === null
    ? sql`p.server_name = ${serverName}`
    : sql`p.server_name = ${serverName} and p.server_instance <> ${exceptInstance}`;
}

/** The moment a stay counts as over: never later than we know of it. */
export type EndMoment = { at: string } | { signalLost: true } | { signs: SignsOfLife };

function moment(end: EndMoment, now: string): Sql {
  if ('at' in end) return sql`${end.at}::timestamptz`;
  if ('signalLost' in end) return sql`coalesce(p.signal_lost_at, ${now}::timestamptz)`;
  const { registeredAt, seenAt, previousSeenAt } = end.signs;
  return sql`case when p.joined_at >= ${registeredAt} then ${seenAt}::timestamptz
    else ${previousSeenAt ?? seenAt}::timestamptz end`;
}

/** Ends live sessions; each row comes back exactly once, however many ask. */
export async function updateEnded(
  tx: RoomTx,
  roomId: string,
  choice: SessionChoice,
  reason: DisconnectReason,
  end: EndMoment,
  now: string,
): Promise<StoredSession[]> {
  return tx.query<StoredSession>(sql`
    update participant_sessions as p set left_reason = ${reason}, ended_at = ${now},
      -- A participant not heard of again left when the socket was lost, whatever ends the stay after that.
      left_at = greatest(coalesce(p.joined_at, p.created_at),
        least(${moment(end, now)}, ${now}::timestamptz, p.signal_lost_at))
    where p.room_id = ${roomId} and p.left_at is null and ${chosen(choice)} returning ${columns}`);
}

const isLost = (lostBefore: string): Sql => sql`p.left_at is null and p.signal_lost_at < ${lostBefore}`;

/** True while `listRoomsWithLost` finds any. */
export const hasLost = (lostBefore: string): Sql =>
  hasFirst(sql`from participant_sessions p where ${isLost(lostBefore)}`, 'p.signal_lost_at');

/** Rooms with a participant whose socket has been gone for too long. */
export async function listRoomsWithLost(db: Queryable, lostBefore: string): Promise<(ProjectScope & { id: string })[]> {
  return db.query(sql`
    select distinct p.room_id as id, p.project_id as "projectId", p.environment from participant_sessions p
    where ${isLost(lostBefore)} order by p.room_id`);
}

/** Sessions of a process that were ended since, by any process. */
export async function listEnded(
  db: Queryable,
  processId: string,
  since: string,
): Promise<{ id: string; roomId: string; reason: DisconnectReason }[]> {
  return db.query(sql`
    select p.id, p.room_id as "roomId", p.left_reason as reason from participant_sessions p
    where p.process_id = ${processId} and p.ended_at >= ${since}`);
}
