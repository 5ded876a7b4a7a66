import type { ChatBlock } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import type { Queryable, Tx } from '../../../core/db.ts';
import { empty, raw, type Sql, sql } from '../../../core/sql.ts';

const columns = sql`b.user_id as "userId", b.blocked_id as "blockedId", b.created_at as "createdAt"`;

/**
 * Whom the member `m` of `c` has blocked, as `b`. One probe of an index for who has blocked nobody. The order is that of
 * the index by user: a plan that was made on an empty table must not walk the blocks of everybody (ADR 18).
 */
const blocksOfMember = raw(`(
  select l.blocked_id from chat_blocks l
  where l.project_id = c.project_id and l.environment = c.environment and l.user_id = m.user_id
  order by l.created_at desc, l.blocked_id desc limit 100000) b`);

/**
 * Whether one user has blocked another, in the environment of `c`: the first block from there on is the one. Only the
 * primary key has that order: no plan walks all who have blocked the other, and none makes a join of it.
 */
const isBlock = (user: string, blocked: string): string => `coalesce((
  select b.user_id = ${user} and b.blocked_id = ${blocked} from chat_blocks b
  where b.project_id = c.project_id and b.environment = c.environment
    and (b.user_id, b.blocked_id) >= (${user}, ${blocked}) order by b.user_id, b.blocked_id limit 1), false)`;

/** Messages after the mark of `m` in `c` that are no news to them: of people they have blocked. */
export const unreadOfBlocked = sql`(select count(*) from ${blocksOfMember}
  cross join lateral (
    select from messages o where o.conversation_id = c.id and o.sender_id = b.blocked_id
      and o.position > m.last_read_position and o.deleted_at is null
      and o.seq > greatest(m.last_read_seq, c.retired_seq)) o)`;

/** Whether a user has blocked anybody: asked once for a statement, as it says nothing of its rows. */
export const hasBlocks = ({ projectId, environment }: ProjectScope, userId: string): Sql => sql`coalesce((
  select true from chat_blocks l
  where l.project_id = ${projectId} and l.environment = ${environment} and l.user_id = ${userId}
  order by l.created_at desc, l.blocked_id desc limit 1), false)`;

/** Whether the member `m` of `c` has blocked this sender. */
export const hasBlocked = (sender: string): Sql => raw(isBlock('m.user_id', sender));

/** Whom the member `m` of `c` has blocked, for those who count on by themselves. */
export const blockedIds = sql`array(select b.blocked_id from ${blocksOfMember})`;

/**
 * Whether `c` is the direct conversation of two people of whom one has blocked the other. `case`, so that others are
 * not asked any further.
 */
export const isSilenced = raw(`(case when c.type = 'DIRECT' then coalesce((
  select count(*) = 2 and (${isBlock('min(p.user_id)', 'max(p.user_id)')} or ${isBlock('max(p.user_id)', 'min(p.user_id)')})
  from (select user_id from conversation_members where conversation_id = c.id limit 3) p), false) else false end)`);

/** One change of a user's blocks at a time; a second statement sees what was committed while this waited. */
export async function lockBlocker(
  tx: Tx,
  { projectId, environment }: ProjectScope,
  userId: string,
  at: string,
): Promise<void> {
  await tx.execute(sql`
    insert into chat_blockers as k (project_id, environment, user_id, changed_at)
    values (${projectId}, ${environment}, ${userId}, ${at})
    on conflict (project_id, environment, user_id) do update set changed_at = greatest(k.changed_at, excluded.changed_at)`);
}

export async function findBlock(
  db: Queryable,
  { projectId, environment }: ProjectScope,
  userId: string,
  blockedId: string,
): Promise<ChatBlock | undefined> {
  const [row] = await db.query<ChatBlock>(sql`
    select ${columns} from chat_blocks b
    where b.project_id = ${projectId} and b.environment = ${environment} and b.user_id = ${userId}
      and b.blocked_id = ${blockedId}`);
  return row;
}

/** Undefined when the user has blocked as many as they may; the caller holds the blocker's lock. */
export async function insertBlock(
  tx: Tx,
  { projectId, environment }: ProjectScope,
  { userId, blockedId, createdAt }: ChatBlock,
  max: number,
): Promise<ChatBlock | undefined> {
  const [row] = await tx.query<ChatBlock>(sql`
    insert into chat_blocks as b (project_id, environment, user_id, blocked_id, created_at)
    select ${projectId}, ${environment}, ${userId}, ${blockedId}, ${createdAt}
    where ${max} > (select count(*) from chat_blocks
      where project_id = ${projectId} and environment = ${environment} and user_id = ${userId})
    returning ${columns}`);
  return row;
}

export async function deleteBlock(
  tx: Tx,
  { projectId, environment }: ProjectScope,
  userId: string,
  blockedId: string,
): Promise<ChatBlock | undefined> {
  const [row] = await tx.query<ChatBlock>(sql`
    delete from chat_blocks b
    where b.project_id = ${projectId} and b.environment = ${environment} and b.user_id = ${userId}
      and b.blocked_id = ${blockedId}
    returning ${columns}`);
  return row;
}

interface BlockPage {
  userId: string;
  after: readonly [createdAt: string, blockedId: string] | null;
  limit: number;
}

/** Latest first. */
export async function listBlocks(
  db: Queryable,
  { projectId, environment }: ProjectScope,
  { userId, after, limit }: BlockPage,
): Promise<ChatBlock[]> {
  return db.query<ChatBlock>(sql`
    select ${columns} from chat_blocks b
    where b.project_id = ${projectId} and b.environment = ${environment} and b.user_id = ${userId}
      ${after === null ? empty : sql`and (b.created_at, b.blocked_id) < (${after[0]}::timestamptz, ${after[1]})`}
    order by b.created_at desc, b.blocked_id desc limit ${limit}`);
}

/** Whether one of the two has blocked the other. */
export async function isBetween(
  db: Queryable,
  { projectId, environment }: ProjectScope,
  one: string,
  other: string,
): Promise<boolean> {
  const rows = await db.query(sql`
    select from (select ${projectId}::uuid as project_id, ${environment}::text as environment, ${one}::text as one,
      ${other}::text as other) c
    where ${raw(isBlock('c.one', 'c.other'))} or ${raw(isBlock('c.other', 'c.one'))}`);
  return rows.length > 0;
}

/** Conversations that both are, or were, in; each is found by its key (ADR 18). */
const shared = ({ projectId, environment }: ProjectScope, one: string, other: string): Sql => sql`
  (select * from conversation_members where user_id = ${one}) m
  cross join lateral (
    select from conversation_members where conversation_id = m.conversation_id and user_id = ${other} limit 1) o
  cross join lateral (select * from conversations where id = m.conversation_id limit 1) c
  where c.project_id = ${projectId} and c.environment = ${environment} and c.status <> 'DELETED'`;

/** Locks their direct conversations, in one order: who sends there is before this, or sees what comes of it. */
export async function lockDirect(
  tx: Tx,
  scope: ProjectScope,
  one: string,
  other: string,
): Promise<{ id: string; publicId: string }[]> {
  const found = await tx.query<{ id: string; publicId: string }>(sql`
    select c.id, c.public_id as "publicId" from ${shared(scope, one, other)} and c.type = 'DIRECT' order by c.id`);
  for (const { id } of found) await tx.query(sql`select from conversations where id = ${id} for update`);
  return found;
}

/** Of direct conversations: those in which the two are silent to each other now. */
export async function findSilenced(db: Queryable, uuids: readonly string[]): Promise<Set<string>> {
  const rows = await db.query<{ id: string }>(sql`
    select c.id from conversations c where c.id = any(${uuids}::uuid[]) and ${isSilenced}`);
  return new Set(rows.map(({ id }) => id));
}

/** Conversations in which what is unread changes with the block: the other has written after the user's mark. */
export async function findConcerned(
  db: Queryable,
  scope: ProjectScope,
  userId: string,
  blockedId: string,
): Promise<string[]> {
  const rows = await db.query<{ publicId: string }>(sql`
    select c.public_id as "publicId" from ${shared(scope, userId, blockedId)} and m.active
      and c.last_position > m.last_read_position and exists (
        select from messages d where d.conversation_id = c.id and d.sender_id = ${blockedId}
          and d.position > m.last_read_position and d.deleted_at is null)`);
  return rows.map(({ publicId }) => publicId);
}

/** Whether the user's blocks changed since then. */
export async function haveChanged(
  db: Queryable,
  { projectId, environment }: ProjectScope,
  userId: string,
  since: string,
): Promise<boolean> {
  const rows = await db.query(sql`
    select from chat_blockers where project_id = ${projectId} and environment = ${environment}
      and user_id = ${userId} and changed_at >= ${since}`);
  return rows.length > 0;
}
