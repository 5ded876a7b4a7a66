import type { ProjectScope } from '../../core/caller.ts';
import type { Queryable } from '../../core/db.ts';
import { empty, raw, sql } from '../../core/sql.ts';
import { payload, takes } from './queue-store.ts';
import type { Envelope } from './signing.ts';

/** An event with its data as JSON. */
export type FeedEvent = Envelope & { data: string };

/** Events from a time on, oldest first; `after` goes on behind the last row of a page. */
export function listEvents(
  db: Queryable,
  { projectId, environment }: ProjectScope,
  { from, after, types, limit }: { from: string; after: FeedEvent | null; types: readonly string[]; limit: number },
): Promise<FeedEvent[]> {
  return db.query<FeedEvent>(sql`
    select id, type, project_id as "projectId", environment, created_at as "createdAt", ${payload} as data
    from events e
    where project_id = ${projectId} and environment = ${environment} and created_at >= ${from}
      ${after === null ? empty : sql`and (created_at, id) > (${after.createdAt}, ${after.id})`}
      and ${takes(sql`${types}::text[]`, raw('type'))}
    order by created_at, id limit ${limit}`);
}

export async function findEventTime(
  db: Queryable,
  { projectId, environment }: ProjectScope,
  id: string,
): Promise<string | undefined> {
  const [row] = await db.query<{ createdAt: string }>(sql`
    select created_at as "createdAt" from events
    where project_id = ${projectId} and environment = ${environment} and id = ${id}`);
  return row?.createdAt;
}
