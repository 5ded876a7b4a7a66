import type { Queryable, Tx } from '../../core/db.ts';
import { sql } from '../../core/sql.ts';

interface NewResetToken {
  userId: string;
  tokenHash: string;
  createdAt: string;
  expiresAt: string;
}

/** Stores a new reset link; an older one is void from here on. */
export async function replaceResetToken(db: Queryable, token: NewResetToken): Promise<void> {
  await db.execute(sql`
    insert into mail_tokens (user_id, kind, token_hash, created_at, expires_at)
    values (${token.userId}, 'RESET', ${token.tokenHash}, ${token.createdAt}, ${token.expiresAt})
    on conflict (user_id, kind) do update set token_hash = excluded.token_hash,
      created_at = excluded.created_at, expires_at = excluded.expires_at`);
}

/** Only a courtesy before expensive work: `claimResetToken` decides. */
export async function hasResetToken(db: Queryable, tokenHash: string, now: string): Promise<boolean> {
  const rows = await db.query(sql`
    select 1 from mail_tokens where token_hash = ${tokenHash} and kind = 'RESET' and expires_at > ${now}`);
  return rows.length > 0;
}

/** Uses a link up: of any number of calls at once exactly one gets the user. */
export async function claimResetToken(tx: Tx, tokenHash: string, now: string): Promise<string | undefined> {
  const [row] = await tx.query<{ userId: string }>(sql`
    delete from mail_tokens where token_hash = ${tokenHash} and kind = 'RESET' and expires_at > ${now}
    returning user_id as "userId"`);
  return row?.userId;
}

export async function deleteMailTokensOf(tx: Tx, userId: string): Promise<void> {
  await tx.execute(sql`delete from mail_tokens where user_id = ${userId}`);
}

export async function deleteExpiredMailTokens(db: Queryable, now: string, limit: number): Promise<number> {
  return db.execute(sql`
    delete from mail_tokens where ctid = any(array(
      select ctid from mail_tokens where expires_at <= ${now} limit ${limit}))`);
}
