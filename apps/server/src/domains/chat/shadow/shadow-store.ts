import { type ChatMemberRole, previewLength } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import type { Queryable, Tx } from '../../../core/db.ts';
import { empty, json, raw, type Sql, sql } from '../../../core/sql.ts';
import { filesOf, isoJson, messageText } from '../messages/json-store.ts';

/** A message that is its sender's alone, and the caller's place in its conversation. */
export interface ShadowEntry {
  id: string;
  n: number;
  conversationUuid: string;
  conversationId: string;
  /** Of the message it stands behind; 0 for none. */
  position: number;
  senderId: string;
  threadRootId: string | null;
  createdAt: string;
  isDeleted: boolean;
  /** A poll, or somebody else's words: its text stays as it is. */
  isFixed: boolean;
  role: ChatMemberRole | null;
}

/** As its sender sees it. */
const ownText = messageText(raw('m.sender_id'));
const withConversation = raw('shadow_messages m join conversations c on c.id = m.conversation_id');

export async function findShadowEntry(
  db: Queryable,
  { projectId, environment }: ProjectScope,
  id: string,
  userId: string | null,
): Promise<ShadowEntry | undefined> {
  const [row] = await db.query<ShadowEntry>(sql`
    select m.id, m.n, c.id as "conversationUuid", c.public_id as "conversationId", m.position, m.sender_id as "senderId",
      m.thread_root_id as "threadRootId", m.created_at as "createdAt", m.deleted_at is not null as "isDeleted",
      m.poll is not null or m.forwarded is not null as "isFixed", p.role
    from ${withConversation}
    left join conversation_members p on p.conversation_id = c.id and p.user_id = ${userId} and p.active
    where m.id = ${id} and c.project_id = ${projectId} and c.environment = ${environment} and c.status <> 'DELETED'`);
  return row;
}

/** One message as JSON, tombstones too. */
export async function findShadowJson(db: Queryable, n: number): Promise<string | undefined> {
  const [row] = await db.query<{ text: string }>(
    sql`select ${ownText} as text from ${withConversation} where m.n = ${n}`,
  );
  return row?.text;
}

/** What is undefined stays as it is. */
interface ShadowEdit {
  text: string | undefined;
  metadata: object | undefined;
  mentions: object | null | undefined;
  at: string;
}

export async function updateShadow(tx: Tx, n: number, { text, metadata, mentions, at }: ShadowEdit): Promise<void> {
  await tx.execute(sql`
    update shadow_messages set edited_at = ${at}
      ${text === undefined ? empty : sql`, text = ${text}`}
      ${metadata === undefined ? empty : sql`, metadata = ${json(metadata)}`}
      ${mentions === undefined ? empty : sql`, mentions = ${mentions && json(mentions)}::jsonb`}
    where n = ${n}`);
}

/** Leaves tombstones; their files can no longer be fetched. */
export async function markShadowDeleted(
  tx: Tx,
  ids: readonly string[],
  { by, at }: { by: string; at: string },
): Promise<void> {
  await tx.execute(sql`
    with forgotten as (delete from reactions where message_id = any(${ids})),
    detached as (
      update attachments set status = 'EXPIRED', expires_at = ${at}
      where message_id = any(${ids}) and id in (
        select f.id from shadow_messages m cross join lateral ${filesOf('m')} f (id, n) where m.id = any(${ids})))
    update shadow_messages set deleted_at = ${at}, deleted_by = ${by}, text = null, metadata = '{}', mentions = null,
      reaction_count = 0, poll = null, forwarded = null
    where id = any(${ids})`);
}

/** False when it was so already. */
export async function setShadowReaction(
  tx: Tx,
  { id, senderId }: Pick<ShadowEntry, 'id' | 'senderId'>,
  { emoji, isAdd, at, max }: { emoji: string; isAdd: boolean; at: string; max: number },
): Promise<boolean> {
  const touched = await tx.execute(
    isAdd
      ? sql`insert into reactions (message_id, emoji, user_id, created_at)
          select ${id}, ${emoji}, ${senderId}, ${at}
          where ${max} > (select count(*) from reactions where message_id = ${id}) on conflict do nothing`
      : sql`delete from reactions where message_id = ${id} and emoji = ${emoji} and user_id = ${senderId}`,
  );
  await tx.execute(sql`
    update shadow_messages set reaction_count = (select count(*) from reactions where message_id = ${id})
    where id = ${id}`);
  return touched === 1;
}

/** Newest first, without the deleted, by all authors but one. */
export async function listShadow(
  db: Queryable,
  conversationUuid: string,
  { before, except, limit }: { before: number | null; except: string | null; limit: number },
): Promise<{ n: number; text: string }[]> {
  return db.query(sql`
    select m.n, ${messageText(null)} as text from ${withConversation}
    where m.conversation_id = ${conversationUuid} and m.deleted_at is null
      ${before === null ? empty : sql`and m.n < ${before}`} ${except === null ? empty : sql`and m.sender_id <> ${except}`}
    order by m.n desc limit ${limit}`);
}

/** A place between messages: behind which of all, and behind which of the reader's own after it (0: none). */
export type ShadowPlace = readonly [position: number, n: number];

interface MergedRow {
  position: number;
  /** 0 for a message of all. */
  n: number;
  text: string;
}

interface MergedFilter {
  before: ShadowPlace | null;
  after: ShadowPlace | null;
  /** With the root itself where `withRoot` says so. */
  threadRootId: string | null;
  withRoot?: boolean;
  senderId: string | null;
  includeDeleted: boolean;
  limit: number;
}

/** What all read and what the reader alone does, in one order: that of `before` is newest first, of `after` oldest first. */
export async function listMerged(
  db: Queryable,
  conversationUuid: string,
  userId: string,
  { before, after, threadRootId, withRoot = false, senderId, includeDeleted, limit }: MergedFilter,
): Promise<MergedRow[]> {
  const filters = sql`m.conversation_id = ${conversationUuid}
    ${threadRootId === null ? empty : sql`and (m.thread_root_id = ${threadRootId} ${withRoot ? sql`or m.id = ${threadRootId}` : empty})`}
    ${senderId === null ? empty : sql`and m.sender_id = ${senderId}`}
    ${includeDeleted ? empty : sql`and m.deleted_at is null`}`;
  const order = raw(after === null ? 'desc' : 'asc');
  return db.query<MergedRow>(sql`
    select * from (
      (select m.position, 0::bigint as n, ${messageText(userId)} as text
       from messages m join conversations c on c.id = m.conversation_id
       where ${filters} ${ofAll({ before, after })} order by m.position ${order} limit ${limit})
      union all
      (select m.position, m.n, ${messageText(userId)} as text from ${withConversation}
       where ${filters} and m.sender_id = ${userId} ${ofOne({ before, after })}
       order by m.position ${order}, m.n ${order} limit ${limit})) merged
    order by position ${order}, n ${order} limit ${limit}`);
}

type Bounds = Pick<MergedFilter, 'before' | 'after'>;

function ofAll({ before, after }: Bounds): Sql {
  if (after) return sql`and m.position > ${after[0]}`;
  // A message of one's own stands behind that of all with its position.
  return before ? sql`and m.position < ${before[0] + (before[1] > 0 ? 1 : 0)}` : empty;
}

function ofOne({ before, after }: Bounds): Sql {
  if (after) return sql`and (m.position, m.n) > (${after[0]}::bigint, ${after[1]}::bigint)`;
  return before ? sql`and (m.position, m.n) < (${before[0]}::bigint, ${before[1]}::bigint)` : empty;
}

/** Where the newest of the reader's own stands; undefined when there is none. */
export async function findLastPlace(
  db: Queryable,
  conversationUuid: string,
  userId: string,
): Promise<ShadowPlace | undefined> {
  const [row] = await db.query<{ position: number; n: number }>(sql`
    select position, n from shadow_messages where conversation_id = ${conversationUuid} and sender_id = ${userId}
    order by position desc, n desc limit 1`);
  return row && [row.position, row.n];
}

/** The message that one of the shadow stands behind; undefined for none. */
export async function findBefore(
  db: Queryable,
  { conversationUuid, position }: Pick<ShadowEntry, 'conversationUuid' | 'position'>,
): Promise<{ id: string; seq: number; position: number } | undefined> {
  const [row] = await db.query<{ id: string; seq: number; position: number }>(sql`
    select id, seq, position from messages where conversation_id = ${conversationUuid} and position <= ${position}
    order by position desc limit 1`);
  return row;
}

/** The last message of `c` where it is one that the member `m` alone has. */
export const shadowPreview = sql`case when m.shadowed_until is not null then (
  select json_build_object('id', l.id, 'seq', l.seq, 'type', l.type,
    'text', left(l.text, ${raw(String(previewLength))}), 'senderId', l.sender_id, 'attachmentId', l.attachment_id,
    'edited', l.edited_at is not null, 'deleted', l.deleted_at is not null, 'createdAt', ${isoJson('l.created_at')})
  from shadow_messages l
  where l.conversation_id = c.id and l.sender_id = m.user_id and l.position >= c.last_position
  order by l.position desc, l.n desc limit 1) end`;
