import type { Environment } from '@parley/contract';
import type { Db, Tx } from '../../core/db.ts';
import { json, sql } from '../../core/sql.ts';

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

export async function listRollups(
  db: Db,
  projectId: string,
  environment: Environment,
  grain: Grain,
  from: string,
): Promise<{ at: string; metric: string; value: number }[]> {
  return db.query(sql`
    select at, metric, value from connection_rollups
    where project_id = ${projectId} and environment = ${environment} and grain = ${grain} and at >= ${from}`);
}
