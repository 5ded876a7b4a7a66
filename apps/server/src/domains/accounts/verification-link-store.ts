import type { Queryable, Tx } from '../../core/db.ts';
import { sql } from '../../core/sql.ts';

interface NewLink {
  userId: string;
  tokenHash: string;
  confirmsFrom: string | null;
  createdAt: string;
  expiresAt: string;
}

/** Stores a link beside those that there are. */
export async function insertVerificationLink(db: Queryable, link: NewLink): Promise<void> {
  await db.execute(sql`
    insert into verification_links (token_hash, user_id, confirms_from, created_at, expires_at)
    values (${link.tokenHash}, ${link.userId}, ${link.confirmsFrom}, ${link.createdAt}, ${link.expiresAt})`);
}

/** Stores a link in the place of all older ones. In the place of a single one it confirms what that confirmed. */
export async function replaceVerificationLinks(db: Queryable, link: Omit<NewLink, 'confirmsFrom'>): Promise<void> {
  await db.execute(sql`
    with replaced as (delete from verification_links where user_id = ${link.userId} returning confirms_from)
    insert into verification_links (token_hash, user_id, confirms_from, created_at, expires_at)
    select ${link.tokenHash}, ${link.userId}, case when count(*) = 1 then max(confirms_from) end,
           ${link.createdAt}, ${link.expiresAt}
    from replaced`);
}

/** Whose a link is, without using it. */
export async function findVerificationLink(
  db: Queryable,
  tokenHash: string,
  now: string,
): Promise<{ userId: string; email: string; expiresAt: string } | undefined> {
  const [row] = await db.query<{ userId: string; email: string; expiresAt: string }>(sql`
    select l.user_id as "userId", u.email, l.expires_at as "expiresAt"
    from verification_links l join users u on u.id = l.user_id
    where l.token_hash = ${tokenHash} and l.expires_at > ${now} and u.email_verified_at is null`);
  return row;
}

/** Uses a link up: of any number of calls at once exactly one gets it. */
export async function claimVerificationLink(
  tx: Tx,
  tokenHash: string,
): Promise<{ confirmsFrom: string | null } | undefined> {
  const [row] = await tx.query<{ confirmsFrom: string | null }>(sql`
    delete from verification_links where token_hash = ${tokenHash} returning confirms_from as "confirmsFrom"`);
  return row;
}

export async function deleteVerificationLinksOf(tx: Tx, userId: string): Promise<void> {
  await tx.execute(sql`delete from verification_links where user_id = ${userId}`);
}

export async function deleteExpiredVerificationLinks(db: Queryable, now: string, limit: number): Promise<number> {
  return db.execute(sql`
    delete from verification_links where ctid = any(array(
      select ctid from verification_links where expires_at <= ${now} limit ${limit}))`);
}
