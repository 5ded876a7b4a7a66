import type { UsageSession } from '@parley/contract';
import type { Db, Tx } from '../../core/db.ts';
import { hasFirst } from '../../core/due-store.ts';
import { raw, sql } from '../../core/sql.ts';

/**
 * The parts of a session that fall on each UTC day: `s` has project_id, environment, key_id, joined_at and ended. A session that
 * began and ended in the same instant still counts as a session of its day.
 */
export const dayParts = sql`
  select s.id, s.project_id, s.environment, s.key_id, d::date as day,
         greatest(0, extract(epoch from least(s.ended, (d + interval '1 day') at time zone 'UTC') - greatest(s.joined_at, d at time zone 'UTC'))) as seconds,
         case when d::date = (s.joined_at at time zone 'UTC')::date then 1 else 0 end as begun
  from s cross join lateral generate_series(
    date_trunc('day', s.joined_at at time zone 'UTC'), date_trunc('day', s.ended at time zone 'UTC'), interval '1 day') d`;

/** The key that its token was minted or signed with, of a stay `p`; tokens of tests and of long ago have none. */
export const keyOfStay = sql`coalesce((select t.api_key_id from rtc_tokens t where t.id = p.token_id), '')`;

const unmetered = raw('metered_at is null and left_at is not null and joined_at is not null');

/** True while `meterEnded` finds any. */
export const isAnyUnmetered = hasFirst(sql`from participant_sessions where ${unmetered}`, 'left_at');

/** Adds ended sessions to the daily rollup, each exactly once however many processes do it; says how many. */
export async function meterEnded(tx: Tx, at: string, limit: number): Promise<number> {
  const rows = await tx.query<{ n: number }>(sql`
    with unmetered as (
      select id from participant_sessions
      where ${unmetered}
      order by left_at limit ${limit} for update skip locked
    ), s as (
      update participant_sessions p set metered_at = ${at} from unmetered u where p.id = u.id
      returning p.id, p.project_id, p.environment, p.joined_at, p.left_at as ended, ${keyOfStay} as key_id
    ), parts as (${dayParts}), added as (
      insert into usage_days as u (project_id, environment, day, seconds, sessions)
      select project_id, environment, day, sum(seconds), sum(begun) from parts group by 1, 2, 3 order by 1, 2, 3
      on conflict (project_id, environment, day) do update
        set seconds = u.seconds + excluded.seconds, sessions = u.sessions + excluded.sessions
    ), keyed as (
      insert into usage_meters as m (project_id, environment, day, meter, key_id, value)
      select project_id, environment, day, 'minutes', key_id, round(sum(seconds) * 1000) from parts
      group by 1, 2, 3, 5 order by 1, 2, 3, 5
      on conflict (project_id, environment, day, meter, key_id) do update set value = m.value + excluded.value
    )
    select count(*) as n from s`);
  return rows[0]?.n ?? 0;
}

export interface DayRow {
  projectId: string;
  day: string;
  seconds: number;
  sessions: number;
}

/** Seconds and sessions by project and day: what is metered, and what is not yet, up to `now`. */
export async function listDays(db: Db, projectIds: readonly string[], now: string): Promise<DayRow[]> {
  return db.query<DayRow>(sql`
    with s as (
      select id, project_id, environment, '' as key_id, joined_at,
             coalesce(left_at, greatest(joined_at, ${now}::timestamptz)) as ended
      from participant_sessions p
      where project_id = any(${projectIds}::uuid[]) and joined_at is not null and metered_at is null
    ), parts as (${dayParts}), whole as (
      select project_id, day, seconds, sessions from usage_days where project_id = any(${projectIds}::uuid[])
      union all
      select project_id, day, seconds, begun from parts
    )
    select project_id as "projectId", day, sum(seconds)::double precision as seconds, sum(sessions)::integer as sessions
    from whole group by 1, 2 order by 2 desc`);
}

/** Stays, newest first. */
export async function listSessions(
  db: Db,
  projectIds: readonly string[],
  now: string,
  limit: number,
): Promise<Omit<UsageSession, 'minutes'>[]> {
  return db.query(sql`
    select p.id, p.project_id as "projectId", p.environment, p.room_id as "roomId", r.name as "roomName",
           p.identity as "participantIdentity", p.joined_at as "startedAt", p.left_at as "endedAt",
           extract(epoch from coalesce(p.left_at, greatest(p.joined_at, ${now}::timestamptz)) - p.joined_at)::double precision as seconds
    from participant_sessions p join rooms r on r.id = p.room_id
    where p.project_id = any(${projectIds}::uuid[]) and p.joined_at is not null
    order by p.joined_at desc, p.id desc limit ${limit}`);
}
