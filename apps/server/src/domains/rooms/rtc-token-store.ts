import type { ParticipantKind, RtcTokenPermissions } from '@parley/contract';
import type { ProjectScope } from '../../core/caller.ts';
import type { Queryable } from '../../core/db.ts';
import { json, sql } from '../../core/sql.ts';
import type { RoomTx } from './room-store.ts';

export interface StoredToken extends ProjectScope {
  id: string;
  roomId: string;
  identity: string;
  kind: ParticipantKind;
  isTest: boolean;
  permissions: RtcTokenPermissions;
  metadata: string | null;
  ttlSeconds: number;
  /** Of the request that minted it. */
  requestId: string | null;
  createdAt: string;
  expiresAt: string;
  revokedAt: string | null;
}

const columns = sql`t.id, t.project_id as "projectId", t.environment, t.room_id as "roomId", t.identity, t.kind,
  t.is_test as "isTest", t.permissions, t.metadata, t.ttl_seconds as "ttlSeconds",
  t.request_id as "requestId", t.created_at as "createdAt",
  t.expires_at as "expiresAt", t.revoked_at as "revokedAt"`;

/** Stores a token if its room is open; undefined when it is not. */
export async function insertToken(
  db: Queryable,
  token: Omit<StoredToken, 'revokedAt'>,
): Promise<StoredToken | undefined> {
  const [row] = await db.query<StoredToken>(sql`
    insert into rtc_tokens as t (id, project_id, environment, room_id, identity, kind, is_test, permissions, metadata,
      ttl_seconds, request_id, created_at, expires_at)
    select ${token.id}, r.project_id, r.environment, r.id, ${token.identity}, ${token.kind}, ${token.isTest},
      ${json(token.permissions)}::jsonb, ${token.metadata}::text, ${token.ttlSeconds}::integer,
      ${token.requestId}::text,
      ${token.createdAt}::timestamptz, ${token.expiresAt}::timestamptz
    from rooms r
    where r.id = ${token.roomId} and r.project_id = ${token.projectId} and r.environment = ${token.environment}
      and r.status = 'ACTIVE'
    for share
    returning ${columns}`);
  return row;
}

export async function findToken(db: Queryable, scope: ProjectScope, id: string): Promise<StoredToken | undefined> {
  const [row] = await db.query<StoredToken>(sql`
    select ${columns} from rtc_tokens t
    where t.id = ${id} and t.project_id = ${scope.projectId} and t.environment = ${scope.environment}`);
  return row;
}

/** The first revocation stays: a second changes nothing. */
export async function updateTokenRevoked(
  tx: RoomTx,
  roomId: string,
  id: string,
  at: string,
): Promise<StoredToken | undefined> {
  const [row] = await tx.query<StoredToken>(sql`
    update rtc_tokens as t set revoked_at = coalesce(t.revoked_at, ${at})
    where t.id = ${id} and t.room_id = ${roomId} returning ${columns}`);
  return row;
}

/** Revokes what is left of a room's tokens, or of one identity's. */
export async function updateTokensRevoked(
  tx: RoomTx,
  roomId: string,
  identity: string | null,
  at: string,
): Promise<void> {
  await tx.execute(sql`
    update rtc_tokens set revoked_at = ${at}
    where room_id = ${roomId} and revoked_at is null and (${identity}::text is null or identity = ${identity}::text)`);
}

/** A longer life for a token that was not revoked. */
export async function updateTokenExpiry(
  db: Queryable,
  id: string,
  expiresAt: string,
): Promise<StoredToken | undefined> {
  const [row] = await db.query<StoredToken>(sql`
    update rtc_tokens as t set expires_at = greatest(t.expires_at, ${expiresAt})
    where t.id = ${id} and t.revoked_at is null returning ${columns}`);
  return row;
}

/** What the token allows from now on, also when it is used to join again. */
export async function updateTokenPermissions(tx: RoomTx, id: string, permissions: RtcTokenPermissions): Promise<void> {
  await tx.execute(sql`update rtc_tokens set permissions = ${json(permissions)}::jsonb where id = ${id}`);
}

export async function deleteTokensExpired(db: Queryable, before: string): Promise<number> {
  return db.execute(sql`delete from rtc_tokens where expires_at < ${before}`);
}
