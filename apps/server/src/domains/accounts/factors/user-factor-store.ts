import type { Tx } from '../../../core/db.ts';
import { sql } from '../../../core/sql.ts';

/** Removes what belongs to factors of which none is left; true when none is. */
export async function deleteLeftovers(tx: Tx, userId: string): Promise<boolean> {
  const [row] = await tx.query<{ hasFactor: boolean }>(sql`
    select exists (select 1 from totp_secrets where user_id = ${userId} and confirmed_at is not null)
      or exists (select 1 from passkeys where user_id = ${userId}) as "hasFactor"`);
  if (row?.hasFactor) return false;
  await tx.execute(sql`delete from recovery_codes where user_id = ${userId}`);
  return true;
}

export async function deleteEveryFactorOf(tx: Tx, userId: string): Promise<void> {
  await tx.execute(sql`delete from totp_secrets where user_id = ${userId}`);
  await tx.execute(sql`delete from passkeys where user_id = ${userId}`);
  await tx.execute(sql`delete from recovery_codes where user_id = ${userId}`);
}
