import type { ProjectScope } from '../../../core/caller.ts';
import type { Queryable, Tx } from '../../../core/db.ts';
import { raw, type Sql, sql } from '../../../core/sql.ts';
import { unreadOfAll } from '../conversations/conversation-store.ts';
import { forgetWoken, lockSums, sumUp } from './dormant-store.ts';
import { activeMemberships, inScope, mentionsOfAll } from './inbox-store.ts';

/** In larger ones a message would wake too many. */
const membersMax = 100;

/** Nothing has happened there for a while, and its member has not set it apart. */
const isAtRest = (before: string): Sql => sql`(not m.dormant and m.active
  and m.pinned_at is null and m.hidden_seq is null and m.muted_at is null
  and c.status = 'ACTIVE' and c.member_count <= ${raw(String(membersMax))}
  and coalesce(c.last_message_at, c.created_at) < ${before}::timestamptz)`;

/** Conversations at rest, without the first of them in the inbox. */
export async function findAtRest(
  db: Queryable,
  scope: ProjectScope,
  { userId, before, kept }: { userId: string; before: string; kept: number },
): Promise<string[]> {
  const rows = await db.query<{ id: string }>(sql`
    select c.id from ${activeMemberships(userId)} where ${inScope(scope)} and ${isAtRest(before)}
    order by coalesce(c.last_message_at, c.created_at) desc, c.id desc offset ${kept}`);
  return rows.map(({ id }) => id);
}

interface Settled {
  userId: string;
  conversationIds: readonly string[];
  before: string;
  now: string;
}

const given = (ids: readonly string[]): Sql => sql`unnest(${ids}::uuid[]) as given (id)`;

/** Those of the given that nobody else changes now. Senders wait for them until the end, and it waits for nobody. */
async function lockFree(tx: Tx, userId: string, ids: readonly string[]): Promise<string[]> {
  const rows = await tx.query<{ id: string }>(sql`
    select given.id from ${given(ids)}
    cross join lateral (
      select from conversations where id = given.id limit 1 for update skip locked) c
    cross join lateral (
      select from conversation_members where conversation_id = given.id and user_id = ${userId} limit 1
      for update skip locked) m`);
  return rows.map(({ id }) => id);
}

/** Makes entries dormant: those of the given that are still at rest once nobody can change them. Gives how many. */
export async function settle(tx: Tx, scope: ProjectScope, wanted: Settled): Promise<number> {
  const conversationIds = await lockFree(tx, wanted.userId, wanted.conversationIds);
  return conversationIds.length === 0 ? 0 : settleLocked(tx, scope, { ...wanted, conversationIds });
}

export async function settleLocked(tx: Tx, scope: ProjectScope, settled: Settled): Promise<number> {
  const { userId, conversationIds, before, now } = settled;
  await lockSums(tx, scope, userId);
  await forgetWoken(tx, scope, userId);
  const [row] = await tx.query<{ count: number }>(sql`
    with due as materialized (
      select c.id, coalesce(c.last_message_at, c.created_at) as at, ${unreadOfAll} as unread, ${mentionsOfAll} as mentions
      from ${given(conversationIds)}
      cross join lateral (select * from conversations where id = given.id limit 1) c
      cross join lateral (
        select * from conversation_members where conversation_id = given.id and user_id = ${userId} limit 1) m
      where ${inScope(scope)} and ${isAtRest(before)}),
    kept as (
      insert into dormant_entries (project_id, environment, user_id, at, conversation_id, unread, mentions, settled_at)
      select ${scope.projectId}::uuid, ${scope.environment}, ${userId}, at, id, unread, mentions, ${now}::timestamptz
      from due),
    flagged as (
      update conversation_members m set dormant = true from due where m.conversation_id = due.id and m.user_id = ${userId}),
    noted as (update conversations c set has_dormant = true from due where c.id = due.id and not c.has_dormant)
    select count(*) as count from due`);
  await sumUp(tx, scope, userId);
  return row?.count ?? 0;
}
