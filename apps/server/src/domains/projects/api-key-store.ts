import type { ApiKey, Environment } from '@parley/contract';
import type { Queryable } from '../../core/db.ts';
import { empty, sql } from '../../core/sql.ts';

interface NewKeyRow {
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
  created_by_email as "createdBy", last_used_at as "lastUsedAt", created_at as "createdAt", revoked_at as "revokedAt"`;

export async function insertKey(db: Queryable, key: NewKeyRow): Promise<ApiKey> {
  const [row] = await db.query<ApiKey>(sql`
    insert into api_keys (id, public_id, project_id, environment, name, secret_hash, created_by, created_by_email, created_at)
    values (${key.id}, ${key.publicId}, ${key.projectId}, ${key.environment}, ${key.name}, ${key.secretHash},
            ${key.createdBy}, ${key.createdByEmail}, ${key.at})
    returning ${columns}`);
  return row as ApiKey;
}

/** What a presented key is checked against. */
export interface KeyRecord {
  publicId: string;
  projectId: string;
  environment: Environment;
  secretHash: Buffer;
  isRevoked: boolean;
  isProjectArchived: boolean;
  /** The key's creator is no longer a member: their keys are revoked with them. */
  isCreatorGone: boolean;
}

export async function findKey(db: Queryable, publicId: string): Promise<KeyRecord | undefined> {
  const [row] = await db.query<KeyRecord>(sql`
    select k.public_id as "publicId", k.project_id as "projectId", k.environment, k.secret_hash as "secretHash",
           k.revoked_at is not null as "isRevoked", p.status = 'ARCHIVED' as "isProjectArchived",
           m.user_id is null as "isCreatorGone"
    from api_keys k
    join projects p on p.id = k.project_id
    left join project_members m on m.project_id = k.project_id and m.user_id = k.created_by
    where k.public_id = ${publicId}`);
  return row;
}

/** Newest first, from after a position. */
export async function listKeys(
  db: Queryable,
  projectId: string,
  after: readonly [string, string] | null,
  limit: number,
): Promise<ApiKey[]> {
  return db.query<ApiKey>(sql`
    select ${columns} from api_keys where project_id = ${projectId}
      ${after === null ? empty : sql`and (created_at, id) < (${after[0]}, ${after[1]}::uuid)`}
    order by created_at desc, id desc limit ${limit}`);
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
export async function touchKey(db: Queryable, publicId: string, at: string, unlessSince: string): Promise<void> {
  await db.execute(sql`
    update api_keys set last_used_at = ${at}
    where public_id = ${publicId} and (last_used_at is null or last_used_at < ${unlessSince})`);
}
