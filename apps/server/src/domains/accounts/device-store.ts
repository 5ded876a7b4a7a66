import type { Queryable } from '../../core/db.ts';
import { sql } from '../../core/sql.ts';

/** Notes a browser of the user; says whether it was unknown, and how many others there were. */
export async function noteDevice(
  db: Queryable,
  device: { userId: string; deviceHash: string; at: string },
): Promise<{ isNew: boolean; others: number }> {
  const [row] = await db.query<{ isNew: boolean; others: number }>(sql`
    with known as (select count(*)::int as n from known_devices where user_id = ${device.userId})
    insert into known_devices (user_id, device_hash, created_at, seen_at)
    values (${device.userId}, ${device.deviceHash}, ${device.at}, ${device.at})
    on conflict (user_id, device_hash) do update set seen_at = excluded.seen_at
    returning (xmax = 0) as "isNew", (select n from known) as others`);
  if (!row) throw new Error('an upsert of a device returned no row');
  return row;
}

export async function deleteForgottenDevices(db: Queryable, seenBefore: string, limit: number): Promise<number> {
  return db.execute(sql`
    delete from known_devices where ctid = any(array(
      select ctid from known_devices where seen_at < ${seenBefore} limit ${limit}))`);
}
