import type { ProjectScope } from '../../../core/caller.ts';
import type { Queryable, Tx } from '../../../core/db.ts';
import { type Sql, sql } from '../../../core/sql.ts';
import { lockConversations, unreadOfAll } from '../conversations/conversation-store.ts';
import { sumColumns } from './dormant-store.ts';
import { awakeMemberships, inScope, mentionsOfAll } from './inbox-store.ts';

/** Nothing has happened there for a while, and its member has not set it apart. */
const isAtRest = (before: string): Sql => sql`(not m.dormant and m.active
  and m.pinned_at is null and m.hidden_seq is null and m.muted_at is null
  and c.status = 'ACTIVE' and coalesce(c.last_message_at, c.created_at) < ${before}::timestamptz)`;

/** Conversations at rest, without those of a user's last activity. */
export async function findAtRest(
  db: Queryable,
  scope: ProjectScope,
  { userId, before, kept }: { userId: string; before: string; kept: number },
): Promise<string[]> {
  const rows = await db.query<{ id: string }>(sql`
    select c.id from ${awakeMemberships(userId)} where ${inScope(scope)} and ${isAtRest(before)}
    order by coalesce(c.last_message_at, c.created_at) desc, c.id desc offset ${kept}`);
  return rows.map(({ id }) => id);
}

interface Settled {
  userId: string;
  conversationIds: readonly string[];
  before: string;
  now: string;
}

/** One transaction at a time settles entries of a user, and until it ends nobody wakes those that are given. */
async function lock(
  tx: Tx,
  { projectId, environment }: ProjectScope,
  { userId, conversationIds }: Settled,
): Promise<void> {
  await tx.execute(sql`
    insert into dormant_sums (project_id, environment, user_id) values (${projectId}, ${environment}, ${userId})
    on conflict (project_id, environment, user_id) do update set user_id = excluded.user_id`);
  await tx.query(lockConversations(conversationIds));
  await tx.query(sql`
    select from ${givenIds(conversationIds)} cross join lateral (
      select from conversation_members where conversation_id = given.id and user_id = ${userId} limit 1 for update) m`);
}

/** What has woken is no longer in the sums. */
async function forgetWoken(tx: Tx, { projectId, environment }: ProjectScope, userId: string): Promise<void> {
  await tx.execute(sql`
    with gone as (
      delete from dormant_entries
      where project_id = ${projectId} and environment = ${environment} and user_id = ${userId} and woken
      returning unread, mentions)
    update dormant_sums s set unread_conversations = s.unread_conversations - g.conversations,
      unread_messages = s.unread_messages - g.messages, unread_mentions = s.unread_mentions - g.mentions
    from (select ${sumColumns} from gone) g
    where s.project_id = ${projectId} and s.environment = ${environment} and s.user_id = ${userId}`);
}

const givenIds = (conversationIds: readonly string[]): Sql => sql`unnest(${conversationIds}::uuid[]) as given (id)`;

/** Makes entries dormant: those of the given that are still at rest once nobody can change them. Gives how many. */
export async function settle(tx: Tx, scope: ProjectScope, settled: Settled): Promise<number> {
  const { projectId, environment } = scope;
  const { userId, conversationIds, before, now } = settled;
  await lock(tx, scope, settled);
  await forgetWoken(tx, scope, userId);
  const [row] = await tx.query<{ count: number }>(sql`
    with due as materialized (
      select c.id, coalesce(c.last_message_at, c.created_at) as at, ${unreadOfAll} as unread, ${mentionsOfAll} as mentions
      from ${givenIds(conversationIds)}
      cross join lateral (select * from conversations where id = given.id limit 1) c
      cross join lateral (
        select * from conversation_members where conversation_id = given.id and user_id = ${userId} limit 1) m
      where ${inScope(scope)} and ${isAtRest(before)}),
    kept as (
      insert into dormant_entries (project_id, environment, user_id, at, conversation_id, unread, mentions, settled_at)
      select ${projectId}::uuid, ${environment}, ${userId}, at, id, unread, mentions, ${now}::timestamptz from due),
    flagged as (
      update conversation_members m set dormant = true from due where m.conversation_id = due.id and m.user_id = ${userId}),
    noted as (update conversations c set has_dormant = true from due where c.id = due.id and not c.has_dormant),
    summed as (
      update dormant_sums s set unread_conversations = s.unread_conversations + d.conversations,
        unread_messages = s.unread_messages + d.messages, unread_mentions = s.unread_mentions + d.mentions
      from (select ${sumColumns} from due) d
      where s.project_id = ${projectId} and s.environment = ${environment} and s.user_id = ${userId})
    select count(*) as count from due`);
  return row?.count ?? 0;
}
