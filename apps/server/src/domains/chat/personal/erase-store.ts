import type { Message } from '@parley/contract';
import type { Db, Queryable, Tx } from '../../../core/db.ts';
import { type Erasure, needleOf, type Place, placeAfter, withoutPerson } from '../../../core/personal-data.ts';
import { empty, json, raw, sql } from '../../../core/sql.ts';
import { wakeEntry } from '../inbox/dormant-store.ts';
import { messageJson } from '../messages/json-store.ts';
import { markForSearch } from '../search/index-store.ts';

/** A message of the user that is to go, or to be nobody's. */
export interface OwnMessage {
  id: string;
  position: number;
  threadRootId: string | null;
  isDeleted: boolean;
  editedAt: string | null;
}

/**
 * Takes the user's name off some of their messages in a conversation whose row is locked; gives them. Their files
 * expire with it. What names the message to its sender's devices goes too.
 */
export async function anonymizeMessages(
  tx: Tx,
  conversationId: string,
  { userId, pseudonym }: Erasure,
  at: string,
  limit: number,
): Promise<OwnMessage[]> {
  const rows = await tx.query<OwnMessage>(sql`
    update messages set sender_id = ${pseudonym}, client_message_id = null, client_sent_at = null,
      deleted_by = case when deleted_by = ${userId} then ${pseudonym} else deleted_by end
    where conversation_id = ${conversationId} and position = any(array(
      select position from messages where conversation_id = ${conversationId} and sender_id = ${userId}
      order by position limit ${limit}))
    returning id, position, thread_root_id as "threadRootId", deleted_at is not null as "isDeleted",
      edited_at as "editedAt"`);
  if (rows.length > 0)
    await tx.execute(sql`
      update attachments set status = 'EXPIRED', expires_at = ${at}
      where conversation_id = ${conversationId} and message_id = any(${rows.map(({ id }) => id)})`);
  return rows.sort((one, other) => one.position - other.position);
}

/** Nobody's message from here on, under its change number. What the sender noted of themselves goes with the name. */
export async function anonymizeMessage(
  tx: Tx,
  conversationId: string,
  position: number,
  erasure: Erasure,
  change: number,
): Promise<Message> {
  const [found] = await tx.query<{ metadata: object }>(sql`
    select metadata from messages where conversation_id = ${conversationId} and position = ${position}`);
  const [row] = await tx.query<{ message: Message }>(sql`
    with ${markForSearch({ conversationUuid: conversationId, position })} m as (
      update messages set change = ${change}, metadata = ${json(withoutPerson(found?.metadata ?? {}, erasure))}::jsonb
      where conversation_id = ${conversationId} and position = ${position} returning *)
    select ${messageJson(null)} as message from m join conversations c on c.id = m.conversation_id`);
  if (!row) throw new Error('a locked message was not there');
  return row.message;
}

/** Who deleted others' messages is nobody. */
export async function renameDeleter(tx: Tx, conversationId: string, erasure: Erasure): Promise<void> {
  await tx.execute(sql`
    update messages set deleted_by = ${erasure.pseudonym}
    where conversation_id = ${conversationId} and deleted_at is not null and deleted_by = ${erasure.userId}`);
}

/** What a direct conversation is found by is made of the ids of its people. */
export async function forgetDirectKey(tx: Tx, conversationId: string): Promise<void> {
  await tx.execute(sql`
    update conversations set direct_key = null where id = ${conversationId} and direct_key is not null`);
}

/** Others' messages stay; that they mention the user does not. Some of them: gives how many. */
export async function forgetMentions(tx: Tx, conversationId: string, erasure: Erasure, limit: number): Promise<number> {
  const rows = await tx.query<{ position: number; mentions: unknown }>(sql`
    with gone as (
      delete from message_mentions where conversation_id = ${conversationId} and user_id = ${erasure.userId}
        and position = any(array(
          select position from message_mentions
          where conversation_id = ${conversationId} and user_id = ${erasure.userId} order by position limit ${limit}))
      returning position)
    select gone.position, m.mentions from gone
    left join messages m on m.conversation_id = ${conversationId} and m.position = gone.position`);
  for (const { position, mentions } of rows)
    await tx.execute(sql`
      update messages set mentions = ${mentions === null ? null : json(withoutPerson(mentions, erasure))}::jsonb
      where conversation_id = ${conversationId} and position = ${position}`);
  return rows.length;
}

/** Tables with a row for each conversation and user. Members first: who is none writes nothing more. */
const tablesOfMembers = ['conversation_members', 'chat_drafts', 'message_mentions'] as const;
/** Tables with rows of a user in an environment. */
const tablesOfUsers = [
  'chat_users',
  'chat_connections',
  'chat_sanctions',
  'chat_deletions',
  'chat_blocks',
  'chat_blockers',
  'dormant_entries',
  'dormant_sums',
] as const;

export async function deleteMemberRows(tx: Tx, conversationId: string, userId: string): Promise<void> {
  for (const table of tablesOfMembers)
    await tx.execute(sql`
      delete from ${raw(table)} where conversation_id = ${conversationId} and user_id = ${userId}`);
  await wakeEntry(tx, conversationId, userId);
}

export async function deleteUserRows(
  db: Queryable,
  { projectId, environment, userId }: Erasure,
  limit: number,
): Promise<number> {
  let deleted = 0;
  for (const table of tablesOfUsers)
    deleted += await db.execute(sql`
      delete from ${raw(table)} where ctid = any(array(
        select ctid from ${raw(table)}
        where project_id = ${projectId} and environment = ${environment} and user_id = ${userId} limit ${limit}))`);
  return deleted;
}

/** Others have blocked them: what was nobody's news to those stays so, under the name that it has now. */
export async function renameBlocked(
  db: Queryable,
  { projectId, environment, userId, pseudonym }: Erasure,
  limit: number,
): Promise<number> {
  return db.execute(sql`
    with gone as (
      delete from chat_blocks where ctid = any(array(
        select ctid from chat_blocks
        where project_id = ${projectId} and environment = ${environment} and blocked_id = ${userId} limit ${limit}))
      returning *)
    insert into chat_blocks (project_id, environment, user_id, blocked_id, created_at)
    select project_id, environment, user_id, ${pseudonym}, created_at from gone
    on conflict (project_id, environment, user_id, blocked_id) do update set created_at = excluded.created_at`);
}

/** What was to be sent later, by them or in their name. */
export async function deleteScheduled(
  db: Queryable,
  { projectId, environment, userId }: Erasure,
  limit: number,
): Promise<number> {
  return db.execute(sql`
    delete from scheduled_messages where id = any(array(
      select id from scheduled_messages where project_id = ${projectId} and environment = ${environment}
        and (user_id = ${userId} or draft->>'senderId' = ${userId}) limit ${limit}))`);
}

/** Conversations with votes of the user, some of them. */
export async function listVotedIn(
  db: Queryable,
  { projectId, environment, userId }: Erasure,
  limit: number,
): Promise<string[]> {
  const rows = await db.query<{ id: string }>(sql`
    select distinct v.conversation_id as id from poll_votes v join conversations c on c.id = v.conversation_id
    where v.user_id = ${userId} and c.project_id = ${projectId} and c.environment = ${environment}
      and c.status <> 'DELETED' limit ${limit}`);
  return rows.map(({ id }) => id);
}

/** What was counted stays so, as nobody's: the result is the others' too. */
export async function renameVoter(tx: Tx, conversationId: string, { userId, pseudonym }: Erasure): Promise<number> {
  return tx.execute(sql`
    update poll_votes set user_id = ${pseudonym} where conversation_id = ${conversationId} and user_id = ${userId}`);
}

/** A message that passes on words of the user. */
interface ForwardedWords {
  id: string;
  conversationUuid: string;
  position: number;
  editedAt: string | null;
}

export async function listForwarded(
  db: Queryable,
  { projectId, environment, userId }: Erasure,
  limit: number,
): Promise<ForwardedWords[]> {
  return db.query<ForwardedWords>(sql`
    select m.id, m.conversation_id as "conversationUuid", m.position, m.edited_at as "editedAt"
    from messages m join conversations c on c.id = m.conversation_id
    where m.forwarded is not null and m.forwarded->>'senderId' = ${userId} and c.project_id = ${projectId}
      and c.environment = ${environment} and c.status <> 'DELETED'
    limit ${limit}`);
}

/** Under the lock: it may have been deleted meanwhile. */
export async function isForwarding(tx: Tx, { id }: ForwardedWords, { userId }: Erasure): Promise<boolean> {
  const rows = await tx.query(sql`
    select 1 as one from messages where id = ${id} and forwarded->>'senderId' = ${userId}`);
  return rows.length > 0;
}

/** Nobody's words, under the change number. */
export async function anonymizeForwarded(
  tx: Tx,
  { conversationUuid, position }: ForwardedWords,
  { pseudonym }: Erasure,
  change: number,
): Promise<Message> {
  const [row] = await tx.query<{ message: Message }>(sql`
    with m as (
      update messages set change = ${change},
        forwarded = forwarded || jsonb_build_object('senderId', ${pseudonym}::text)
      where conversation_id = ${conversationUuid} and position = ${position} returning *)
    select ${messageJson(null)} as message from m join conversations c on c.id = m.conversation_id`);
  if (!row) throw new Error('a locked message was not there');
  return row.message;
}

/** What is pinned stays so. */
export async function renamePinner(tx: Tx, conversationId: string, { userId, pseudonym }: Erasure): Promise<void> {
  await tx.execute(sql`
    update message_pins set pinned_by = ${pseudonym}
    where conversation_id = ${conversationId} and pinned_by = ${userId}`);
}

/** What the user did as a moderator, and reports by them or about them: those stay, without their words. */
export async function renameInModeration(
  db: Queryable,
  { projectId, environment, userId, pseudonym }: Erasure,
  limit: number,
): Promise<number> {
  const sanctions = await db.execute(sql`
    update chat_sanctions set imposed_by = ${pseudonym} where ctid = any(array(
      select ctid from chat_sanctions
      where project_id = ${projectId} and environment = ${environment} and imposed_by = ${userId} limit ${limit}))`);
  const reports = await db.execute(sql`
    update chat_reports set note = case when reporter_id = ${userId} then null else note end,
      reporter_id = case when reporter_id = ${userId} then ${pseudonym} else reporter_id end,
      sender_id = case when sender_id = ${userId} then ${pseudonym} else sender_id end
    where id = any(array(
      select id from chat_reports where project_id = ${projectId} and environment = ${environment}
        and (reporter_id = ${userId} or sender_id = ${userId}) limit ${limit}))`);
  return sanctions + reports;
}

/** Takes one reaction back in a conversation whose row is locked; gives how many are left, or null when it was gone. */
export async function deleteReaction(
  tx: Tx,
  conversationId: string,
  { messageId, emoji, userId }: { messageId: string; emoji: string; userId: string },
): Promise<number | null> {
  const [row] = await tx.query<{ count: number }>(sql`
    with gone as (
      delete from reactions where message_id = ${messageId} and emoji = ${emoji} and user_id = ${userId} returning 1),
    counted as (
      update messages set reaction_count = reaction_count - 1
      where conversation_id = ${conversationId} and id = ${messageId} and exists (select from gone)),
    summed as (
      update conversations set reaction_count = reaction_count - 1
      where id = ${conversationId} and exists (select from gone))
    select (select count(*) from reactions where message_id = ${messageId} and emoji = ${emoji}) - 1 as count from gone`);
  return row?.count ?? null;
}

export async function markMessageChange(tx: Tx, messageId: string, change: number): Promise<void> {
  await tx.execute(sql`update messages set change = ${change} where id = ${messageId}`);
}

/** Lets the user's files expire, also where others passed them on, some rows of the table further. */
export async function expireFiles(
  db: Db,
  { projectId, environment, userId }: Erasure,
  at: string,
  limit: number,
): Promise<number> {
  return db.execute(sql`
    update attachments a set status = 'EXPIRED', expires_at = ${at}
    where a.id = any(array(
      select a.id from attachments a join conversations c on c.id = a.conversation_id
      where (a.uploader_id = ${userId} or a.origin_uploader_id = ${userId}) and a.status <> 'EXPIRED' and c.project_id = ${projectId}
        and c.environment = ${environment} limit ${limit}))`);
}

/** The user's files that are not gone yet, also those that wait for the sweep. */
export async function hasFiles(db: Queryable, { projectId, environment, userId }: Erasure): Promise<boolean> {
  const rows = await db.query(sql`
    select 1 as one from attachments a join conversations c on c.id = a.conversation_id
    where (a.uploader_id = ${userId} or a.origin_uploader_id = ${userId})
      and c.project_id = ${projectId} and c.environment = ${environment} limit 1`);
  return rows.length > 0;
}

/** Changes that name the user, some rows further. Their numbers have no gap, so they stay. */
export async function rewriteChanges(
  db: Db,
  erasure: Erasure,
  place: Place,
  limit: number,
): Promise<{ touched: number; next: Place }> {
  const after = place === null ? null : (JSON.parse(place) as [string, number]);
  return db.transaction(async (tx) => {
    const rows = await tx.query<{ id: string; change: number; data: unknown }>(sql`
      select x.conversation_id as id, x.change,
        case when c.project_id = ${erasure.projectId} and c.environment = ${erasure.environment}
          and strpos(x.data::text, ${needleOf(erasure)}) > 0 then x.data end as data
      from (select * from conversation_changes
            ${after ? sql`where (conversation_id, change) > (${after[0]}::uuid, ${after[1]})` : empty}
            order by conversation_id, change limit ${limit}) x
      join conversations c on c.id = x.conversation_id order by x.conversation_id, x.change`);
    let touched = 0;
    for (const { id, change, data } of rows) {
      const rewritten = json(withoutPerson(data, erasure));
      if (data === null || rewritten === json(data)) continue;
      touched += await tx.execute(sql`
        update conversation_changes set data = ${rewritten}::jsonb where conversation_id = ${id} and change = ${change}`);
    }
    return { touched, next: placeAfter(rows, limit, ({ id, change }) => [id, change]) };
  });
}
