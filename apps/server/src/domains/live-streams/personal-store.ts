import type { Db, Queryable } from '../../core/db.ts';
import { type Erasure, type Person, type Place, placeAfter } from '../../core/personal-data.ts';
import { empty, sql } from '../../core/sql.ts';

/** Streams stay, and were held by nobody in particular. */
export async function renameHosts(
  db: Db,
  { projectId, environment, userId, pseudonym }: Erasure,
  limit: number,
): Promise<number> {
  const streams = await db.execute(sql`
    update live_streams set host_identity = ${pseudonym} where id = any(array(
      select id from live_streams
      where project_id = ${projectId} and environment = ${environment} and host_identity = ${userId} limit ${limit}))`);
  const hosts = await db.execute(sql`
    update live_stream_hosts h set identity = ${pseudonym} where h.ctid = any(array(
      select h.ctid from live_stream_hosts h join live_streams s on s.id = h.stream_id
      where s.project_id = ${projectId} and s.environment = ${environment} and h.identity = ${userId}
      limit ${limit}))`);
  return streams + hosts;
}

export async function listStreamsOf(
  db: Queryable,
  { projectId, environment, userId }: Person,
  place: Place,
  limit: number,
): Promise<{ rows: object[]; next: Place }> {
  const rows = await db.query<{ streamId: string }>(sql`
    select h.stream_id as "streamId", s.title, h.role, h.registered_at as "registeredAt", h.removed_at as "removedAt"
    from live_stream_hosts h join live_streams s on s.id = h.stream_id
    where s.project_id = ${projectId} and s.environment = ${environment} and h.identity = ${userId}
      ${place === null ? empty : sql`and h.stream_id > ${JSON.parse(place)}`}
    order by h.stream_id limit ${limit}`);
  return { rows, next: placeAfter(rows, limit, ({ streamId }) => streamId) };
}
