import type { PushLevel, QuietHours, SetPushPreferences } from '@parley/contract';
import type { ProjectScope } from '../../core/caller.ts';
import type { Queryable } from '../../core/db.ts';
import { sql } from '../../core/sql.ts';

interface PreferenceRow {
  level: PushLevel | null;
  quietHours: QuietHours | null;
}

/** SQL for the quiet hours of a row `p` of push_preferences, as JSON. */
export const quietHoursOf = sql`case when p.quiet_from is not null then json_build_object(
  'from', p.quiet_from, 'until', p.quiet_until, 'timeZone', p.time_zone) end`;

export async function findPreferences(
  db: Queryable,
  { projectId, environment }: ProjectScope,
  userId: string,
): Promise<PreferenceRow | undefined> {
  const [row] = await db.query<PreferenceRow>(sql`
    select p.level, ${quietHoursOf} as "quietHours" from push_preferences p
    where p.project_id = ${projectId} and p.environment = ${environment} and p.user_id = ${userId}`);
  return row;
}

/** What is undefined stays as it is. */
export async function upsertPreferences(
  db: Queryable,
  { projectId, environment }: ProjectScope,
  userId: string,
  { level, quietHours }: Pick<SetPushPreferences, 'level' | 'quietHours'>,
  at: string,
): Promise<void> {
  const [setsLevel, setsQuiet] = [level !== undefined, quietHours !== undefined];
  const { from = null, until = null, timeZone = null } = quietHours ?? {};
  await db.execute(sql`
    insert into push_preferences as p (project_id, environment, user_id, level, quiet_from, quiet_until, time_zone, updated_at)
    values (${projectId}, ${environment}, ${userId}, ${level ?? null}, ${from}, ${until}, ${timeZone}, ${at})
    on conflict (project_id, environment, user_id) do update
    set level = case when ${setsLevel} then excluded.level else p.level end,
        quiet_from = case when ${setsQuiet} then excluded.quiet_from else p.quiet_from end,
        quiet_until = case when ${setsQuiet} then excluded.quiet_until else p.quiet_until end,
        time_zone = case when ${setsQuiet} then excluded.time_zone else p.time_zone end,
        updated_at = excluded.updated_at`);
}
