import type { Queryable, Tx } from '../../../core/db.ts';
import { sql } from '../../../core/sql.ts';

interface TotpRow {
  secret: string;
  createdAt: string;
  isConfirmed: boolean;
}

/** Stores a secret in the place of one that was never confirmed; false when one was. */
export async function replaceUnconfirmedTotp(
  tx: Tx,
  totp: { userId: string; secret: string; createdAt: string },
): Promise<boolean> {
  const stored = await tx.execute(sql`
    insert into totp_secrets (user_id, secret, created_at) values (${totp.userId}, ${totp.secret}, ${totp.createdAt})
    on conflict (user_id) do update set secret = excluded.secret, created_at = excluded.created_at
    where totp_secrets.confirmed_at is null`);
  return stored > 0;
}

export async function findTotp(db: Queryable, userId: string): Promise<TotpRow | undefined> {
  const [row] = await db.query<TotpRow>(sql`
    select secret, created_at as "createdAt", confirmed_at is not null as "isConfirmed"
    from totp_secrets where user_id = ${userId}`);
  return row;
}

/** Takes the code of a time step: of any number of calls with it, or with an older one, exactly one does. */
export async function takeTotpStep(tx: Tx, userId: string, step: number): Promise<boolean> {
  const taken = await tx.execute(sql`
    update totp_secrets set last_step = ${step}
    where user_id = ${userId} and (last_step is null or last_step < ${step})`);
  return taken > 0;
}

export async function confirmTotp(tx: Tx, userId: string, at: string): Promise<void> {
  await tx.execute(sql`
    update totp_secrets set confirmed_at = ${at} where user_id = ${userId} and confirmed_at is null`);
}

/** False when there was none that counts. */
export async function deleteTotp(tx: Tx, userId: string): Promise<boolean> {
  const rows = await tx.query<{ isConfirmed: boolean }>(sql`
    delete from totp_secrets where user_id = ${userId} returning confirmed_at is not null as "isConfirmed"`);
  return rows.some(({ isConfirmed }) => isConfirmed);
}

/** From after a user on, in their order. */
export function listSealedTotp(
  db: Queryable,
  after: string | null,
  limit: number,
): Promise<{ userId: string; secret: string }[]> {
  return db.query(sql`
    select user_id as "userId", secret from totp_secrets
    where ${after}::uuid is null or user_id > ${after}::uuid order by user_id limit ${limit}`);
}

/** Unless somebody has made another meanwhile: that is sealed anew already. Gives 1 or 0. */
export function replaceSealedTotp(db: Queryable, userId: string, before: string, after: string): Promise<number> {
  return db.execute(sql`
    update totp_secrets set secret = ${after} where user_id = ${userId} and secret = ${before}`);
}
