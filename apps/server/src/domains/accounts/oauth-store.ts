import type { Queryable, Tx } from '../../core/db.ts';
import { sql } from '../../core/sql.ts';
import { type UserRow, userColumns } from './user-store.ts';

interface OAuthStateRow {
  provider: string;
  redirectUri: string;
  secrets: string;
}

export async function replaceOAuthState(
  db: Queryable,
  state: OAuthStateRow & { keyHash: string; expiresAt: string },
): Promise<void> {
  await db.execute(sql`
    insert into oauth_states (key_hash, provider, redirect_uri, secrets, expires_at)
    values (${state.keyHash}, ${state.provider}, ${state.redirectUri}, ${state.secrets}, ${state.expiresAt})
    on conflict (key_hash) do update set provider = excluded.provider, redirect_uri = excluded.redirect_uri,
      secrets = excluded.secrets, expires_at = excluded.expires_at`);
}

/** Uses a state up, whatever comes of it. */
export async function claimOAuthState(db: Queryable, keyHash: string, now: string): Promise<OAuthStateRow | undefined> {
  const [row] = await db.query<OAuthStateRow>(sql`
    delete from oauth_states where key_hash = ${keyHash} and expires_at > ${now}
    returning provider, redirect_uri as "redirectUri", secrets`);
  return row;
}

export async function findIdentityUser(db: Queryable, issuer: string, subject: string): Promise<UserRow | undefined> {
  const [row] = await db.query<UserRow>(sql`
    select ${userColumns} from oauth_identities i join users u on u.id = i.user_id
    where i.issuer = ${issuer} and i.subject = ${subject}`);
  return row;
}

export async function insertIdentity(
  tx: Tx,
  identity: { issuer: string; subject: string; userId: string; createdAt: string },
): Promise<void> {
  await tx.execute(sql`
    insert into oauth_identities (issuer, subject, user_id, created_at)
    values (${identity.issuer}, ${identity.subject}, ${identity.userId}, ${identity.createdAt})
    on conflict do nothing`);
}

export async function deleteExpiredOAuthStates(db: Queryable, now: string, limit: number): Promise<number> {
  return db.execute(sql`
    delete from oauth_states where ctid = any(array(
      select ctid from oauth_states where expires_at <= ${now} limit ${limit}))`);
}
