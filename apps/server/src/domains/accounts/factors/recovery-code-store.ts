import type { Queryable, Tx } from '../../../core/db.ts';
import { sql } from '../../../core/sql.ts';

export async function replaceRecoveryCodes(tx: Tx, userId: string, hashes: readonly string[]): Promise<void> {
  await tx.execute(sql`delete from recovery_codes where user_id = ${userId}`);
  await tx.execute(sql`
    insert into recovery_codes (user_id, code_hash) select ${userId}, unnest(${hashes}::text[])`);
}

/** Uses a code up: of any number of calls at once exactly one does. */
export async function deleteRecoveryCode(tx: Tx, userId: string, hash: string): Promise<boolean> {
  return (await tx.execute(sql`delete from recovery_codes where user_id = ${userId} and code_hash = ${hash}`)) > 0;
}

export async function countRecoveryCodes(db: Queryable, userId: string): Promise<number> {
  const [row] = await db.query<{ left: number }>(sql`
    select count(*)::int as "left" from recovery_codes where user_id = ${userId}`);
  return row?.left ?? 0;
}
