import type { ChatUser } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import type { Queryable, Tx } from '../../../core/db.ts';
import { empty, json, type Sql, sql } from '../../../core/sql.ts';

const columns = sql`u.user_id as "userId", u.name, u.avatar_url as "avatarUrl", u.role, u.metadata,
  u.created_at as "createdAt", u.updated_at as "updatedAt"`;

const inScope = ({ projectId, environment }: ProjectScope): Sql =>
  sql`u.project_id = ${projectId} and u.environment = ${environment}`;

/** A field that is undefined stays as it is. */
export interface UserDraft {
  userId: string;
  name?: string | null | undefined;
  avatarUrl?: string | null | undefined;
  role?: string | null | undefined;
  metadata?: object | undefined;
}

/** Writes users under one set of fields, in the order of their ids; gives those that are new or were changed. */
export async function upsertUsers(
  tx: Tx,
  { projectId, environment }: ProjectScope,
  drafts: readonly UserDraft[],
  fields: readonly ('name' | 'avatarUrl' | 'role' | 'metadata')[],
  at: string,
): Promise<(ChatUser & { isNew: boolean })[]> {
  const kept = (field: (typeof fields)[number], column: Sql): Sql =>
    fields.includes(field) ? sql`excluded.${column}` : sql`u.${column}`;
  const values = sql`${kept('name', sql`name`)}, ${kept('avatarUrl', sql`avatar_url`)}, ${kept('role', sql`role`)},
    ${kept('metadata', sql`metadata`)}`;
  return tx.query(sql`
    insert into chat_users as u (project_id, environment, user_id, name, avatar_url, role, metadata, created_at, updated_at)
    select ${projectId}::uuid, ${environment}, i."userId", i.name, i."avatarUrl", i.role, coalesce(i.metadata, '{}'),
           ${at}::timestamptz, ${at}::timestamptz
    from jsonb_to_recordset(${json(drafts)}::jsonb) as i (
      "userId" text, name text, "avatarUrl" text, role text, metadata jsonb)
    order by i."userId"
    on conflict (project_id, environment, user_id) do update
      set (name, avatar_url, role, metadata) = (${values}), updated_at = greatest(u.updated_at, excluded.updated_at)
      where (u.name, u.avatar_url, u.role, u.metadata) is distinct from (${values})
    returning ${columns}, u.xmax = 0 as "isNew"`);
}

export async function deleteUser(tx: Tx, scope: ProjectScope, userId: string): Promise<boolean> {
  return (await tx.execute(sql`delete from chat_users u where ${inScope(scope)} and u.user_id = ${userId}`)) > 0;
}

export async function findUsers(db: Queryable, scope: ProjectScope, ids: readonly string[]): Promise<ChatUser[]> {
  return db.query(sql`select ${columns} from chat_users u where ${inScope(scope)} and u.user_id = any(${ids}::text[])`);
}

export async function listUsers(
  db: Queryable,
  scope: ProjectScope,
  after: string | null,
  limit: number,
): Promise<ChatUser[]> {
  return db.query(sql`
    select ${columns} from chat_users u
    where ${inScope(scope)} ${after === null ? empty : sql`and u.user_id > ${after}`}
    order by u.user_id limit ${limit}`);
}

/**
 * Those of these users who are active in a conversation that counts: for a viewer one that they are active in, too, and
 * that their token lists. Each is looked up by itself and ends with the first that is found.
 */
export async function findSharing(
  db: Queryable,
  { projectId, environment }: ProjectScope,
  ids: readonly string[],
  viewer: { userId: string; listed: readonly string[] | null } | null,
): Promise<Set<string>> {
  const rows = await db.query<{ id: string }>(sql`
    select w.id from unnest(${ids}::text[]) as w (id)
    where exists (
      select from conversation_members m join conversations c on c.id = m.conversation_id
      where m.user_id = w.id and m.active
        and c.project_id = ${projectId} and c.environment = ${environment} and c.status <> 'DELETED'
        ${viewer?.listed ? sql`and c.public_id = any(${viewer.listed}::text[])` : empty}
        ${
          viewer === null
            ? empty
            : sql`and exists (select from conversation_members own
                where own.conversation_id = m.conversation_id and own.user_id = ${viewer.userId} and own.active)`
        })`);
  return new Set(rows.map(({ id }) => id));
}

/** Which of these users are active in which of these conversations. */
export async function findMemberships(
  db: Queryable,
  userIds: readonly string[],
  uuids: readonly string[],
): Promise<{ userId: string; uuid: string }[]> {
  return db.query(sql`
    select user_id as "userId", conversation_id as uuid from conversation_members
    where user_id = any(${userIds}::text[]) and conversation_id = any(${uuids}::uuid[]) and active`);
}
