import type { Environment } from '@parley/contract';
import type { Db, Tx } from '../../core/db.ts';
import { json, raw, sql } from '../../core/sql.ts';

export type Grain = 'minute' | 'hour';

export interface RollupRow {
  projectId: string;
  environment: Environment;
  grain: Grain;
  at: string;
  metric: string;
  value: number;
}

export async function addToRollups(tx: Tx, rows: readonly RollupRow[]): Promise<void> {
  // Sorted, so that two batches that touch the same counters cannot wait for each other.
  await tx.execute(sql`
    insert into connection_rollups as r (project_id, environment, grain, at, metric, value)
    select (u->>'projectId')::uuid, u->>'environment', u->>'grain', (u->>'at')::timestamptz, u->>'metric', (u->>'value')::double precision
    from jsonb_array_elements(${json(rows)}::jsonb) u
    order by 1, 2, 3, 4, 5
    on conflict (project_id, environment, grain, at, metric) do update set value = r.value + excluded.value`);
}

/** Metrics that are shown for the whole window only: too many to fetch for every step. */
const ofWindow = raw(`metric like 'duration:%'`);

/** The counters of each step from a time on, but for those of the window. One object a step, made by the database. */
export async function listRollups(
  db: Db,
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
  db: Db,
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
