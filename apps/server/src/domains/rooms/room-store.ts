import type { DuplicateIdentity, Metadata, RoomCloseReason, RoomStatus } from '@parley/contract';
import type { ProjectScope } from '../../core/caller.ts';
import type { Queryable, Reader, Tx } from '../../core/db.ts';
import { empty, json, type Sql, sql } from '../../core/sql.ts';
import type { PlacedLoad } from '../fleet/index.ts';

export interface StoredRoom extends ProjectScope {
  id: string;
  name: string;
  status: RoomStatus;
  metadata: Metadata;
  participantsMax: number | null;
  duplicateIdentity: DuplicateIdentity;
  recording: boolean;
  preferredRegion: string | null;
  serverName: string | null;
  serverInstance: string | null;
  region: string | null;
  conversationId: string | null;
  liveStreamId: string | null;
  activeSessionId: string | null;
  sessionStartedAt: string | null;
  eventSeq: number;
  /** Who is in it now, as far as the control plane knows. */
  joinedCount: number;
  publisherCount: number;
  createdAt: string;
  updatedAt: string;
  closedAt: string | null;
  closeReason: RoomCloseReason | null;
}

/** The places that are taken without those that are only held: of these there are few, however many watch. */
const joinedCount = sql`r.member_count + r.viewer_count
  - (select count(*) from participant_sessions p where p.room_id = r.id and p.left_at is null and p.joined_at is null)`;

const columns = sql`r.id, r.project_id as "projectId", r.environment, r.name, r.status, r.metadata,
  r.participants_max as "participantsMax", r.duplicate_identity as "duplicateIdentity", r.recording,
  r.preferred_region as "preferredRegion", r.server_name as "serverName", r.server_instance as "serverInstance",
  (select s.region from media_servers s where s.name = r.server_name) as region,
  r.conversation_id as "conversationId", r.live_stream_id as "liveStreamId",
  r.active_session_id as "activeSessionId", r.session_started_at as "sessionStartedAt", r.event_seq as "eventSeq",
  ${joinedCount} as "joinedCount",
  (select count(*) from participant_sessions p where p.room_id = r.id and p.left_at is null and p.is_publisher)
    as "publisherCount",
  r.created_at as "createdAt", r.updated_at as "updatedAt", r.closed_at as "closedAt", r.close_reason as "closeReason"`;

export interface NewRoom {
  id: string;
  name: string;
  metadata?: Metadata | undefined;
  maxParticipants?: number | undefined;
  duplicateIdentity?: DuplicateIdentity | undefined;
  region?: string | undefined;
  recording?: boolean | undefined;
  liveStreamId?: string | undefined;
}

/** Undefined when the project is archived. */
export async function insertRoom(
  db: Queryable,
  { projectId, environment }: ProjectScope,
  room: NewRoom,
  at: string,
): Promise<StoredRoom | undefined> {
  const [row] = await db.query<StoredRoom>(sql`
    insert into rooms as r (id, project_id, environment, name, metadata, participants_max, duplicate_identity,
      preferred_region, recording, live_stream_id, created_at, updated_at)
    select ${room.id}, p.id, ${environment}, ${room.name}, ${json(room.metadata ?? {})}::jsonb,
      ${room.maxParticipants ?? null}::integer, ${room.duplicateIdentity ?? 'KICK_OLD'}, ${room.region ?? null},
      ${room.recording ?? false}, ${room.liveStreamId ?? null}, ${at}::timestamptz, ${at}::timestamptz
    from projects p where p.id = ${projectId} and p.status = 'ACTIVE'
    returning ${columns}`);
  return row;
}

const inScope = ({ projectId, environment }: ProjectScope): Sql =>
  sql`r.project_id = ${projectId} and r.environment = ${environment}`;

export async function findRoom(db: Queryable, scope: ProjectScope, id: string): Promise<StoredRoom | undefined> {
  const [row] = await db.query<StoredRoom>(sql`
    select ${columns} from rooms r where r.id = ${id} and ${inScope(scope)}`);
  return row;
}

/** A name is that of an open room only: a closed room's name may be another's by now. */
export async function findOpenRoom(db: Queryable, scope: ProjectScope, name: string): Promise<StoredRoom | undefined> {
  const [row] = await db.query<StoredRoom>(sql`
    select ${columns} from rooms r where r.name = ${name} and r.status = 'ACTIVE' and ${inScope(scope)}`);
  return row;
}

export async function listOpenRooms(
  db: Reader,
  scope: ProjectScope,
  {
    after,
    name,
    serverName,
    limit,
  }: { after: readonly [string, string] | null; name: string; serverName: string; limit: number },
): Promise<StoredRoom[]> {
  return db.query<StoredRoom>(sql`
    select ${columns} from rooms r where r.status = 'ACTIVE' and ${inScope(scope)}
      ${name === '' ? empty : sql`and strpos(lower(r.name), lower(${name})) > 0`}
      ${serverName === '' ? empty : sql`and r.server_name = ${serverName}`}
      ${after === null ? empty : sql`and (r.created_at, r.id) < (${after[0]}, ${after[1]})`}
    order by r.created_at desc, r.id desc limit ${limit}`);
}

declare const holdsRoom: unique symbol;
/** A transaction that holds a room's row; only `roomChange` gives it out. */
export type RoomTx = Tx & { readonly [holdsRoom]: true };

/**
 * Takes the room's row for this transaction. Everything that changes who is in a room, where it is or whether it is
 * open takes it first, so all of that happens one after another, in one order for all.
 */
export async function lockRoom(
  tx: Tx,
  scope: ProjectScope,
  id: string,
): Promise<{ tx: RoomTx; room: StoredRoom } | undefined> {
  await tx.query(sql`select from rooms r where r.id = ${id} and ${inScope(scope)} for update`);
  const room = await findRoom(tx, scope, id);
  // The mark exists only in the types: it says that the statement above has run.
  return room && { tx: tx as RoomTx, room };
}

interface RoomUpdate {
  metadata?: Metadata | null | undefined;
  maxParticipants?: number | null | undefined;
  duplicateIdentity?: DuplicateIdentity | undefined;
  recording?: boolean | undefined;
}

/** Changes an open room; undefined when it is closed. */
export async function updateRoom(
  tx: RoomTx,
  scope: ProjectScope,
  id: string,
  change: RoomUpdate,
  at: string,
): Promise<StoredRoom | undefined> {
  const { metadata, maxParticipants, duplicateIdentity, recording } = change;
  const [row] = await tx.query<StoredRoom>(sql`
    update rooms as r set updated_at = ${at}
      ${metadata === undefined ? empty : sql`, metadata = ${json(metadata ?? {})}::jsonb`}
      ${maxParticipants === undefined ? empty : sql`, participants_max = ${maxParticipants}`}
      ${duplicateIdentity === undefined ? empty : sql`, duplicate_identity = ${duplicateIdentity}`}
      ${recording === undefined ? empty : sql`, recording = ${recording}`}
    where r.id = ${id} and r.status = 'ACTIVE' and ${inScope(scope)} returning ${columns}`);
  return row;
}

/** Closes an open room; false when it was closed already. */
export async function updateRoomClosed(
  tx: RoomTx,
  scope: ProjectScope,
  id: string,
  reason: RoomCloseReason,
  at: string,
): Promise<boolean> {
  const touched = await tx.execute(sql`
    update rooms as r set status = 'CLOSED', closed_at = ${at}, updated_at = ${at}, close_reason = ${reason}
    where r.id = ${id} and r.status = 'ACTIVE' and ${inScope(scope)}`);
  return touched > 0;
}

/** In the transaction of the conversation, not as a change of the room: no event tells of it. */
export async function updateRoomLinks(
  tx: Tx,
  scope: ProjectScope,
  id: string,
  { conversationId }: { conversationId: string | null },
): Promise<void> {
  await tx.execute(
    sql`update rooms as r set conversation_id = ${conversationId} where r.id = ${id} and ${inScope(scope)}`,
  );
}

/** One more member or viewer, if there is a place; undefined when the room is full. The cap is this one write. */
export async function takePlace(
  tx: RoomTx,
  {
    id,
    kind,
    max,
    newSessionId,
    at,
  }: { id: string; kind: 'MEMBER' | 'VIEWER'; max: number | null; newSessionId: string; at: string },
): Promise<{ sessionId: string; admission: number } | undefined> {
  const count = kind === 'MEMBER' ? sql`member_count` : sql`viewer_count`;
  const [row] = await tx.query<{ sessionId: string; admission: number }>(sql`
    update rooms set ${count} = ${count} + 1, admissions = admissions + 1,
      active_session_id = coalesce(active_session_id, ${newSessionId}),
      session_started_at = coalesce(session_started_at, ${at})
    where id = ${id} and status = 'ACTIVE' ${max === null ? empty : sql`and ${count} < ${max}`}
    returning active_session_id as "sessionId", admissions as admission`);
  return row;
}

/** The viewers that have joined: the places of the audience without those that are only held. */
export async function countJoinedViewers(db: Queryable, id: string): Promise<number> {
  const [row] = await db.query<{ count: number }>(sql`
    select r.viewer_count - (
      select count(*) from participant_sessions p
      where p.room_id = r.id and p.left_at is null and p.joined_at is null and p.kind = 'VIEWER') as count
    from rooms r where r.id = ${id}`);
  return row?.count ?? 0;
}

/** Gives places back. An empty room has no node and no session. */
export async function releasePlaces(tx: RoomTx, id: string, members: number, viewers: number): Promise<void> {
  await tx.execute(sql`
    update rooms set member_count = member_count - ${members}, viewer_count = viewer_count - ${viewers} where id = ${id}`);
  await tx.execute(sql`
    update rooms set server_name = null, server_instance = null, active_session_id = null, session_started_at = null
    where id = ${id} and member_count = 0 and viewer_count = 0`);
  await tx.execute(sql`
    delete from room_nodes n where n.room_id = ${id} and exists (select from rooms r where r.id = ${id} and r.server_name is null)`);
}

/** A node that the room is on besides its home. */
export interface FurtherNode {
  serverName: string;
  serverInstance: string;
  region: string | null;
}

/** In the order in which the room came to them. */
export async function listFurtherNodes(db: Queryable, roomId: string): Promise<FurtherNode[]> {
  return db.query<FurtherNode>(sql`
    select n.server_name as "serverName", n.server_instance as "serverInstance",
      (select s.region from media_servers s where s.name = n.server_name) as region
    from room_nodes n where n.room_id = ${roomId} order by n.created_at, n.server_name`);
}

/** All nodes of the room. */
export async function listNodes(db: Queryable, roomId: string): Promise<string[]> {
  const rows = await db.query<{ name: string }>(sql`
    select server_name as name from rooms where id = ${roomId} and server_name is not null
    union select server_name from room_nodes where room_id = ${roomId}`);
  return rows.map(({ name }) => name);
}

/** Rooms that are on this node and on others, with all of those. */
export async function listSharedRooms(db: Queryable, serverName: string): Promise<{ id: string; nodes: string[] }[]> {
  return db.query(sql`
    select r.id, array_agg(n.server_name) || r.server_name as nodes from rooms r join room_nodes n on n.room_id = r.id
    where r.server_name = ${serverName}
       or r.id in (select room_id from room_nodes where server_name = ${serverName})
    group by r.id, r.server_name`);
}

export async function upsertFurtherNode(
  tx: RoomTx,
  roomId: string,
  { serverName, serverInstance }: Omit<FurtherNode, 'region'>,
  at: string,
): Promise<void> {
  await tx.execute(sql`
    insert into room_nodes (room_id, server_name, server_instance, created_at)
    values (${roomId}, ${serverName}, ${serverInstance}, ${at})
    on conflict (room_id, server_name) do update set server_instance = excluded.server_instance`);
}

export async function deleteFurtherNode(tx: RoomTx, roomId: string, serverName: string): Promise<void> {
  await tx.execute(sql`delete from room_nodes where room_id = ${roomId} and server_name = ${serverName}`);
}

export async function updatePlacement(
  tx: RoomTx,
  id: string,
  placement: { serverName: string; serverInstance: string } | null,
): Promise<void> {
  await tx.execute(sql`
    update rooms set server_name = ${placement?.serverName ?? null}, server_instance = ${placement?.serverInstance ?? null}
    where id = ${id}`);
}

/** Rooms that are on a node, or on a former life of it. */
export async function listRoomsOn(
  db: Queryable,
  serverName: string,
  exceptInstance: string | null,
): Promise<(ProjectScope & { id: string })[]> {
  return db.query(sql`
    select id, project_id as "projectId", environment from rooms
    where server_name = ${serverName}
      ${exceptInstance === null ? empty : sql`and server_instance is distinct from ${exceptInstance}`}
    union
    select r.id, r.project_id, r.environment from room_nodes n join rooms r on r.id = n.room_id
    where n.server_name = ${serverName}
      ${exceptInstance === null ? empty : sql`and n.server_instance <> ${exceptInstance}`}
    order by id`);
}

/** How many rooms and participants were placed on one node, or on each of them. */
export async function countPlaced(db: Queryable, serverName?: string): Promise<PlacedLoad[]> {
  return db.query<PlacedLoad>(sql`
    with further as (
      select n.server_name, r.server_name as home, (select count(*) from participant_sessions p
        where p.room_id = n.room_id and p.left_at is null and p.server_name = n.server_name) as people
      from room_nodes n join rooms r on r.id = n.room_id
    ), placed as (
      select r.server_name, 1 as rooms, r.member_count + r.viewer_count as people from rooms r where r.server_name is not null
      union all select server_name, 1, people from further
      union all select home, 0, -people from further
    )
    select p.server_name as "serverName", sum(p.rooms) as rooms, sum(p.people) as participants
    from placed p where ${serverName === undefined ? sql`true` : sql`p.server_name = ${serverName}`}
    group by p.server_name`);
}
