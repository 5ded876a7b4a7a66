import type { Queryable } from '../../core/db.ts';
import { type Sql, sql } from '../../core/sql.ts';

/** Says that we are here to receive heartbeats, and since when without a gap that began before `gapBefore`. */
export async function touchWatch(db: Queryable, at: string, gapBefore: string): Promise<string> {
  const [row] = await db.query<{ since: string }>(sql`
    insert into fleet_watch as w (receiving_since, checked_at) values (${at}, ${at})
    on conflict (is_only) do update set
      receiving_since = case when w.checked_at < ${gapBefore} then excluded.receiving_since else w.receiving_since end,
      checked_at = greatest(w.checked_at, excluded.checked_at)
    returning receiving_since as since`);
  return row?.since ?? at;
}

export async function touchProcess(db: Queryable, id: string, at: string): Promise<void> {
  await db.execute(sql`
    insert into server_processes as p (id, started_at, seen_at) values (${id}, ${at}, ${at})
    on conflict (id) do update set seen_at = greatest(p.seen_at, excluded.seen_at)`);
}

const silent = (before: string): Sql => sql`seen_at < ${before}`;

/** Of those that were last seen after `since`. */
export const isAnySilent = (before: string, since: string): Sql =>
  sql`exists (select from server_processes where ${silent(before)} and seen_at > ${since})`;

export async function listSilentProcesses(
  db: Queryable,
  silentBefore: string,
): Promise<{ id: string; seenAt: string }[]> {
  return db.query(sql`select id, seen_at as "seenAt" from server_processes where ${silent(silentBefore)}`);
}

export async function deleteProcesses(db: Queryable, silentBefore: string): Promise<number> {
  return db.execute(sql`delete from server_processes where seen_at < ${silentBefore}`);
}
