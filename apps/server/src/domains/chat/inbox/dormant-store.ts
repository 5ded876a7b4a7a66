import type { ProjectScope } from '../../../core/caller.ts';
import type { Db, Tx } from '../../../core/db.ts';
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

/** A pinned entry comes before all of them. */
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

/** A page or badge that looks at so many entries is large. */
const awakeMax = 100;

/** Whether a user has very many entries that are awake: those are counted no further. */
export const hasManyActive = (userId: string): Sql => sql`((select count(*) from (
  select from conversation_members where user_id = ${userId} and active and not dormant
  limit ${raw(String(awakeMax))}) awake) = ${raw(String(awakeMax))})`;

/** One transaction at a time changes which entries a user has. */
export async function lockSums(tx: Tx, { projectId, environment }: ProjectScope, userId: string): Promise<void> {
  await tx.execute(sql`
    insert into dormant_sums (project_id, environment, user_id) values (${projectId}, ${environment}, ${userId})
    on conflict (project_id, environment, user_id) do update set user_id = excluded.user_id`);
}

/** Sums anew over all that a user has; the caller holds the lock. Entries that wake meanwhile stay in them. */
export async function sumUp(tx: Tx, scope: ProjectScope, userId: string): Promise<void> {
  await tx.execute(sql`
    update dormant_sums set (unread_conversations, unread_messages, unread_mentions) = (
      select count(*) filter (where unread > 0), coalesce(sum(unread), 0), coalesce(sum(mentions), 0)
      from dormant_entries where ${ofUser(scope, userId)})
    where ${ofUser(scope, userId)}`);
}

/** Takes what has woken; the caller holds the lock, and sums up. */
export async function forgetWoken(tx: Tx, scope: ProjectScope, userId: string): Promise<void> {
  await tx.execute(sql`delete from dormant_entries where ${ofUser(scope, userId)} and woken`);
}

/** Takes the entries of an erased conversation; gives how many. */
export async function forgetDormantIn(db: Db, conversationId: string, limit: number): Promise<number> {
  const rows = await db.query<ProjectScope & { userId: string }>(sql`
    select project_id as "projectId", environment, user_id as "userId" from dormant_entries
    where conversation_id = ${conversationId} limit ${limit}`);
  for (const { userId, ...scope } of rows)
    await db.transaction(async (tx) => {
      // Not `lockSums`: who was erased meanwhile gets no row anew.
      await tx.query(sql`select from dormant_sums where ${ofUser(scope, userId)} for update`);
      await tx.execute(sql`
        delete from dormant_entries where conversation_id = ${conversationId} and user_id = ${userId}`);
      await sumUp(tx, scope, userId);
    });
  return rows.length;
}

/** For a membership that goes for good: no trigger sees that. */
export async function wakeEntry(tx: Tx, conversationId: string, userId: string): Promise<void> {
  await tx.execute(sql`
    update dormant_entries set woken = true
    where conversation_id = ${conversationId} and user_id = ${userId} and not woken`);
}
