import type { ProjectScope } from '../../core/caller.ts';
import type { Queryable } from '../../core/db.ts';
import { sql } from '../../core/sql.ts';

/** The first revocation stays; gives its time. */
export async function insertRevokedToken(
  db: Queryable,
  { projectId, environment }: ProjectScope,
  tokenId: string,
  at: string,
): Promise<string> {
  const [row] = await db.query<{ revokedAt: string }>(sql`
    insert into revoked_tokens as t (project_id, environment, token_id, revoked_at)
    values (${projectId}, ${environment}, ${tokenId}, ${at})
    on conflict (project_id, environment, token_id) do update set revoked_at = t.revoked_at
    returning t.revoked_at as "revokedAt"`);
  return row?.revokedAt ?? at;
}

export async function isTokenRevoked(
  db: Queryable,
  { projectId, environment }: ProjectScope,
  tokenId: string,
): Promise<boolean> {
  const rows = await db.query(sql`
    select token_id from revoked_tokens
    where project_id = ${projectId} and environment = ${environment} and token_id = ${tokenId}`);
  return rows.length === 1;
}

export async function hasRevokedTokens(db: Queryable, { projectId, environment }: ProjectScope): Promise<boolean> {
  const rows = await db.query(sql`
    select token_id from revoked_tokens where project_id = ${projectId} and environment = ${environment} limit 1`);
  return rows.length === 1;
}

export type RevokedToken = ProjectScope & { tokenId: string };

export async function listTokensRevokedSince(db: Queryable, since: string): Promise<RevokedToken[]> {
  return db.query<RevokedToken>(sql`
    select project_id as "projectId", environment, token_id as "tokenId" from revoked_tokens
    where revoked_at >= ${since}`);
}

export async function deleteRevokedTokens(db: Queryable, before: string, limit: number): Promise<number> {
  return db.execute(sql`
    delete from revoked_tokens where ctid = any(array(
      select ctid from revoked_tokens where revoked_at < ${before} order by revoked_at limit ${limit}))`);
}
