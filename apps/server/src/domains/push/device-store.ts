import type { ApnsEnvironment, PushDevice } from '@parley/contract';
import type { ProjectScope } from '../../core/caller.ts';
import type { Db, Queryable } from '../../core/db.ts';
import type { DispatchedOnInsert } from '../../core/event-store.ts';
import { lockByName } from '../../core/quotas.ts';
import { empty, json, raw, sql } from '../../core/sql.ts';

/** Where a notification goes. */
export type PushAddress =
  | { kind: 'WEB_PUSH'; endpoint: string; p256dh: string; auth: string }
  | { kind: 'FCM'; token: string }
  | { kind: 'APNS'; token: string; topic: string; environment: ApnsEnvironment };

interface DeviceDraft {
  id: string;
  userId: string;
  address: PushAddress;
  addressHash: string;
  hint: string;
  conversations: readonly string[] | null;
  at: string;
}

const columns = raw('id, user_id as "userId", kind, hint, created_at as "createdAt", updated_at as "updatedAt"');

/** No device of the environment waits for messages; one that is registered later is told of what is stored later. */
export const noDevices: DispatchedOnInsert = (projectId, environment) =>
  raw(
    `not exists (select from push_devices pd where pd.project_id = ${projectId} and pd.environment = ${environment})`,
  );

/**
 * Stores a device, or gives a known one to its newest user, and drops the user's oldest beyond `max`. Those of one user
 * are stored one after the other, so that the ceiling is exact.
 */
export async function upsertDevice(db: Db, scope: ProjectScope, draft: DeviceDraft, max: number): Promise<PushDevice> {
  const { projectId, environment } = scope;
  const { id, userId, address, addressHash, hint, conversations, at } = draft;
  const [device] = await db.transaction(async (tx) => {
    await tx.query(lockByName(`push ${projectId} ${environment} ${userId}`));
    const stored = await tx.query<PushDevice>(sql`
      insert into push_devices as d (id, project_id, environment, user_id, kind, address_hash, address, hint,
                                     conversations, created_at, updated_at)
      values (${id}, ${projectId}, ${environment}, ${userId}, ${address.kind}, ${addressHash}, ${json(address)}::jsonb,
              ${hint}, ${conversations}::text[], ${at}::timestamptz, ${at}::timestamptz)
      on conflict on constraint push_devices_address do update
      set user_id = excluded.user_id, address = excluded.address, hint = excluded.hint,
          conversations = excluded.conversations, updated_at = excluded.updated_at,
          created_at = case when d.user_id = excluded.user_id then d.created_at else excluded.created_at end
      returning ${columns}`);
    await tx.execute(sql`
      delete from push_devices where id = any(array(
        select id from push_devices
        where project_id = ${projectId} and environment = ${environment} and user_id = ${userId}
        order by updated_at desc, id desc offset ${max}))`);
    return stored;
  });
  if (!device) throw new Error('the device was not stored');
  return device;
}

/** Newest first. */
export function listDevices(db: Queryable, scope: ProjectScope, userId: string, limit: number): Promise<PushDevice[]> {
  return db.query<PushDevice>(sql`
    select ${columns} from push_devices
    where project_id = ${scope.projectId} and environment = ${scope.environment} and user_id = ${userId}
    order by updated_at desc, id desc limit ${limit}`);
}

/** Of this user only, unless null; says how many went. */
export function deleteDevice(
  db: Queryable,
  { projectId, environment }: ProjectScope,
  id: string,
  userId: string | null,
): Promise<number> {
  return db.execute(sql`
    delete from push_devices where id = ${id} and project_id = ${projectId} and environment = ${environment}
      ${userId === null ? empty : sql`and user_id = ${userId}`}`);
}

/** Everything that is known of a user here; gives how many rows went. */
export async function deletePushOfUser(
  tx: Queryable,
  { projectId, environment }: ProjectScope,
  userId: string,
): Promise<number> {
  const ofUser = sql`project_id = ${projectId} and environment = ${environment} and user_id = ${userId}`;
  const devices = await tx.execute(sql`delete from push_devices where ${ofUser}`);
  return devices + (await tx.execute(sql`delete from push_preferences where ${ofUser}`));
}
