import type { ProjectScope } from '../../../core/caller.ts';
import type { Queryable } from '../../../core/db.ts';
import { raw, type Sql, sql } from '../../../core/sql.ts';
import { hasBlocks } from '../blocks/block-store.ts';

/** Where an entry stands: those that are pinned by when they were, the others by their last activity. */
export type InboxPlace = readonly [isPinned: 0 | 1, at: string, uuid: string];

const ofUser = ({ projectId, environment }: ProjectScope, userId: string): Sql =>
  sql`project_id = ${projectId} and environment = ${environment} and user_id = ${userId}`;

/** The dormant entries `e` of a user with their memberships and conversations, each found by its key (ADR 18). */
export const dormantMemberships = (scope: ProjectScope, userId: string): Sql => sql`(
    select * from dormant_entries where ${ofUser(scope, userId)} and not woken) e
  cross join lateral (select * from conversations where id = e.conversation_id limit 1) c
  cross join lateral (
    select * from conversation_members where conversation_id = e.conversation_id and user_id = e.user_id limit 1) m`;

/** Whoever is pinned comes before all of them. */
export const isDormantAfter = (after: InboxPlace | null): Sql =>
  after === null || after[0] === 1
    ? sql`true`
    : sql`(e.at, e.conversation_id) < (${after[1]}::timestamptz, ${after[2]}::uuid)`;

/** What is unread in dormant entries, where nobody is blocked: the sums of all, less what has woken since. */
export const dormantSums = (scope: ProjectScope, userId: string): Sql => sql`
  select unread_conversations, unread_messages, unread_mentions from dormant_sums
  where ${ofUser(scope, userId)} and not ${hasBlocks(scope, userId)}
  union all
  select case when unread > 0 then -1 else 0 end, -unread, -mentions from dormant_entries
  where ${ofUser(scope, userId)} and woken and not ${hasBlocks(scope, userId)}`;

/** The same behind a place. */
export const dormantRest = (scope: ProjectScope, userId: string, after: InboxPlace): Sql => sql`
  select case when unread > 0 then 1 else 0 end, unread, mentions from dormant_entries e
  where ${ofUser(scope, userId)} and not woken and ${isDormantAfter(after)} and not ${hasBlocks(scope, userId)}`;

/** Memberships that went dormant since then: nothing has changed in those that were before. */
export const settledSince = (scope: ProjectScope, userId: string, since: string): Sql => sql`(
    select conversation_id as id from dormant_entries
    where ${ofUser(scope, userId)} and not woken and settled_at >= ${since}) e
  cross join lateral (
    select * from conversation_members where conversation_id = e.id and user_id = ${userId} limit 1) m`;

/** What rows of entries add to the sums of their user. */
export const sumColumns = raw(`count(*) filter (where unread > 0) as conversations,
  coalesce(sum(unread), 0) as messages, coalesce(sum(mentions), 0) as mentions`);

/** Takes some entries of an erased conversation, and them out of the sums; gives how many. */
export async function forgetDormantIn(db: Queryable, conversationId: string, limit: number): Promise<number> {
  return db.execute(sql`
    with gone as (
      delete from dormant_entries where ctid = any(array(
        select ctid from dormant_entries where conversation_id = ${conversationId} limit ${limit}))
      returning *)
    update dormant_sums s set unread_conversations = s.unread_conversations - g.conversations,
      unread_messages = s.unread_messages - g.messages, unread_mentions = s.unread_mentions - g.mentions
    from (select project_id, environment, user_id, ${sumColumns} from gone group by 1, 2, 3) g
    where s.project_id = g.project_id and s.environment = g.environment and s.user_id = g.user_id`);
}
