import type { ChatMemberRole, ConversationType, MessageType } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import type { Queryable, Tx } from '../../../core/db.ts';
import { json, sql } from '../../../core/sql.ts';
import { sentWith } from '../messages/send-store.ts';

/** A conversation that an import writes to; its row is locked. */
export interface ImportTarget {
  id: string;
  publicId: string;
  status: 'ACTIVE' | 'ARCHIVED' | 'DELETED';
  lastSeq: number;
  lastChange: number;
  lastMessageAt: string | null;
}

/** Locks it: until commit nobody else takes a number. */
export async function lockTarget(
  tx: Tx,
  { projectId, environment }: ProjectScope,
  publicId: string,
): Promise<ImportTarget | undefined> {
  const [row] = await tx.query<ImportTarget>(sql`
    select id, public_id as "publicId", status, last_seq as "lastSeq", last_change as "lastChange",
      last_message_at as "lastMessageAt"
    from conversations
    where public_id = ${publicId} and project_id = ${projectId} and environment = ${environment} for update`);
  return row;
}

interface NewImport {
  id: string;
  publicId: string;
  name: string;
  type: ConversationType;
  retentionDays: number | null;
  metadata: object;
  epoch: string;
  createdAt: string;
  at: string;
}

/**
 * Takes no messages until the import is through, so that nothing new comes between what is old: archived, but without
 * the time that a conversation has that somebody archived. False when it is there already.
 */
export async function insertImported(tx: Tx, scope: ProjectScope, row: NewImport): Promise<boolean> {
  const inserted = await tx.query(sql`
    insert into conversations (id, public_id, project_id, environment, name, type, status, retention_days, metadata,
                               epoch, created_at, updated_at)
    values (${row.id}, ${row.publicId}, ${scope.projectId}, ${scope.environment}, ${row.name}, ${row.type}, 'ARCHIVED',
            ${row.retentionDays}, ${json(row.metadata)}, ${row.epoch}, ${row.createdAt}, ${row.at})
    on conflict (public_id) do nothing returning id`);
  return inserted.length === 1;
}

/** From here on it is a conversation like any other. */
export async function openImported(
  db: Queryable,
  scope: ProjectScope,
  publicIds: readonly string[],
  archived: readonly string[],
  at: string,
): Promise<{ publicId: string; lastChange: number }[]> {
  await db.execute(sql`
    update conversations set archived_at = case when public_id = any(${archived}) then ${at}::timestamptz end,
      status = case when public_id = any(${archived}) then 'ARCHIVED' else 'ACTIVE' end
    where project_id = ${scope.projectId} and environment = ${scope.environment} and public_id = any(${publicIds})
      and status = 'ARCHIVED' and archived_at is null`);
  return db.query(sql`
    select public_id as "publicId", last_change as "lastChange" from conversations
    where project_id = ${scope.projectId} and environment = ${scope.environment} and public_id = any(${publicIds})
      and status <> 'DELETED'`);
}

export interface ImportMember {
  userId: string;
  role: ChatMemberRole;
  metadata: object;
  joinedAt: string;
}

/** Those who are there already stay as they are. */
export async function insertImportedMembers(tx: Tx, id: string, members: readonly ImportMember[]): Promise<void> {
  await tx.execute(sql`
    with added as (
      insert into conversation_members (conversation_id, user_id, role, metadata, joined_at)
      select ${id}, m->>'userId', m->>'role', m->'metadata', (m->>'joinedAt')::timestamptz
      from jsonb_array_elements(${json(members)}::jsonb) m
      on conflict (conversation_id, user_id) do nothing returning 1)
    update conversations set member_count = member_count + (select count(*) from added) where id = ${id}`);
}

/** A message by the id that its external id gives. */
interface KnownMessage {
  id: string;
  threadRootId: string | null;
}

export async function findKnown(tx: Tx, conversationId: string, ids: readonly string[]): Promise<KnownMessage[]> {
  return tx.query<KnownMessage>(sql`
    select id, thread_root_id as "threadRootId" from messages
    where id = any(${ids}) and conversation_id = ${conversationId}`);
}

export interface ImportMessage {
  id: string;
  /** Where it comes from. Shown as the id that its client gave it. */
  externalId: string;
  seq: number;
  position: number;
  type: MessageType;
  text: string | null;
  senderId: string | null;
  replyTo: string | null;
  threadRootId: string | null;
  metadata: object;
  createdAt: string;
  editedAt: string | null;
  deletedAt: string | null;
}

/**
 * Numbered by who holds the lock. Counts, threads and the read marks of senders move as if they had been sent. Their
 * terms are written with those of before: of what is in `search_pending` a search reads every text.
 */
export async function insertImportedMessages(
  tx: Tx,
  conversationId: string,
  messages: readonly ImportMessage[],
): Promise<void> {
  await tx.execute(sql`
    with input as (
      select * from jsonb_to_recordset(${json(messages)}::jsonb) as i (id text, "externalId" text, seq bigint, position bigint,
        type text, text text, "senderId" text, "replyTo" text, "threadRootId" text, metadata jsonb, "createdAt" timestamptz,
        "editedAt" timestamptz, "deletedAt" timestamptz)),
    stored as (
      insert into messages (conversation_id, position, seq, change, id, type, text, sender_id, sender_role, reply_to,
        thread_root_id, client_message_id, metadata, created_at, edited_at, deleted_at, reply_count, last_reply_at)
      select ${conversationId}, i.position, i.seq, i.position, i.id, i.type, i.text, i."senderId", p.role, i."replyTo",
        i."threadRootId", case when d.id is null then i."externalId" end, i.metadata, i."createdAt", i."editedAt",
        i."deletedAt", coalesce(r.total, 0), r.last_at
      from input i cross join (select ${conversationId}::uuid as id) g
      left join conversation_members p on p.conversation_id = ${conversationId} and p.user_id = i."senderId" and p.active
      left join lateral ${sentWith('g.id', 'i."senderId"', 'i."externalId"')} d on true
      left join (select "threadRootId" as id, count(*) as total, max("createdAt") as last_at from input
                 where "threadRootId" is not null and "deletedAt" is null group by 1) r on r.id = i.id),
    searched as (
      insert into search_backlog (conversation_id, done) select ${conversationId}, min(position) - 1 from input
      on conflict (conversation_id) do update set done = least(search_backlog.done, excluded.done)),
    replied as (
      update messages root set reply_count = root.reply_count + r.total, last_reply_at = r.last_at
      from (select "threadRootId" as id, count(*) as total, max("createdAt") as last_at from input
            where "threadRootId" is not null and "deletedAt" is null group by 1) r
      where root.id = r.id and root.conversation_id = ${conversationId}),
    seen as (
      update conversation_members p set last_read_seq = s.seq, last_read_position = s.position,
        last_read_message_id = s.id, last_read_at = s."createdAt"
      from (select distinct on ("senderId") * from input where "senderId" is not null order by "senderId", seq desc) s
      where p.conversation_id = ${conversationId} and p.user_id = s."senderId" and p.last_read_seq < s.seq)
    update conversations c set last_seq = l.seq, last_change = l.position, last_position = l.position,
      last_message_id = l.id, last_message_at = l."createdAt",
      message_count = c.message_count + (select count(*) from input where "deletedAt" is null)
    from (select * from input order by seq desc limit 1) l
    where c.id = ${conversationId}`);
}

interface ImportReaction {
  messageId: string;
  emoji: string;
  userId: string;
  createdAt: string;
}

/** Gives the messages of the input that are not there, are deleted, or would have more reactions than they may. */
export async function insertImportedReactions(
  tx: Tx,
  conversationId: string,
  reactions: readonly ImportReaction[],
  cap: number,
): Promise<string[]> {
  await tx.execute(sql`
    with input as (
      select distinct on ("messageId", emoji, "userId") * from jsonb_to_recordset(${json(reactions)}::jsonb) as i (
        "messageId" text, emoji text, "userId" text, "createdAt" timestamptz)),
    added as (
      insert into reactions (message_id, emoji, user_id, created_at)
      select i."messageId", i.emoji, i."userId", i."createdAt" from input i
      join messages m on m.id = i."messageId" and m.conversation_id = ${conversationId} and m.deleted_at is null
      on conflict do nothing returning message_id),
    counted as (
      update messages m set reaction_count = m.reaction_count + a.total
      from (select message_id, count(*) as total from added group by 1) a
      where m.id = a.message_id and m.conversation_id = ${conversationId})
    update conversations set reaction_count = reaction_count + (select count(*) from added) where id = ${conversationId}`);
  const refused = await tx.query<{ id: string }>(sql`
    select given.id from unnest(${reactions.map(({ messageId }) => messageId)}::text[]) as given (id)
    left join messages m on m.id = given.id and m.conversation_id = ${conversationId}
    where m.id is null or m.deleted_at is not null or m.reaction_count > ${cap}`);
  return refused.map(({ id }) => id);
}

/** Moves a mark forward; false when there is no such member or message. */
export async function moveImportedMark(
  tx: Tx,
  conversationId: string,
  { userId, messageId, at }: { userId: string; messageId: string; at: string },
): Promise<boolean> {
  const rows = await tx.query(sql`
    with mark as (
      select id, seq, position from messages where id = ${messageId} and conversation_id = ${conversationId}),
    moved as (
      update conversation_members p set last_read_seq = mark.seq, last_read_position = mark.position,
        last_read_message_id = mark.id, last_read_at = ${at}
      from mark where p.conversation_id = ${conversationId} and p.user_id = ${userId} and p.last_read_seq < mark.seq)
    select 1 as one from mark join conversation_members p
      on p.conversation_id = ${conversationId} and p.user_id = ${userId}`);
  return rows.length === 1;
}
