import type { Queryable, Tx } from '../../core/db.ts';
import { sql } from '../../core/sql.ts';

export type MailTokenKind = 'VERIFY' | 'RESET';

interface NewMailToken {
  userId: string;
  kind: MailTokenKind;
  tokenHash: string;
  createdAt: string;
  expiresAt: string;
}

/** Stores a new link; an older one of the same kind is void from here on. */
export async function replaceMailToken(db: Queryable, token: NewMailToken): Promise<void> {
  await db.execute(sql`
    insert into mail_tokens (user_id, kind, token_hash, created_at, expires_at)
    values (${token.userId}, ${token.kind}, ${token.tokenHash}, ${token.createdAt}, ${token.expiresAt})
    on conflict (user_id, kind) do update set token_hash = excluded.token_hash,
      created_at = excluded.created_at, expires_at = excluded.expires_at`);
}

/** Only a courtesy before expensive work: `claimMailToken` decides. */
export async function hasMailToken(
  db: Queryable,
  kind: MailTokenKind,
  tokenHash: string,
  now: string,
): Promise<boolean> {
  const rows = await db.query(sql`
    select 1 from mail_tokens where token_hash = ${tokenHash} and kind = ${kind} and expires_at > ${now}`);
  return rows.length > 0;
}

/** Uses a link up: of any number of calls at once exactly one gets the user. */
export async function claimMailToken(
  tx: Tx,
  kind: MailTokenKind,
  tokenHash: string,
  now: string,
): Promise<string | undefined> {
  const [row] = await tx.query<{ userId: string }>(sql`
    delete from mail_tokens where token_hash = ${tokenHash} and kind = ${kind} and expires_at > ${now}
    returning user_id as "userId"`);
  return row?.userId;
}

export async function deleteMailTokensOf(tx: Tx, userId: string): Promise<void> {
  await tx.execute(sql`delete from mail_tokens where user_id = ${userId}`);
}

export async function deleteExpiredMailTokens(db: Queryable, now: string): Promise<number> {
  return db.execute(sql`delete from mail_tokens where expires_at <= ${now}`);
}
