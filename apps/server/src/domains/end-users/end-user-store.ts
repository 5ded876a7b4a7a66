import type { ProjectScope } from '../../core/caller.ts';
import type { Queryable, Tx } from '../../core/db.ts';
import type { Person } from '../../core/personal-data.ts';
import { empty, few, json, sql } from '../../core/sql.ts';
import { erasedMark } from './erased-names.ts';

/** A user who was shut out at some time. */
export interface StoredEndUser extends ProjectScope {
  userId: string;
  revokedAt: string;
  bannedUntil: string | null;
  reason: string | null;
}

const columns = sql`u.project_id as "projectId", u.environment, u.user_id as "userId", u.revoked_at as "revokedAt",
  u.banned_until as "bannedUntil", u.reason`;

/** What is known of a user under any of their names (`erased-names.ts`), as one. */
export async function findEndUser(
  db: Queryable,
  { projectId, environment }: ProjectScope,
  names: readonly string[],
): Promise<StoredEndUser | undefined> {
  const rows = await db.query<StoredEndUser>(sql`
    select ${columns} from end_users u
    where u.project_id = ${projectId} and u.environment = ${environment} and u.user_id = any(${names})`);
  const [userId = ''] = names;
  return rows.reduce<StoredEndUser | undefined>((one, other) => merged(userId, one, other), undefined);
}

/** Somebody by all of their names. */
export interface Named extends ProjectScope {
  names: readonly string[];
}

/** The same of many at once, each row gone to: only the primary key has this order (ADR 18). */
export async function findEndUsers(db: Queryable, many: readonly Named[]): Promise<(StoredEndUser | undefined)[]> {
  const asked = many.flatMap(({ projectId, environment, names }, at) =>
    names.map((name) => ({ at, projectId, environment, name })),
  );
  const rows = await db.query<StoredEndUser & { at: number }>(sql`
    select k.at, ${columns}
    from ${few(
      sql`jsonb_to_recordset(${json(asked)}::jsonb) as k (at int, "projectId" uuid, environment text, name text)`,
      asked.length,
    )} k
    cross join lateral (
      select * from end_users
      where project_id = k."projectId" and environment = k.environment and user_id >= k.name
      order by user_id limit 1) u
    where u.user_id = k.name`);
  const found: (StoredEndUser | undefined)[] = many.map(() => undefined);
  for (const { at, ...row } of rows) found[at] = merged(many[at]?.names[0] ?? '', found[at], row);
  return found;
}

const later = <T extends string | null>(one: T, other: T): T => ((one ?? '') > (other ?? '') ? one : other);

const merged = (userId: string, one: StoredEndUser | undefined, other: StoredEndUser): StoredEndUser => ({
  ...other,
  userId,
  revokedAt: later(one?.revokedAt ?? '', other.revokedAt),
  bannedUntil: later(one?.bannedUntil ?? null, other.bannedUntil),
  reason: one?.reason ?? other.reason,
});

/** Puts a sealed name in the place of a user's: what is void stays void, and a ban a ban. */
export async function renameEndUser(tx: Tx, person: Person, names: readonly string[], at: string): Promise<void> {
  const [, sealed = ''] = names;
  const { projectId, environment, userId } = person;
  await tx.execute(sql`
    insert into end_users as u (project_id, environment, user_id, revoked_at, banned_until)
    select ${projectId}, ${environment}, ${sealed}, ${at}::timestamptz, (
      select max(banned_until) from end_users
      where project_id = ${projectId} and environment = ${environment} and user_id = any(${names}))
    on conflict (project_id, environment, user_id) do update set
      revoked_at = greatest(u.revoked_at, excluded.revoked_at),
      banned_until = greatest(u.banned_until, excluded.banned_until)`);
  await tx.execute(sql`
    delete from end_users
    where project_id = ${projectId} and environment = ${environment} and user_id = ${userId}`);
}

export async function isStored(db: Queryable, { projectId, environment, userId }: Person): Promise<boolean> {
  const rows = await db.query(sql`
    select 1 as one from end_users
    where project_id = ${projectId} and environment = ${environment} and user_id = ${userId}`);
  return rows.length > 0;
}

/** Voids what was issued so far. A ban and its reason stay unless new ones are given. */
export async function upsertRevoked(db: Queryable, user: StoredEndUser): Promise<StoredEndUser> {
  const [row] = await db.query<StoredEndUser>(sql`
    insert into end_users as u (project_id, environment, user_id, revoked_at, banned_until, reason)
    values (${user.projectId}, ${user.environment}, ${user.userId}, ${user.revokedAt}, ${user.bannedUntil}, ${user.reason})
    on conflict (project_id, environment, user_id) do update set
      revoked_at = greatest(u.revoked_at, excluded.revoked_at),
      banned_until = coalesce(excluded.banned_until, u.banned_until), reason = coalesce(excluded.reason, u.reason)
    returning ${columns}`);
  return row as StoredEndUser;
}

/** True when there was a ban in force. */
export async function updateUnbanned(
  db: Queryable,
  { projectId, environment }: ProjectScope,
  names: readonly string[],
  now: string,
): Promise<boolean> {
  const touched = await db.execute(sql`
    update end_users set banned_until = null, reason = null
    where project_id = ${projectId} and environment = ${environment} and user_id = any(${names})
      and banned_until > ${now}`);
  return touched > 0;
}

/** Latest first, from after a position. */
export async function listEndUsers(
  db: Queryable,
  { projectId, environment }: ProjectScope,
  { bannedAt, after, limit }: { bannedAt: string | null; after: readonly [string, string] | null; limit: number },
): Promise<StoredEndUser[]> {
  return db.query<StoredEndUser>(sql`
    select ${columns} from end_users u
    where u.project_id = ${projectId} and u.environment = ${environment} and left(u.user_id, 1) <> ${erasedMark}
      ${bannedAt === null ? empty : sql`and u.banned_until > ${bannedAt}`}
      ${after === null ? empty : sql`and (u.revoked_at, u.user_id) < (${after[0]}, ${after[1]})`}
    order by u.revoked_at desc, u.user_id desc limit ${limit}`);
}

/** Who was shut out since, in any project. */
export async function listRevokedSince(db: Queryable, since: string): Promise<StoredEndUser[]> {
  return db.query<StoredEndUser>(sql`select ${columns} from end_users u where u.revoked_at >= ${since}`);
}

/** Those who are not banned, and of whose tokens none can be left. */
export async function deleteExpiredEndUsers(
  db: Queryable,
  now: string,
  revokedBefore: string,
  limit: number,
): Promise<number> {
  return db.execute(sql`
    delete from end_users where ctid = any(array(
      select ctid from end_users
      where revoked_at < ${revokedBefore} and (banned_until is null or banned_until < ${now})
      order by revoked_at limit ${limit}))`);
}
