import type { Environment } from '@parley/contract';
import type { Db, Reader, Tx } from '../../core/db.ts';
import { empty, few, json, sql } from '../../core/sql.ts';

/** A row of `connections`, times as ISO strings. */
export interface ConnectionRow {
  id: string;
  connectionId: string;
  roomId: string;
  roomName: string | null;
  identity: string;
  tokenId: string | null;
  state: string;
  serverName: string | null;
  region: string | null;
  clientIp: string | null;
  userAgent: string | null;
  sdkName: string | null;
  sdkVersion: string | null;
  transport: string | null;
  startedAt: string;
  connectedAt: string | null;
  endedAt: string | null;
  disconnectReason: string | null;
  reconnectCount: number;
  rttMs: number | null;
  packetLossPercent: number | null;
  jitterMs: number | null;
  mos: number | null;
  errorCount: number;
  isServerSeen: boolean;
}

const columns = sql`id, connection_id as "connectionId", room_id as "roomId", room_name as "roomName",
  participant_identity as identity, token_id as "tokenId", state, server_name as "serverName", region,
  client_ip as "clientIp", user_agent as "userAgent", sdk_name as "sdkName", sdk_version as "sdkVersion", transport,
  started_at as "startedAt", connected_at as "connectedAt", ended_at as "endedAt", disconnect_reason as "disconnectReason",
  reconnect_count as "reconnectCount", rtt_ms as "rttMs", packet_loss_percent as "packetLossPercent",
  jitter_ms as "jitterMs", mos, error_count as "errorCount", is_server_seen as "isServerSeen"`;

export interface ConnectionKey {
  projectId: string;
  environment: Environment;
  connectionId: string;
}

/** Makes the rows that are not there yet; says which this call made. */
export async function insertMissing(
  tx: Tx,
  rows: readonly (ConnectionKey & {
    id: string;
    roomId: string;
    identity: string;
    tokenId: string;
    startedAt: string;
  })[],
): Promise<Set<string>> {
  const made = await tx.query<{ id: string }>(sql`
    insert into connections (id, project_id, environment, connection_id, room_id, room_name, participant_identity, token_id,
      started_at, last_event_at)
    select (c->>'id')::uuid, (c->>'projectId')::uuid, c->>'environment', c->>'connectionId', c->>'roomId',
           (select r.name from rooms r where r.id = c->>'roomId'), c->>'identity',
           c->>'tokenId', (c->>'startedAt')::timestamptz, (c->>'startedAt')::timestamptz
    from jsonb_array_elements(${json(rows)}::jsonb) c
    where exists (select 1 from projects p where p.id = (c->>'projectId')::uuid)
    on conflict (project_id, environment, connection_id) do nothing
    returning id`);
  return new Set(made.map((row) => row.id));
}

/** The rows of these keys, locked in one order so that two batches cannot wait for each other. */
export async function lockConnections(
  tx: Tx,
  keys: readonly ConnectionKey[],
): Promise<(ConnectionRow & ConnectionKey)[]> {
  return tx.query(sql`
    select ${columns}, project_id as "projectId", environment from connections
    where (project_id, environment, connection_id) in (
      select (k->>'projectId')::uuid, k->>'environment', k->>'connectionId'
      from ${few(sql`jsonb_array_elements(${json(keys)}::jsonb) as of (k)`, keys.length)} of)
    order by id for update`);
}

export async function updateConnections(
  tx: Tx,
  rows: readonly (ConnectionRow & { lastEventAt: string })[],
): Promise<void> {
  const given = sql`
    jsonb_to_recordset(${json(rows)}::jsonb) as u(id uuid, "roomName" text, "tokenId" text, state text,
      "serverName" text, region text, "clientIp" text, "userAgent" text, "sdkName" text, "sdkVersion" text, transport text,
      "connectedAt" timestamptz, "endedAt" timestamptz, "disconnectReason" text, "reconnectCount" integer,
      "rttMs" double precision, "packetLossPercent" double precision, "jitterMs" double precision, mos double precision,
      "errorCount" integer, "isServerSeen" boolean, "lastEventAt" timestamptz)`;
  await tx.execute(sql`
    update connections c set room_name = u."roomName", token_id = u."tokenId", state = u.state, server_name = u."serverName",
      region = u.region, client_ip = u."clientIp", user_agent = u."userAgent", sdk_name = u."sdkName",
      sdk_version = u."sdkVersion", transport = u.transport, connected_at = u."connectedAt", ended_at = u."endedAt",
      disconnect_reason = u."disconnectReason", reconnect_count = u."reconnectCount", rtt_ms = u."rttMs",
      packet_loss_percent = u."packetLossPercent", jitter_ms = u."jitterMs", mos = u.mos, error_count = u."errorCount",
      is_server_seen = u."isServerSeen", last_event_at = u."lastEventAt"
    from ${few(given, rows.length)} u
    where c.id = u.id`);
}

export async function insertTimeline(
  tx: Tx,
  events: readonly {
    id: string;
    connection: string;
    type: string;
    source: string;
    timestamp: string;
    receivedAt: string;
    data: unknown;
  }[],
): Promise<void> {
  await tx.execute(sql`
    insert into connection_events (id, connection, type, source, timestamp, received_at, data)
    select e->>'id', (e->>'connection')::uuid, e->>'type', e->>'source', (e->>'timestamp')::timestamptz,
           (e->>'receivedAt')::timestamptz, e->'data'
    from jsonb_array_elements(${json(events)}::jsonb) e`);
}

/** Where a page begins: the time and id of the last row of the page before. */
export type After = readonly [at: string, id: string] | null;

interface ConnectionFilter {
  state?: string | undefined;
  roomId?: string | undefined;
  after: After;
  limit: number;
}

/** Newest first. */
export async function listConnections(
  db: Reader,
  projectId: string,
  environment: Environment,
  { state, roomId, after, limit }: ConnectionFilter,
): Promise<ConnectionRow[]> {
  return db.query<ConnectionRow>(sql`
    select ${columns} from connections
    where project_id = ${projectId} and environment = ${environment}
      ${state === undefined ? empty : sql`and state = ${state}`}
      ${roomId === undefined ? empty : sql`and room_id = ${roomId}`}
      ${after === null ? empty : sql`and (started_at, id) < (${after[0]}::timestamptz, ${after[1]}::uuid)`}
    order by started_at desc, id desc limit ${limit}`);
}

/** By our id or by the client's own. */
export async function findConnection(
  db: Reader,
  projectId: string,
  environment: Environment,
  id: string,
  isUuid: boolean,
): Promise<ConnectionRow | undefined> {
  const [row] = await db.query<ConnectionRow>(sql`
    select ${columns} from connections
    where project_id = ${projectId} and environment = ${environment}
      and (connection_id = ${id} ${isUuid ? sql`or id = ${id}::uuid` : empty})
    order by started_at desc limit 1`);
  return row;
}

export async function listTimeline(
  db: Reader,
  connection: string,
  limit: number,
): Promise<
  {
    id: string;
    type: string;
    source: 'SERVER' | 'CLIENT';
    timestamp: string;
    receivedAt: string;
    data: Record<string, unknown>;
  }[]
> {
  return db.query(sql`
    select id, type, source, timestamp, received_at as "receivedAt", data from connection_events
    where connection = ${connection} order by received_at, id limit ${limit}`);
}

export async function countLive(
  db: Reader,
  projectId: string,
  environment: Environment,
): Promise<{ state: string; n: number }[]> {
  return db.query(sql`
    select state, count(*) as n from connections
    where project_id = ${projectId} and environment = ${environment} and state in ('CONNECTING', 'CONNECTED', 'RECONNECTING')
    group by state`);
}

/** No step for a while and no stay whose end could be seen: attempts that came to nothing, and calls only a client told of. */
export async function listAbandoned(db: Db, before: string, limit: number): Promise<(ConnectionRow & ConnectionKey)[]> {
  return db.query(sql`
    select ${columns}, project_id as "projectId", environment from connections
    where state in ('CONNECTING', 'CONNECTED', 'RECONNECTING') and (state = 'CONNECTING' or not is_server_seen)
      and last_event_at < ${before} limit ${limit}`);
}

/** Connections that are live here although their stay has ended: the process that held the socket died before reporting it. */
export async function listStranded(
  db: Db,
  limit: number,
): Promise<(ConnectionRow & ConnectionKey & { leftAt: string; leftReason: string | null })[]> {
  return db.query(sql`
    select ${columns}, c.project_id as "projectId", c.environment, p.left_at as "leftAt", p.left_reason as "leftReason"
    from (select * from connections where state in ('CONNECTED', 'RECONNECTING') order by last_event_at limit 1000) c
    join lateral (
      select left_at, left_reason from participant_sessions p
      where p.room_id = c.room_id and p.identity = c.participant_identity and p.connection_id = c.connection_id
      order by p.created_at desc limit 1) p on p.left_at is not null
    limit ${limit}`);
}

/** With their timelines and errors. */
export async function deleteOldConnections(db: Db, before: string, limit: number): Promise<number> {
  return db.execute(sql`
    delete from connections where id = any(array(
      select id from connections where started_at < ${before} and state in ('DISCONNECTED', 'FAILED')
      order by started_at limit ${limit}))
      and state in ('DISCONNECTED', 'FAILED')`);
}
