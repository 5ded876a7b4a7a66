import type { SecurityEntry } from '@parley/contract';
import type { Db } from '../../core/db.ts';
import { empty, json, sql } from '../../core/sql.ts';

/** Writing the same entry again, after a write whose outcome is unknown, changes nothing. */
export async function insertSecurityEntry(db: Db, entry: SecurityEntry): Promise<void> {
  await db.execute(sql`
    insert into security_entries (id, user_id, user_email, action, device, place, metadata, request_id, created_at)
    values (${entry.id}, ${entry.userId}, ${entry.userEmail}, ${entry.action}, ${entry.device}, ${entry.place},
            ${json(entry.metadata)}::jsonb, ${entry.requestId}, ${entry.createdAt})
    on conflict (id) do nothing`);
}

interface SecurityFilter {
  /** Undefined: of every account. */
  userId?: string | undefined;
  action?: string | undefined;
  before?: string | undefined;
  limit: number;
}

const ofUser = (userId: string | undefined) => (userId === undefined ? empty : sql`and user_id = ${userId}`);

/** Newest first. */
export async function listSecurityEntries(db: Db, filter: SecurityFilter): Promise<SecurityEntry[]> {
  const { userId, action, before, limit } = filter;
  return db.query<SecurityEntry>(sql`
    select id, user_id as "userId", user_email as "userEmail", action, device, place, metadata,
           request_id as "requestId", created_at as "createdAt"
    from security_entries
    where true ${ofUser(userId)}
      ${action === undefined ? empty : sql`and action = ${action}`}
      ${before === undefined ? empty : sql`and (created_at, id) < (select created_at, id from security_entries where id = ${before})`}
    order by created_at desc, id desc
    limit ${limit}`);
}

export async function hasSecurityEntry(db: Db, userId: string | undefined, id: string): Promise<boolean> {
  const rows = await db.query(sql`select 1 as one from security_entries where id = ${id} ${ofUser(userId)}`);
  return rows.length === 1;
}
