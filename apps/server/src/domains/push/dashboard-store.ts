import type { PushKind, PushService } from '@parley/contract';
import type { ProjectScope } from '../../core/caller.ts';
import type { Queryable } from '../../core/db.ts';
import { sql } from '../../core/sql.ts';

const kinds: readonly PushKind[] = ['WEB_PUSH', 'FCM', 'APNS'];

/** Devices of an environment, and what waits for them, by the way they are reached. */
export async function countServices(
  db: Queryable,
  { projectId, environment }: ProjectScope,
  now: string,
): Promise<PushService[]> {
  const rows = await db.query<PushService>(sql`
    with ours as (
      select id, kind from push_devices where project_id = ${projectId} and environment = ${environment}),
    queued as (
      select ours.kind, count(*) as waiting, count(*) filter (
        where q.attempts > 0 and (q.claimed_until is null or q.claimed_until <= ${now})) as retrying
      from push_deliveries q join ours on ours.id = q.device_id group by ours.kind)
    select ours.kind, count(*) as devices, coalesce(max(queued.waiting), 0) as waiting,
           coalesce(max(queued.retrying), 0) as retrying
    from ours left join queued on queued.kind = ours.kind group by ours.kind`);
  return kinds.map((kind) => rows.find((row) => row.kind === kind) ?? { kind, devices: 0, waiting: 0, retrying: 0 });
}
