import type { Queryable } from '../../core/db.ts';
import type { Person } from '../../core/personal-data.ts';
import { sql } from '../../core/sql.ts';

/** Devices without their addresses, which are of use to nobody but us. */
export async function listDevicesOf(
  db: Queryable,
  { projectId, environment, userId }: Person,
): Promise<{ rows: object[]; next: null }> {
  const rows = await db.query<object>(sql`
    select id, kind as "pushKind", hint, created_at as "createdAt", updated_at as "updatedAt" from push_devices
    where project_id = ${projectId} and environment = ${environment} and user_id = ${userId} order by id`);
  return { rows, next: null };
}

export async function listPreferencesOf(
  db: Queryable,
  { projectId, environment, userId }: Person,
): Promise<{ rows: object[]; next: null }> {
  const rows = await db.query<object>(sql`
    select level, quiet_from as "quietFrom", quiet_until as "quietUntil", time_zone as "timeZone",
      updated_at as "updatedAt"
    from push_preferences
    where project_id = ${projectId} and environment = ${environment} and user_id = ${userId}`);
  return { rows, next: null };
}
