import type { Queryable } from '../../core/db.ts';
import { type Erasure, type Person, type Place, placeAfter } from '../../core/personal-data.ts';
import { empty, sql } from '../../core/sql.ts';

/** Each takes its timeline, errors and samples with it; what was added up over everybody stays. */
export async function deleteConnectionsOf(
  db: Queryable,
  { projectId, environment, userId }: Erasure,
  limit: number,
): Promise<number> {
  return db.execute(sql`
    delete from connections where id = any(array(
      select id from connections
      where project_id = ${projectId} and environment = ${environment} and participant_identity = ${userId}
      limit ${limit}))`);
}

/** By id. */
export async function listConnectionsOf(
  db: Queryable,
  { projectId, environment, userId }: Person,
  place: Place,
  limit: number,
): Promise<{ rows: object[]; next: Place }> {
  const rows = await db.query<{ id: string }>(sql`
    select c.id, c.connection_id as "connectionId", c.room_id as "roomId", c.room_name as "roomName", c.state, c.region,
      c.client_ip as "clientIp", c.user_agent as "userAgent", c.sdk_name as "sdkName", c.sdk_version as "sdkVersion",
      c.transport, c.started_at as "startedAt", c.connected_at as "connectedAt", c.ended_at as "endedAt",
      c.disconnect_reason as "disconnectReason", c.reconnect_count as "reconnectCount", c.rtt_ms as "rttMs",
      c.packet_loss_percent as "packetLossPercent", c.jitter_ms as "jitterMs", c.mos
    from connections c
    where c.project_id = ${projectId} and c.environment = ${environment} and c.participant_identity = ${userId}
      ${place === null ? empty : sql`and c.id > ${JSON.parse(place)}::uuid`}
    order by c.id limit ${limit}`);
  return { rows, next: placeAfter(rows, limit, ({ id }) => id) };
}

/** What its clients and nodes reported, by id. */
export async function listTelemetryOf(
  db: Queryable,
  { projectId, environment, userId }: Person,
  place: Place,
  limit: number,
): Promise<{ rows: object[]; next: Place }> {
  const rows = await db.query<{ id: string }>(sql`
    select e.id, c.connection_id as "connectionId", e.type, e.source, e.timestamp, e.data
    from connection_events e join connections c on c.id = e.connection
    where c.project_id = ${projectId} and c.environment = ${environment} and c.participant_identity = ${userId}
      ${place === null ? empty : sql`and e.id > ${JSON.parse(place)}`}
    order by e.id limit ${limit}`);
  return { rows, next: placeAfter(rows, limit, ({ id }) => id) };
}
