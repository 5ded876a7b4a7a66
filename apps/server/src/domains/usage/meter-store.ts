import type { UsageMeterName } from '@parley/contract';
import type { ProjectScope } from '../../core/caller.ts';
import type { Db, Queryable, Tx } from '../../core/db.ts';
import { json, sql } from '../../core/sql.ts';
import type { UsageCount } from '../../core/usage-counts.ts';
import { dayParts, keyOfStay } from './usage-store.ts';

/** Sorted, so that two processes that add to the same counters cannot wait for each other. */
export async function addCounts(db: Queryable, counts: readonly UsageCount[]): Promise<void> {
  await db.execute(sql`
    insert into usage_meters as m (project_id, environment, day, meter, key_id, value)
    select c."projectId", c.environment, c.day, c.meter, c."keyId", sum(c.value)
    from jsonb_to_recordset(${json(counts)}::jsonb)
      as c("projectId" uuid, environment text, day date, meter text, "keyId" text, value bigint)
    group by 1, 2, 3, 4, 5 order by 1, 2, 3, 4, 5
    on conflict (project_id, environment, day, meter, key_id) do update set value = m.value + excluded.value`);
}

/** Takes the time since the last tick, for this transaction alone; 0 for the first, and when another was faster. */
export async function takeTick(tx: Tx, name: string, now: string): Promise<number> {
  await tx.execute(sql`insert into usage_ticks (name, at) values (${name}, ${now}) on conflict do nothing`);
  const [row] = await tx.query<{ ms: number }>(sql`
    with tick as (select name, at from usage_ticks where name = ${name} for update)
    update usage_ticks t set at = greatest(t.at, ${now}::timestamptz) from tick where t.name = tick.name
    returning greatest(0, extract(epoch from ${now}::timestamptz - tick.at) * 1000)::bigint as ms`);
  return row?.ms ?? 0;
}

/** A room is recorded while it says so and somebody is in it. */
export async function addRecorded(tx: Tx, day: string, ms: number): Promise<void> {
  await tx.execute(sql`
    insert into usage_meters as m (project_id, environment, day, meter, value)
    select r.project_id, r.environment, ${day}::date, 'recordedMinutes', count(*) * ${ms}::bigint
    from rooms r where r.status = 'ACTIVE' and r.recording and exists (
      select from participant_sessions p where p.room_id = r.id and p.left_at is null and p.joined_at is not null)
    group by 1, 2 order by 1, 2
    on conflict (project_id, environment, day, meter, key_id) do update set value = m.value + excluded.value`);
}

/** The most of the day: files count from the first request for an upload, as for the quota. */
export async function raiseStored(tx: Tx, day: string): Promise<void> {
  await tx.execute(sql`
    insert into usage_meters as m (project_id, environment, day, meter, value)
    select split_part(owner, ' ', 1)::uuid, split_part(owner, ' ', 2), ${day}::date, 'storedBytes', used
    from quota_uses where name = 'STORAGE_MAX_BYTES_PER_PROJECT' and used > 0 order by 1, 2
    on conflict (project_id, environment, day, meter, key_id) do update set value = excluded.value
      where m.value < excluded.value`);
}

/** An amount in the stored unit of its meter. */
export interface MeterRow {
  day: string;
  meter: UsageMeterName;
  keyId: string;
  value: number;
}

/**
 * Everything of a range of days. Minutes are those of stays that ended and of those that have not, up to now; what was
 * metered before keys were noted has none.
 */
export async function listMeters(
  db: Db,
  { projectId, environment }: ProjectScope,
  { from, to, now }: { from: string; to: string; now: string },
): Promise<MeterRow[]> {
  const isOurs = sql`project_id = ${projectId} and environment = ${environment}`;
  const isInRange = sql`day between ${from}::date and ${to}::date`;
  return db.query<MeterRow>(sql`
    with s as (
      select p.id, p.project_id, p.environment, p.joined_at, ${keyOfStay} as key_id,
             coalesce(p.left_at, greatest(p.joined_at, ${now}::timestamptz)) as ended
      from participant_sessions p
      where p.project_id = ${projectId} and p.environment = ${environment} and p.joined_at is not null
        and p.metered_at is null
    ), parts as (${dayParts}), keyed as (
      select day, key_id, value from usage_meters where ${isOurs} and meter = 'minutes' and ${isInRange}
    ), minutes as (
      select day, key_id, round(seconds * 1000)::bigint as value from parts
      union all
      select day, key_id, value from keyed
      union all
      select d.day, '', round(d.seconds * 1000)::bigint - coalesce((select sum(k.value) from keyed k where k.day = d.day), 0)
      from usage_days d where d.project_id = ${projectId} and d.environment = ${environment}
    )
    select day, 'minutes' as meter, key_id as "keyId", sum(value)::bigint as value from minutes
    where ${isInRange} group by 1, 3 having sum(value) > 0
    union all
    select day, meter, key_id, value from usage_meters where ${isOurs} and meter <> 'minutes' and ${isInRange}
    order by 1 desc, 2, 3`);
}
