import type { Environment, SigningAlgorithm, SigningKey } from '@parley/contract';
import type { ProjectScope } from '../../core/caller.ts';
import type { Queryable } from '../../core/db.ts';
import { empty, sql } from '../../core/sql.ts';
import type { KeyPage } from './api-key-store.ts';

interface NewSigningKeyRow extends ProjectScope {
  id: string;
  name: string;
  algorithm: SigningAlgorithm;
  sealedSecret: string | null;
  publicKey: string | null;
  createdBy: string;
  createdByEmail: string;
  at: string;
}

const columns = sql`id, name, environment, algorithm,
  case when revoked_at is null then 'ACTIVE' else 'REVOKED' end as status, public_key as "publicKey",
  created_by_email as "createdBy", last_used_at as "lastUsedAt", created_at as "createdAt", revoked_at as "revokedAt"`;

export async function insertSigningKey(db: Queryable, key: NewSigningKeyRow): Promise<SigningKey> {
  const [row] = await db.query<SigningKey>(sql`
    insert into signing_keys (id, project_id, environment, name, algorithm, sealed_secret, public_key, created_by,
      created_by_email, created_at)
    values (${key.id}, ${key.projectId}, ${key.environment}, ${key.name}, ${key.algorithm}, ${key.sealedSecret},
      ${key.publicKey}, ${key.createdBy}, ${key.createdByEmail}, ${key.at})
    returning ${columns}`);
  return row as SigningKey;
}

/** What a token is verified with. */
interface StoredSigningKey extends ProjectScope {
  id: string;
  algorithm: SigningAlgorithm;
  sealedSecret: string | null;
  publicKey: string | null;
  isRevoked: boolean;
}

export async function findSigningKey(db: Queryable, id: string): Promise<StoredSigningKey | undefined> {
  const [row] = await db.query<StoredSigningKey>(sql`
    select id, project_id as "projectId", environment, algorithm, sealed_secret as "sealedSecret",
           public_key as "publicKey", revoked_at is not null as "isRevoked"
    from signing_keys where id = ${id}`);
  return row;
}

/** Keeps a key from being revoked until the transaction ends; false when it was already. */
export async function lockSigningKey(tx: Queryable, id: string): Promise<boolean> {
  const rows = await tx.query(sql`select id from signing_keys where id = ${id} and revoked_at is null for share`);
  return rows.length === 1;
}

export async function hasSigningKey(db: Queryable, { projectId, environment }: ProjectScope): Promise<boolean> {
  const rows = await db.query(sql`
    select id from signing_keys
    where project_id = ${projectId} and environment = ${environment} and revoked_at is null limit 1`);
  return rows.length === 1;
}

/** Newest first, from after a position. */
export async function listSigningKeys(
  db: Queryable,
  projectId: string,
  { environment, after, limit }: KeyPage,
): Promise<SigningKey[]> {
  return db.query<SigningKey>(sql`
    select ${columns} from signing_keys where project_id = ${projectId}
      ${environment === null ? empty : sql`and environment = ${environment}`}
      ${after === null ? empty : sql`and (created_at, id) < (${after[0]}, ${after[1]})`}
    order by created_at desc, id desc limit ${limit}`);
}

export async function findSigningKeyOf(db: Queryable, projectId: string, id: string): Promise<SigningKey | undefined> {
  const [row] = await db.query<SigningKey>(sql`
    select ${columns} from signing_keys where project_id = ${projectId} and id = ${id}`);
  return row;
}

/** Revokes a key that is not revoked yet; true for exactly one caller. */
export async function markSigningKeyRevoked(
  db: Queryable,
  projectId: string,
  id: string,
  at: string,
): Promise<boolean> {
  const touched = await db.execute(sql`
    update signing_keys set revoked_at = ${at} where project_id = ${projectId} and id = ${id} and revoked_at is null`);
  return touched === 1;
}

/** Revokes what a member made in these environments; gives the ids of what was still good. */
export async function markSigningKeysRevokedOfMember(
  tx: Queryable,
  projectId: string,
  userId: string,
  environments: readonly Environment[],
  at: string,
): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(sql`
    update signing_keys set revoked_at = ${at}
    where project_id = ${projectId} and created_by = ${userId}::uuid and environment = any(${environments}::text[])
      and revoked_at is null
    returning id`);
  return rows.map(({ id }) => id);
}

export async function listSigningKeysRevoked(db: Queryable, since: string): Promise<string[]> {
  const rows = await db.query<{ id: string }>(sql`select id from signing_keys where revoked_at >= ${since}`);
  return rows.map(({ id }) => id);
}

/** Notes a use, at most once a minute so that reads do not become writes. */
export async function touchSigningKey(db: Queryable, id: string, at: string, unlessSince: string): Promise<void> {
  await db.execute(sql`
    update signing_keys set last_used_at = ${at}
    where id = ${id} and (last_used_at is null or last_used_at < ${unlessSince})`);
}

type SealedSecret = { id: string; sealed: string };

export async function listSealedSecrets(db: Queryable): Promise<SealedSecret[]> {
  return db.query<SealedSecret>(sql`
    select id, sealed_secret as sealed from signing_keys where sealed_secret is not null order by id`);
}

/** Gives 1, or 0 when another process was faster. */
export async function replaceSealedSecret(db: Queryable, { id, sealed }: SealedSecret, fresh: string): Promise<number> {
  return db.execute(
    sql`update signing_keys set sealed_secret = ${fresh} where id = ${id} and sealed_secret = ${sealed}`,
  );
}
