import type { Environment, ParticipantKind, RtcTokenPermissions } from '@parley/contract';
import type { ProjectScope } from '../../core/caller.ts';
import type { Queryable } from '../../core/db.ts';
import { empty, json, type Sql, sql } from '../../core/sql.ts';
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
  /** The API key that minted it, or the signing key; null for a test token, or before keys were noted. */
  keyId: string | null;
  /** The member who minted it from the dashboard. */
  memberId: string | null;
  /** Of the request that minted it. */
  requestId: string | null;
  /** Of a token that was signed offline: what it said when it was first used. */
  claimsHash: Buffer | null;
  createdAt: string;
  expiresAt: string;
  revokedAt: string | null;
}

/** What a token allows that was minted before there was `updateMetadata` is read with it. */
const columns = sql`t.id, t.project_id as "projectId", t.environment, t.room_id as "roomId", t.identity, t.kind,
  t.is_test as "isTest", '{"updateMetadata":false}'::jsonb || t.permissions as permissions, t.metadata, t.ttl_seconds as "ttlSeconds",
  t.api_key_id as "keyId", t.member_id as "memberId", t.request_id as "requestId", t.claims_hash as "claimsHash", t.created_at as "createdAt",
  t.expires_at as "expiresAt", t.revoked_at as "revokedAt"`;

/** Stores a token if its room is open and its id is new; undefined otherwise. */
export async function insertToken(
  db: Queryable,
  token: Omit<StoredToken, 'revokedAt'>,
): Promise<StoredToken | undefined> {
  const [row] = await db.query<StoredToken>(sql`
    insert into rtc_tokens as t (id, project_id, environment, room_id, identity, kind, is_test, permissions, metadata,
      ttl_seconds, api_key_id, member_id, request_id, claims_hash, created_at, expires_at)
    select ${token.id}, r.project_id, r.environment, r.id, ${token.identity}, ${token.kind}, ${token.isTest},
      ${json(token.permissions)}::jsonb, ${token.metadata}::text, ${token.ttlSeconds}::integer,
      ${token.keyId}::text, ${token.memberId}::uuid, ${token.requestId}::text, ${token.claimsHash}::bytea,
      ${token.createdAt}::timestamptz, ${token.expiresAt}::timestamptz
    from rooms r
    where r.id = ${token.roomId} and r.project_id = ${token.projectId} and r.environment = ${token.environment}
      and r.status = 'ACTIVE'
    for share
    on conflict (id) do nothing
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

/** Which tokens: one identity's, or those that were minted by keys or by a member. */
export type TokenChoice = { identity: string } | { keyIds: readonly string[] } | { memberId: string };

function chosen(choice: TokenChoice): Sql {
  if ('identity' in choice) return sql`t.identity = ${choice.identity}`;
  if ('keyIds' in choice) return sql`t.api_key_id = any(${choice.keyIds}::text[])`;
  return sql`t.member_id = ${choice.memberId}::uuid`;
}

/** Revokes what is left of a room's tokens, all or some; gives their ids. */
export async function updateTokensRevoked(
  tx: RoomTx,
  roomId: string,
  choice: TokenChoice | { all: true },
  at: string,
): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(sql`
    update rtc_tokens as t set revoked_at = ${at}
    where t.room_id = ${roomId} and t.revoked_at is null ${'all' in choice ? empty : sql`and ${chosen(choice)}`}
    returning t.id`);
  return rows.map(({ id }) => id);
}

/** Rooms for which such tokens are, or were a moment ago, good for something. */
export async function listRoomsOfTokens(
  db: Queryable,
  { projectId, environment }: { projectId: string; environment: Environment | null },
  choice: TokenChoice,
  expiredAfter: string,
): Promise<(ProjectScope & { id: string })[]> {
  return db.query(sql`
    select distinct t.room_id as id, t.project_id as "projectId", t.environment from rtc_tokens t
    where t.project_id = ${projectId} ${environment === null ? empty : sql`and t.environment = ${environment}`}
      and t.revoked_at is null and t.expires_at > ${expiredAfter} and ${chosen(choice)} order by t.room_id`);
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

export async function deleteTokensExpired(db: Queryable, before: string, limit: number): Promise<number> {
  return db.execute(sql`
    delete from rtc_tokens where ctid = any(array(
      select ctid from rtc_tokens where expires_at < ${before} order by expires_at limit ${limit}))`);
}

/** From now on the identity's tokens are void for the room, also those that nobody has shown yet. */
export async function upsertCutoff(tx: RoomTx, roomId: string, identity: string, at: string): Promise<void> {
  await tx.execute(sql`
    insert into rtc_token_cutoffs as c (room_id, identity, cut_at) values (${roomId}, ${identity}, ${at})
    on conflict (room_id, identity) do update set cut_at = greatest(c.cut_at, excluded.cut_at)`);
}

/** Whether the token was signed before its identity was cut off from the room. */
export async function isCutOff(tx: Queryable, { roomId, identity, createdAt }: StoredToken): Promise<boolean> {
  const rows = await tx.query(sql`
    select room_id from rtc_token_cutoffs
    where room_id = ${roomId} and identity = ${identity} and cut_at >= ${createdAt}`);
  return rows.length === 1;
}

export async function deleteCutoffs(db: Queryable, before: string, limit: number): Promise<number> {
  return db.execute(sql`
    delete from rtc_token_cutoffs where ctid = any(array(
      select ctid from rtc_token_cutoffs where cut_at < ${before} order by cut_at limit ${limit}))`);
}
