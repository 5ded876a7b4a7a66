import type { ChatMemberRole, Message } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import type { Queryable, Tx } from '../../../core/db.ts';
import { empty, json, sql } from '../../../core/sql.ts';
import { deletingMentions } from '../mentions/mention-store.ts';
import { markForSearch } from '../search/index-store.ts';
import { filesOf, messageJson, messageText } from './json-store.ts';

/** What the rules ask of a message, and the caller's place in its conversation. */
export interface MessageEntry {
  id: string;
  conversationUuid: string;
  conversationId: string;
  position: number;
  seq: number;
  senderId: string | null;
  threadRootId: string | null;
  createdAt: string;
  editedAt: string | null;
  isDeleted: boolean;
  /** A poll, or somebody else's words: its text stays as it is. */
  isFixed: boolean;
  /** Null when there is no user, or they are no active member. */
  role: ChatMemberRole | null;
  /** The caller may have messages that nobody else has. */
  isMarked: boolean;
}

/** A message by id, wherever in the project it is. Whether the caller may see it is asked of its own conversation. */
export async function findMessageEntry(
  db: Queryable,
  scope: ProjectScope,
  messageId: string,
  userId: string | null,
): Promise<MessageEntry | undefined> {
  const [row] = await db.query<MessageEntry>(sql`
    select m.id, c.id as "conversationUuid", c.public_id as "conversationId", m.position, m.seq,
           m.sender_id as "senderId", m.thread_root_id as "threadRootId", m.created_at as "createdAt",
           m.edited_at as "editedAt", m.deleted_at is not null as "isDeleted",
           m.poll is not null or m.forwarded is not null as "isFixed", p.role,
           p.shadowed_until is not null as "isMarked"
    from messages m
    join conversations c on c.id = m.conversation_id
    left join conversation_members p on p.conversation_id = c.id and p.user_id = ${userId} and p.active
    where m.id = ${messageId} and c.project_id = ${scope.projectId} and c.environment = ${scope.environment}
      and c.status <> 'DELETED'`);
  return row;
}

/** One message as JSON, tombstones too. */
export async function findMessageJson(
  db: Queryable,
  conversationUuid: string,
  position: number,
  viewer: string | null,
): Promise<string | undefined> {
  const [row] = await db.query<{ text: string }>(sql`
    select ${messageText(viewer)} as text from messages m join conversations c on c.id = m.conversation_id
    where m.conversation_id = ${conversationUuid} and m.position = ${position}`);
  return row?.text;
}

/** What is undefined stays as it is. */
interface Edit {
  text: string | undefined;
  metadata: object | undefined;
  mentions: object | null | undefined;
  change: number;
  at: string;
}

/** Stores an edit under its change number; the caller holds the conversation's lock and has seen it undeleted. */
export async function updateMessage(
  tx: Tx,
  entry: Pick<MessageEntry, 'conversationUuid' | 'position'>,
  edit: Edit,
): Promise<Message> {
  const { text, metadata, mentions, change, at } = edit;
  const [row] = await tx.query<{ message: Message }>(sql`
    with ${text === undefined ? empty : markForSearch(entry)}
    m as (
      update messages set change = ${change}, edited_at = ${at}
        ${text === undefined ? empty : sql`, text = ${text}, link_preview = null`}
        ${metadata === undefined ? empty : sql`, metadata = ${json(metadata)}`}
        ${mentions === undefined ? empty : sql`, mentions = ${mentions && json(mentions)}::jsonb`}
      where conversation_id = ${entry.conversationUuid} and position = ${entry.position} returning *)
    select ${messageJson(null)} as message from m join conversations c on c.id = m.conversation_id`);
  return lockedRow(row).message;
}

/** Leaves the tombstone: no text, no poll, no metadata, no reactions, no answer of its thread; its file can no longer be fetched. */
export async function markMessageDeleted(
  tx: Tx,
  entry: Pick<MessageEntry, 'conversationUuid' | 'position' | 'id' | 'threadRootId'>,
  { change, by, at }: { change: number; by: string | null; at: string },
): Promise<Message> {
  const [row] = await tx.query<{ message: Message }>(sql`
    with ${markForSearch(entry)}
    unpinned as (delete from message_pins where conversation_id = ${entry.conversationUuid} and message_id = ${entry.id}),
    unlinked as (delete from link_previews where message_id = ${entry.id}),
    forgotten as (delete from reactions where message_id = ${entry.id} returning 1),
    unvoted as (delete from poll_votes where message_id = ${entry.id}),
    unmentioned as (${deletingMentions(
      entry.conversationUuid,
      sql`select * from messages
      where conversation_id = ${entry.conversationUuid} and position = ${entry.position}`,
    )}),
    detached as (
      update attachments set status = 'EXPIRED', expires_at = ${at}
      where message_id = ${entry.id} and id in (
        select f.id from messages m cross join lateral ${filesOf('m')} f (id, n)
        where m.conversation_id = ${entry.conversationUuid} and m.position = ${entry.position})),
    counted as (
      update conversations set message_count = message_count - 1,
        reaction_count = reaction_count - (select count(*) from forgotten)
      where id = ${entry.conversationUuid}),
    answered as (
      update messages root set reply_count = root.reply_count - 1, last_reply_at = (
        select max(created_at) from messages r
        where r.thread_root_id = root.id and r.id <> ${entry.id} and r.deleted_at is null)
      where root.id = ${entry.threadRootId}),
    m as (
      update messages set change = ${change}, deleted_at = ${at}, deleted_by = ${by}, text = null, metadata = '{}',
        mentions = null, link_preview = null, reaction_count = 0, poll = null, poll_closes_at = null, forwarded = null
      where conversation_id = ${entry.conversationUuid} and position = ${entry.position} returning *)
    select ${messageJson(null)} as message from m join conversations c on c.id = m.conversation_id`);
  return lockedRow(row).message;
}

/** The root and its replies, oldest first, without the deleted. */
export async function listThread(
  db: Queryable,
  conversationUuid: string,
  rootId: string,
  page: { after: number; limit: number; viewer: string | null },
): Promise<{ position: number; text: string }[]> {
  return db.query(sql`
    select m.position, ${messageText(page.viewer)} as text
    from messages m join conversations c on c.id = m.conversation_id
    where m.conversation_id = ${conversationUuid} and (m.id = ${rootId} or m.thread_root_id = ${rootId})
      and m.deleted_at is null and m.position > ${page.after}
    order by m.position limit ${page.limit}`);
}

function lockedRow<T>(row: T | undefined): T {
  if (row === undefined) throw new Error('a locked message was not there');
  return row;
}
