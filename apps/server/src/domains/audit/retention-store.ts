import type { Db } from '../../core/db.ts';
import { raw, sql } from '../../core/sql.ts';

export const auditTables = ['audit_entries', 'security_entries'] as const;

/** Deletes some of what is older than `before`. The tables let nothing else go: the transaction tells them what has expired. */
export async function deleteExpiredEntries(
  db: Db,
  table: (typeof auditTables)[number],
  before: string,
  limit: number,
): Promise<number> {
  return db.transaction(async (tx) => {
    await tx.query(sql`select set_config('parley.audit_expired_before', ${before}, true)`);
    return tx.execute(sql`
      delete from ${raw(table)} where id = any(array(
        select id from ${raw(table)} where created_at < ${before} order by created_at limit ${limit}))`);
  });
}
