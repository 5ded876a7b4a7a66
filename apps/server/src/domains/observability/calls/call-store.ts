import type { Environment } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import type { Db, Reader, Tx } from '../../../core/db.ts';
import { empty, json, raw, sql } from '../../../core/sql.ts';
import type { ScoreSums } from './scoring.ts';

/** Whose samples they are, as the client named itself. */
export interface SampledConnection extends ProjectScope {
  connectionId: string;
  roomId: string;
  identity: string;
}

/** A connection inside its call. */
export interface KnownConnection {
  id: string;
  connectionId: string;
  projectId: string;
  environment: Environment;
  roomId: string;
  identity: string;
  roomName: string | null;
  callId: string;
  joinedAt: string;
}

/** Those that are part of a call: the id belongs to its first user, and the server has seen them join. */
export async function listKnown(tx: Tx, keys: readonly SampledConnection[]): Promise<KnownConnection[]> {
  return tx.query<KnownConnection>(sql`
    select distinct c.id, c.connection_id as "connectionId", c.project_id as "projectId", c.environment,
           c.room_id as "roomId", c.participant_identity as identity, c.room_name as "roomName",
           p.room_session_id as "callId", p.created_at as "joinedAt"
    from jsonb_to_recordset(${json(keys)}::jsonb)
           as k("projectId" uuid, environment text, "connectionId" text, "roomId" text, identity text)
    join connections c on c.project_id = k."projectId" and c.environment = k.environment
      and c.connection_id = k."connectionId" and c.room_id = k."roomId" and c.participant_identity = k.identity
    join lateral (
      select room_session_id, created_at from participant_sessions p
      where p.room_id = c.room_id and p.identity = c.participant_identity and p.connection_id = c.connection_id
      order by p.created_at desc limit 1) p on true`);
}

export async function upsertCalls(
  tx: Tx,
  rows: readonly {
    callId: string;
    projectId: string;
    environment: string;
    roomId: string;
    roomName: string | null;
    joinedAt: string;
    at: string;
  }[],
): Promise<void> {
  // Sorted, so that two batches of one call cannot wait for each other.
  await tx.execute(sql`
    insert into calls as c (id, project_id, environment, room_id, room_name, started_at, last_at)
    select u."callId", u."projectId", u.environment, u."roomId", max(u."roomName"), min(u."joinedAt"), max(u.at)
    from jsonb_to_recordset(${json(rows)}::jsonb) as u("callId" text, "projectId" uuid, environment text, "roomId" text,
      "roomName" text, "joinedAt" timestamptz, at timestamptz)
    group by 1, 2, 3, 4 order by 1
    on conflict (id) do update set started_at = least(c.started_at, excluded.started_at),
      last_at = greatest(c.last_at, excluded.last_at), room_name = coalesce(excluded.room_name, c.room_name)`);
}

export async function insertSamples(
  tx: Tx,
  rows: readonly { connection: string; at: string; packed: string }[],
): Promise<void> {
  await tx.execute(sql`
    insert into call_samples (connection, at, packed)
    select u.connection, u.at, decode(u.packed, 'base64')
    from jsonb_to_recordset(${json(rows)}::jsonb) as u(connection uuid, at timestamptz, packed text)
    order by 1, 2
    on conflict (connection, at) do nothing`);
}

type StoredSums = ScoreSums & { connection: string };

const sumColumns = sql`sound_sum as "soundSum", sound_count as "soundCount", picture_sum as "pictureSum",
  picture_count as "pictureCount"`;

/** Until when the samples of these connections account for their time. */
export async function sampledUntil(tx: Tx, connections: readonly string[]): Promise<Map<string, string>> {
  const rows = await tx.query<{ connection: string; until: string }>(sql`
    select connection, sampled_until as until from call_scores where connection = any(${connections}::uuid[])`);
  return new Map(rows.map(({ connection, until }) => [connection, until]));
}

/** Adds, and gives what it comes to. */
export async function addScores(
  tx: Tx,
  rows: readonly (StoredSums & { callId: string; until: string })[],
): Promise<StoredSums[]> {
  return tx.query<StoredSums>(sql`
    insert into call_scores as s
      (connection, call_id, sound_sum, sound_count, picture_sum, picture_count, sampled_until)
    select u.connection, u."callId", sum(u."soundSum"), sum(u."soundCount"), sum(u."pictureSum"), sum(u."pictureCount"),
      max(u.until)
    from jsonb_to_recordset(${json(rows)}::jsonb) as u(connection uuid, "callId" text, "soundSum" double precision,
      "soundCount" integer, "pictureSum" double precision, "pictureCount" integer, until timestamptz)
    group by 1, 2 order by 1
    on conflict (connection) do update set sound_sum = s.sound_sum + excluded.sound_sum,
      sound_count = s.sound_count + excluded.sound_count, picture_sum = s.picture_sum + excluded.picture_sum,
      picture_count = s.picture_count + excluded.picture_count,
      sampled_until = greatest(s.sampled_until, excluded.sampled_until)
    returning connection, ${sumColumns}`);
}

/** Sets the scores of connections, and those of their calls. */
export async function updateScores(
  tx: Tx,
  scores: readonly { connection: string; score: number | null }[],
  callIds: readonly string[],
): Promise<void> {
  await tx.execute(sql`
    update call_scores s set score = u.score
    from jsonb_to_recordset(${json(scores)}::jsonb) as u(connection uuid, score double precision)
    where s.connection = u.connection`);
  await tx.execute(sql`
    update calls k set participant_count = s.n, score = s.mean, worst_score = s.worst
    from (select call_id, count(distinct c.participant_identity) as n, avg(score) as mean, min(score) as worst
          from call_scores s join connections c on c.id = s.connection
          where call_id = any(${callIds}::text[]) group by 1) s
    where k.id = s.call_id`);
}

export interface CallRow {
  id: string;
  roomId: string;
  roomName: string | null;
  startedAt: string;
  lastSampleAt: string;
  participantCount: number;
  score: number | null;
  worstScore: number | null;
}

const callColumns = sql`id, room_id as "roomId", room_name as "roomName", started_at as "startedAt", last_at as "lastSampleAt",
  participant_count as "participantCount", score, worst_score as "worstScore"`;

interface CallFilter {
  isWorstFirst: boolean;
  from: string;
  roomId?: string | undefined;
  maxScore?: number | undefined;
  after: readonly (string | number)[] | null;
  limit: number;
}

/** Newest first, or the worst first of those that were measured. */
export async function listCalls(
  db: Reader,
  { projectId, environment }: ProjectScope,
  { isWorstFirst, from, roomId, maxScore, after, limit }: CallFilter,
): Promise<CallRow[]> {
  const position = isWorstFirst
    ? after && sql`and (worst_score, id) > (${after[0]}::double precision, ${after[1]}::text)`
    : after && sql`and (started_at, id) < (${after[0]}::timestamptz, ${after[1]}::text)`;
  return db.query<CallRow>(sql`
    select ${callColumns} from calls
    where project_id = ${projectId} and environment = ${environment} and started_at >= ${from}
      ${isWorstFirst ? sql`and worst_score is not null` : empty}
      ${roomId === undefined ? empty : sql`and room_id = ${roomId}`}
      ${maxScore === undefined ? empty : sql`and worst_score <= ${maxScore}`}
      ${position ?? empty}
    order by ${isWorstFirst ? raw('worst_score, id') : raw('started_at desc, id desc')} limit ${limit}`);
}

export async function findCall(
  db: Reader,
  { projectId, environment }: ProjectScope,
  id: string,
): Promise<CallRow | undefined> {
  const [row] = await db.query<CallRow>(sql`
    select ${callColumns} from calls where id = ${id} and project_id = ${projectId} and environment = ${environment}`);
  return row;
}

export interface StayRow extends ScoreSums {
  id: string;
  connectionId: string;
  identity: string;
  state: string;
  transport: string | null;
  serverName: string | null;
  startedAt: string;
  endedAt: string | null;
}

/** Every connection of the call, also those that sent no sample. */
export async function listStays(
  db: Reader,
  { projectId, environment }: ProjectScope,
  { id, roomId }: { id: string; roomId: string },
  limit: number,
): Promise<StayRow[]> {
  return db.query<StayRow>(sql`
    select c.id, c.connection_id as "connectionId", c.participant_identity as identity, c.state, c.transport,
           c.server_name as "serverName", c.started_at as "startedAt", c.ended_at as "endedAt",
           coalesce(s.sound_sum, 0) as "soundSum", coalesce(s.sound_count, 0) as "soundCount",
           coalesce(s.picture_sum, 0) as "pictureSum", coalesce(s.picture_count, 0) as "pictureCount"
    from connections c left join call_scores s on s.connection = c.id
    where c.project_id = ${projectId} and c.environment = ${environment} and c.room_id = ${roomId}
      and c.connection_id in (
        select p.connection_id from participant_sessions p where p.room_id = ${roomId} and p.room_session_id = ${id})
    order by c.started_at, c.id limit ${limit}`);
}

/** The newest of each connection. */
export async function listSamples(
  db: Reader,
  connections: readonly string[],
  limitOfEach: number,
): Promise<{ connection: string; at: string; packed: Buffer }[]> {
  return db.query(sql`
    select s.connection, s.at, s.packed from unnest(${connections}::uuid[]) as k(id)
    cross join lateral (
      select connection, at, packed from call_samples where connection = k.id order by at desc limit ${limitOfEach}) s`);
}

interface StepRow {
  connection: string;
  type: string;
  source: 'SERVER' | 'CLIENT';
  timestamp: string;
  receivedAt: string;
  data: Record<string, unknown>;
}

/** The steps of these connections but for figures; of one with too many, those that the server saw come first. */
export async function listSteps(db: Reader, connections: readonly string[], limitOfEach: number): Promise<StepRow[]> {
  return db.query<StepRow>(sql`
    select e.connection, e.type, e.source, e.timestamp, e.received_at as "receivedAt", e.data
    from unnest(${connections}::uuid[]) as k(id)
    cross join lateral (
      select * from connection_events where connection = k.id and type <> 'stats.report'
      order by source = 'CLIENT', received_at, id limit ${limitOfEach}) e
    order by e.received_at, e.id`);
}

/** Removes a part of what is too old; gives how much. */
export const deleteOldSamples = (db: Db, before: string, limit: number): Promise<number> =>
  db.execute(sql`delete from call_samples where (connection, at) in (
      select connection, at from call_samples where at < ${before} limit ${limit})`);

export const deleteOldCalls = (db: Db, before: string, limit: number): Promise<number> =>
  db.execute(sql`delete from calls where id in (select id from calls where last_at < ${before} limit ${limit})`);
