import type { ApiKey, Environment } from '@parley/contract';
import { maskedNetwork } from '../../core/addresses.ts';
import type { Queryable } from '../../core/db.ts';
import { empty, sql } from '../../core/sql.ts';
import type { KeyBounds } from './key-bounds.ts';

interface NewKeyRow extends KeyBounds {
  id: string;
  publicId: string;
  projectId: string;
  environment: Environment;
  name: string;
  secretHash: Buffer;
  createdBy: string;
  createdByEmail: string;
  at: string;
}

const columns = sql`id, public_id as "publicId", name, environment,
  case when revoked_at is null then 'ACTIVE' else 'REVOKED' end as status,
  'svk_' || case environment when 'PRODUCTION' then 'prod' else 'dev' end || '_' || public_id as prefix,
  created_by_email as "createdBy", scopes, expires_at as "expiresAt", allowed_networks as "allowedNetworks",
  last_used_from as "lastUsedFrom", last_used_at as "lastUsedAt", created_at as "createdAt", revoked_at as "revokedAt"`;

export async function insertKey(db: Queryable, key: NewKeyRow): Promise<ApiKey> {
  const [row] = await db.query<ApiKey>(sql`
    insert into api_keys (id, public_id, project_id, environment, name, secret_hash, created_by, created_by_email, created_at,
                          scopes, expires_at, allowed_networks)
    values (${key.id}, ${key.publicId}, ${key.projectId}, ${key.environment}, ${key.name}, ${key.secretHash},
            ${key.createdBy}, ${key.createdByEmail}, ${key.at}, ${key.scopes}, ${key.expiresAt}, ${key.allowedNetworks})
    returning ${columns}`);
  return row as ApiKey;
}

/** What a presented key is checked against. */
export interface KeyRecord extends KeyBounds {
  id: string;
  publicId: string;
  projectId: string;
  environment: Environment;
  secretHash: Buffer;
  isRevoked: boolean;
  areTokensRevoked: boolean;
  isProjectArchived: boolean;
  /** The key's creator is no longer a member: their keys are revoked with them. */
  isCreatorGone: boolean;
}

export async function findKey(db: Queryable, publicId: string): Promise<KeyRecord | undefined> {
  const [row] = await db.query<KeyRecord>(sql`
    select k.id, k.public_id as "publicId", k.project_id as "projectId", k.environment, k.secret_hash as "secretHash",
           k.revoked_at is not null as "isRevoked", k.tokens_revoked_at is not null as "areTokensRevoked", p.status = 'ARCHIVED' as "isProjectArchived",
           m.user_id is null as "isCreatorGone", k.scopes, k.expires_at as "expiresAt", k.allowed_networks as "allowedNetworks"
    from api_keys k
    join projects p on p.id = k.project_id
    left join project_members m on m.project_id = k.project_id and m.user_id = k.created_by
    where k.public_id = ${publicId}`);
  return row;
}

/** Of one environment, or of both; from after a position. */
export interface KeyPage {
  environment: Environment | null;
  after: readonly [string, string] | null;
  limit: number;
}

/** Newest first. */
export async function listKeys(
  db: Queryable,
  projectId: string,
  { environment, after, limit }: KeyPage,
): Promise<ApiKey[]> {
  return db.query<ApiKey>(sql`
    select ${columns} from api_keys where project_id = ${projectId}
      ${environment === null ? empty : sql`and environment = ${environment}`}
      ${after === null ? empty : sql`and (created_at, id) < (${after[0]}, ${after[1]}::uuid)`}
    order by created_at desc, id desc limit ${limit}`);
}

/** Revokes what a member made in these environments; gives the public ids of what was still good. */
export async function markRevokedOfMember(
  tx: Queryable,
  projectId: string,
  userId: string,
  environments: readonly Environment[],
  at: string,
): Promise<string[]> {
  const rows = await tx.query<{ publicId: string }>(sql`
    update api_keys set revoked_at = ${at}
    where project_id = ${projectId} and created_by = ${userId}::uuid and environment = any(${environments}::text[])
      and revoked_at is null
    returning public_id as "publicId"`);
  return rows.map(({ publicId }) => publicId);
}

/** The tokens that these keys had minted are void as well; gives the keys for which that is new. */
export async function markTokensRevoked(
  db: Queryable,
  projectId: string,
  publicIds: readonly string[],
  at: string,
): Promise<string[]> {
  const rows = await db.query<{ publicId: string }>(sql`
    update api_keys set tokens_revoked_at = ${at}
    where project_id = ${projectId} and public_id = any(${publicIds}::text[]) and tokens_revoked_at is null
    returning public_id as "publicId"`);
  return rows.map(({ publicId }) => publicId);
}

/** Keys that were revoked with their tokens since. */
export async function listTokensRevoked(db: Queryable, since: string): Promise<string[]> {
  const rows = await db.query<{ publicId: string }>(
    sql`select public_id as "publicId" from api_keys where tokens_revoked_at >= ${since}`,
  );
  return rows.map(({ publicId }) => publicId);
}

/** Revokes a key that is not revoked yet; true for exactly one caller. */
export async function markRevoked(db: Queryable, projectId: string, publicId: string, at: string): Promise<boolean> {
  const touched = await db.execute(sql`
    update api_keys set revoked_at = ${at} where project_id = ${projectId} and public_id = ${publicId} and revoked_at is null`);
  return touched === 1;
}

export async function findKeyOf(db: Queryable, projectId: string, publicId: string): Promise<ApiKey | undefined> {
  const [row] = await db.query<ApiKey>(sql`
    select ${columns} from api_keys where project_id = ${projectId} and public_id = ${publicId}`);
  return row;
}

/** Notes a use, at most once a minute so that reads do not become writes. */
export async function touchKey(
  db: Queryable,
  publicId: string,
  ip: string,
  at: string,
  unlessSince: string,
): Promise<void> {
  await db.execute(sql`
    update api_keys set last_used_at = ${at}, last_used_from = ${maskedNetwork(ip)}
    where public_id = ${publicId} and (last_used_at is null or last_used_at < ${unlessSince})`);
}
