import type { Queryable, Tx } from '../../core/db.ts';
import { sql } from '../../core/sql.ts';

interface NewLink {
  server: string;
  tokenHash: string;
  createdAt: string;
  expiresAt: string;
}

/** Stores the link of a server in the place of its older one. */
export async function replaceFirstAccountLink(db: Queryable, link: NewLink): Promise<void> {
  await db.execute(sql`
    insert into first_account_links (server, token_hash, created_at, expires_at)
    values (${link.server}, ${link.tokenHash}, ${link.createdAt}, ${link.expiresAt})
    on conflict (server) do update set token_hash = excluded.token_hash,
      created_at = excluded.created_at, expires_at = excluded.expires_at`);
}

/** Only a courtesy before expensive work: `claimFirstAccountLink` decides. */
export async function hasFirstAccountLink(db: Queryable, tokenHash: string, now: string): Promise<boolean> {
  const rows = await db.query(sql`
    select 1 from first_account_links where token_hash = ${tokenHash} and expires_at > ${now}`);
  return rows.length > 0;
}

/** Uses a link up: of any number of calls at once exactly one gets it. */
export async function claimFirstAccountLink(tx: Tx, tokenHash: string, now: string): Promise<boolean> {
  const claimed = await tx.execute(sql`
    delete from first_account_links where token_hash = ${tokenHash} and expires_at > ${now}`);
  return claimed > 0;
}

export async function deleteFirstAccountLink(db: Queryable, server: string): Promise<void> {
  await db.execute(sql`delete from first_account_links where server = ${server}`);
}

/** Of every server: there is an account. */
export async function deleteFirstAccountLinks(tx: Tx): Promise<void> {
  await tx.execute(sql`delete from first_account_links`);
}

export async function deleteExpiredFirstAccountLinks(db: Queryable, now: string, limit: number): Promise<number> {
  return db.execute(sql`
    delete from first_account_links where ctid = any(array(
      select ctid from first_account_links where expires_at <= ${now} limit ${limit}))`);
}
