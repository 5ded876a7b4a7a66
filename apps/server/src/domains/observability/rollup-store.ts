import type { Environment } from '@parley/contract';
import type { ProjectScope } from '../../core/caller.ts';
import type { Db, Reader, Tx } from '../../core/db.ts';
import { json, raw, sql } from '../../core/sql.ts';

export const grainMs = { minute: 60_000, hour: 3_600_000 } as const;
export type Grain = keyof typeof grainMs;

/** When the step of a time began. */
export const startOf = (grain: Grain, at: number): number => Math.floor(at / grainMs[grain]) * grainMs[grain];

export interface RollupRow {
  projectId: string;
  environment: Environment;
  grain: Grain;
  at: string;
  metric: string;
  value: number;
}

/** Adds, several to one counter as well; a correction of counters that are gone already is dropped. */
export async function addToRollups(tx: Tx, rows: readonly RollupRow[]): Promise<void> {
  // Sorted, so that two batches that touch the same counters cannot wait for each other.
  await tx.execute(sql`
    insert into connection_rollups as r (project_id, environment, grain, at, metric, value)
    select u."projectId", u.environment, u.grain, u.at, u.metric, sum(u.value)
    from jsonb_to_recordset(${json(rows)}::jsonb) as u("projectId" uuid, environment text, grain text, at timestamptz,
      metric text, value double precision)
    where u.value >= 0 or exists (
      select 1 from connection_rollups k where k.project_id = u."projectId" and k.environment = u.environment
        and k.grain = u.grain and k.at = u.at and k.metric = u.metric)
    group by 1, 2, 3, 4, 5
    order by 1, 2, 3, 4, 5
    on conflict (project_id, environment, grain, at, metric) do update set value = greatest(0, r.value + excluded.value)`);
}

/** Notes how many connections are live in each project; a step keeps its highest sample. Gives where there are any. */
export async function sampleActive(db: Db, minute: string, hour: string): Promise<ProjectScope[]> {
  const rows = await db.query<ProjectScope & { grain: string }>(sql`
    insert into connection_rollups as r (project_id, environment, grain, at, metric, value)
    select c.project_id, c.environment, s.grain, s.at::timestamptz, 'active', c.n
    from (select project_id, environment, count(*) as n from connections
          where state in ('CONNECTING', 'CONNECTED', 'RECONNECTING') group by 1, 2) c,
         (values ('minute', ${minute}), ('hour', ${hour})) s(grain, at)
    order by 1, 2, 3, 4, 5
    on conflict (project_id, environment, grain, at, metric) do update set value = greatest(r.value, excluded.value)
    returning project_id as "projectId", environment, grain`);
  return rows.filter(({ grain }) => grain === 'minute');
}

export async function deleteOldRollups(db: Db, grain: Grain, before: string, limit: number): Promise<number> {
  return db.execute(sql`
    delete from connection_rollups where ctid = any(array(
      select ctid from connection_rollups where grain = ${grain} and at < ${before} order by at limit ${limit}))`);
}

/** How joins went from a time on, by the minute. */
export async function sumJoins(
  db: Db,
  { projectId, environment }: ProjectScope,
  from: string,
): Promise<{ succeeded: number; failed: number }> {
  const [row] = await db.query<{ succeeded: number; failed: number }>(sql`
    select coalesce(sum(value) filter (where metric = 'succeeded'), 0) as succeeded,
           coalesce(sum(value) filter (where metric = 'failed'), 0) as failed
    from connection_rollups
    where project_id = ${projectId} and environment = ${environment} and grain = 'minute' and at >= ${from}
      and metric in ('succeeded', 'failed')`);
  return row ?? { succeeded: 0, failed: 0 };
}

/** Metrics that are shown for the whole window only: too many to fetch for every step. */
const ofWindow = raw(`metric like 'duration:%'`);

/** The counters of each step from a time on, but for those of the window. One object a step, made by the database. */
export async function listRollups(
  db: Reader,
  projectId: string,
  environment: Environment,
  grain: Grain,
  from: string,
): Promise<{ at: string; counts: Record<string, number> }[]> {
  return db.query(sql`
    select at, json_object_agg(metric, value) as counts from connection_rollups
    where project_id = ${projectId} and environment = ${environment} and grain = ${grain} and at >= ${from}
      and not ${ofWindow}
    group by at`);
}

/** The counters of the window itself, summed. */
export async function sumRollups(
  db: Reader,
  projectId: string,
  environment: Environment,
  grain: Grain,
  from: string,
): Promise<Record<string, number>> {
  const [row] = await db.query<{ counts: Record<string, number> | null }>(sql`
    select json_object_agg(metric, value) as counts from (
      select metric, sum(value) as value from connection_rollups
      where project_id = ${projectId} and environment = ${environment} and grain = ${grain} and at >= ${from}
        and ${ofWindow}
      group by metric) s`);
  return row?.counts ?? {};
}
