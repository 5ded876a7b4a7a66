import {
  type Conversation,
  type ConversationType,
  type Face,
  facesMax,
  type InboxBadge,
  type InboxEntry,
  type MessagePreview,
  previewLength,
} from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import type { Queryable, Tx } from '../../../core/db.ts';
import { empty, raw, type Sql, sql } from '../../../core/sql.ts';
import { hasBlocked, hasBlocks } from '../blocks/block-store.ts';
import { ownColumns, recordColumns, unreadOf } from '../conversations/conversation-store.ts';
import { isoJson } from '../messages/json-store.ts';
import { shadowPreview } from '../shadow/shadow-store.ts';
import {
  dormantMemberships,
  dormantRest,
  dormantSums,
  hasManyActive,
  type InboxPlace,
  isDormantAfter,
} from './dormant-store.ts';

/** Whether there can be anything unread: two numbers of the rows in hand, before anything is counted. */
const isBehind = raw('c.last_seq > greatest(m.last_read_seq, c.retired_seq)');
const isHidden = raw('(m.hidden_seq is not null and c.last_seq <= m.hidden_seq)');
const isMuted = (now: string): Sql =>
  sql`(m.muted_at is not null and (m.muted_until is null or m.muted_until > ${now}::timestamptz))`;
/** The first one that is found is enough to count them; most conversations have none. */
const isMentioned = raw(`coalesce((
  select true from message_mentions x where x.conversation_id = c.id and x.user_id in (m.user_id, '')
    and x.position > m.last_read_position limit 1), false)`);
/**
 * Messages that mention the member or everybody, each once. Order and limit fix that mentions are walked
 * and their messages looked up by position, whatever the plan was made on (ADR 18).
 */
const mentionsBut = (
  blocked: Sql,
): Sql => sql`(case when c.last_position <= m.last_read_position or not ${isMentioned} then 0 else (
  select count(distinct x.position) from message_mentions x
  cross join lateral (
    select position, deleted_at, sender_id from messages
    where conversation_id = x.conversation_id and position >= x.position order by position limit 1) g
  where x.conversation_id = c.id and x.user_id in (m.user_id, '') and x.position > m.last_read_position
    and g.position = x.position and g.deleted_at is null and g.sender_id is distinct from m.user_id
    ${blocked}) end)`;
const mentions = mentionsBut(sql`and not ${hasBlocked('g.sender_id')}`);
/** The same no matter who sent it. */
export const mentionsOfAll = mentionsBut(empty);

export const inScope = ({ projectId, environment }: ProjectScope): Sql =>
  sql`c.project_id = ${projectId} and c.environment = ${environment} and c.status <> 'DELETED'`;

/** The last message of `c`, cut. The row of a deleted one holds no text. */
const preview = sql`(select json_build_object('id', l.id, 'seq', l.seq, 'type', l.type,
    'text', left(l.text, ${raw(String(previewLength))}), 'senderId', l.sender_id, 'attachmentId', l.attachment_id,
    'edited', l.edited_at is not null, 'deleted', l.deleted_at is not null, 'createdAt', ${isoJson('l.created_at')})
  from messages l where l.id = c.last_message_id and l.conversation_id = c.id)`;

/** Some members of `c`, those who joined last first: `limit` of them, without one of them where it is given. */
export const facesOf = (limit: number, except: Sql | null): Sql => sql`(
  select coalesce(json_agg(json_build_object('userId', f.user_id, 'name', u.name, 'avatarUrl', u.avatar_url)
    order by f.joined_at desc, f.user_id desc), '[]')
  from (select user_id, joined_at from conversation_members
        where conversation_id = c.id and active ${except === null ? empty : sql`and user_id <> ${except}`}
        order by joined_at desc, user_id desc limit ${raw(String(limit))}) f
  left join chat_users u on u.project_id = c.project_id and u.environment = c.environment and u.user_id = f.user_id)`;

/** What of an entry is the member's own. */
export const memberColumns = (now: string): Sql => sql`${ownColumns}, ${mentions} as "unreadMentions",
  nullif(m.last_read_seq, 0) as "lastReadSeq", m.last_read_at as "lastReadAt", ${isMuted(now)} as muted,
  case when ${isMuted(now)} then m.muted_until end as "mutedUntil", m.pinned_at as "pinnedAt", ${isHidden} as hidden,
  ${shadowPreview} as "ownLast"`;

/** What is the same for all members. */
export const sharedColumns = (retentionDefault: number | null): Sql =>
  sql`${recordColumns(retentionDefault)}, coalesce(c.last_message_at, c.created_at) as "lastActivityAt",
    ${preview} as "lastMessage"`;

type OwnFields = 'myRole' | 'unreadCount' | 'lastReadMessageId';

export interface SharedRow extends Omit<Conversation, OwnFields> {
  lastActivityAt: string;
  lastMessage: MessagePreview | null;
}

export interface MemberRow {
  myRole: Conversation['myRole'];
  unreadCount: number;
  lastReadMessageId: string | null;
  unreadMentions: number;
  lastReadSeq: number | null;
  lastReadAt: string | null;
  muted: boolean;
  mutedUntil: string | null;
  pinnedAt: string | null;
  hidden: boolean;
  /** In the place of the last message where it is one that only they have. */
  ownLast: MessagePreview | null;
}

function entryOf(shared: SharedRow, own: MemberRow, faces: readonly Face[]): InboxEntry {
  const { lastActivityAt, lastMessage, ...record } = shared;
  const { myRole, unreadCount, lastReadMessageId, ownLast, ...rest } = own;
  return {
    conversation: { ...record, myRole, unreadCount, lastReadMessageId },
    lastMessage: ownLast ?? lastMessage,
    lastActivityAt,
    unreadCount,
    lastReadMessageId,
    ...rest,
    pinned: own.pinnedAt !== null,
    faces: [...faces],
  };
}

type EntryRow = SharedRow & MemberRow & { faces: Face[] };

function entryOfRow(row: EntryRow): InboxEntry {
  const { myRole, unreadCount, lastReadMessageId, unreadMentions, lastReadSeq, lastReadAt, ...other } = row;
  const { muted, mutedUntil, pinnedAt, hidden, ownLast, faces, ...shared } = other;
  const read = { myRole, unreadCount, lastReadMessageId, unreadMentions, lastReadSeq, lastReadAt };
  return entryOf(shared, { ...read, muted, mutedUntil, pinnedAt, hidden, ownLast }, faces);
}

interface Viewer {
  userId: string;
  retentionDefault: number | null;
  now: string;
}

const entryColumns = ({ retentionDefault, now }: Viewer): Sql =>
  sql`${sharedColumns(retentionDefault)}, ${memberColumns(now)}, ${facesOf(facesMax, raw('m.user_id'))} as faces`;

/** The memberships of a user that are not dormant, with their conversations, each found by its key (ADR 18). */
export const activeMemberships = (userId: string): Sql => sql`(
    select * from conversation_members where user_id = ${userId} and active and not dormant) m
  cross join lateral (select * from conversations where id = m.conversation_id limit 1) c`;

interface InboxPage extends Viewer {
  /** Only these public ids; null for all. */
  listed: readonly string[] | null;
  isUnread: boolean;
  isPinned: boolean;
  isArchived: boolean;
  isHidden: boolean;
  type: ConversationType | undefined;
  after: InboxPlace | null;
  limit: number;
}

export const placeOf = ({ conversation, pinnedAt, lastActivityAt }: InboxEntry): InboxPlace => [
  pinnedAt === null ? 0 : 1,
  pinnedAt ?? lastActivityAt,
  conversation.uuid,
];

const place = raw(`(case when m.pinned_at is null then 0 else 1 end,
  coalesce(m.pinned_at, c.last_message_at, c.created_at), c.id)`);

const isAfter = (after: InboxPlace | null): Sql =>
  after === null ? empty : sql`and ${place} < (${after[0]}::int, ${after[1]}::timestamptz, ${after[2]}::uuid)`;

const isListed = (listed: readonly string[] | null): Sql =>
  listed === null ? empty : sql`and c.public_id = any(${listed})`;

const filtersOf = (scope: ProjectScope, page: InboxPage): Sql => sql`
  ${isListed(page.listed)}
  ${page.type === undefined ? empty : sql`and c.type = ${page.type}`}
  ${page.isUnread ? sql`and ${isBehind} and ${unreadOf(scope, page.userId)} > 0` : empty}`;

/** Those of the dormant that follow, in their order; none is set apart in any way. */
const dormantOf = (scope: ProjectScope, page: InboxPage): Sql =>
  page.isArchived || page.isHidden || page.isPinned
    ? empty
    : sql`union all (
      select e.conversation_id, 0, e.at from ${dormantMemberships(scope, page.userId)}
      where ${isDormantAfter(page.after)} ${page.isUnread ? sql`and e.unread > 0` : empty} ${filtersOf(scope, page)}
      order by e.project_id desc, e.environment desc, e.user_id desc, e.at desc, e.conversation_id desc
      limit ${page.limit})`;

/** A page, and whether very many entries had to be looked at for it. */
interface FoundInbox {
  entries: InboxEntry[];
  isLarge: boolean;
}

/** Which conversations are on the page is found first: only for those is anything counted. */
export async function listInbox(db: Queryable, scope: ProjectScope, page: InboxPage): Promise<FoundInbox> {
  const { userId, after, limit } = page;
  const rows = await db.query<EntryRow & { isLarge: boolean }>(sql`
    with awake as (
      select c.id, case when m.pinned_at is null then 0 else 1 end as rank,
        coalesce(m.pinned_at, c.last_message_at, c.created_at) as at
      from ${activeMemberships(userId)}
      where ${inScope(scope)} and c.status = ${page.isArchived ? 'ARCHIVED' : 'ACTIVE'}
        and ${page.isHidden ? isHidden : sql`not ${isHidden}`}
        ${page.isPinned ? sql`and m.pinned_at is not null` : empty}
        ${filtersOf(scope, page)} ${isAfter(after)}),
    page as materialized (
      select * from (
        (select * from awake order by 2 desc, 3 desc, 1 desc limit ${limit})
        ${dormantOf(scope, page)}) listed (id, rank, at)
      order by 2 desc, 3 desc, 1 desc limit ${limit})
    select ${hasManyActive(userId)} as "isLarge", ${entryColumns(page)}
    from page p
    cross join lateral (select * from conversations where id = p.id limit 1) c
    cross join lateral (
      select * from conversation_members where conversation_id = p.id and user_id = ${userId} limit 1) m
    order by p.rank desc, p.at desc, p.id desc`);
  return { entries: rows.map(({ isLarge, ...row }) => entryOfRow(row)), isLarge: rows[0]?.isLarge ?? false };
}

export async function findInboxEntry(
  db: Queryable,
  scope: ProjectScope,
  conversationUuid: string,
  viewer: Viewer,
): Promise<InboxEntry | undefined> {
  const [row] = await db.query<EntryRow>(sql`
    select ${entryColumns(viewer)} from conversations c
    join conversation_members m on m.conversation_id = c.id and m.user_id = ${viewer.userId} and m.active
    where ${inScope(scope)} and c.id = ${conversationUuid}`);
  return row && entryOfRow(row);
}

/** A badge, and whether very many entries had to be looked at for it. */
interface CountedInbox {
  badge: InboxBadge;
  isLarge: boolean;
}

interface BadgePage {
  userId: string;
  listed: readonly string[] | null;
  /** Only what an inbox lists behind this. */
  after: InboxPlace | null;
  now: string;
}

/** Counts only in conversations whose numbers say that something may be unread. */
export async function countUnread(db: Queryable, scope: ProjectScope, page: BadgePage): Promise<CountedInbox> {
  const { userId, listed, after, now } = page;
  const [row] = await db.query<Required<InboxBadge> & { isLarge: boolean }>(sql`
    select greatest(sum(conversations), 0)::bigint as "unreadConversations",
      greatest(sum(unread), 0)::bigint as "unreadMessages", greatest(sum(mentions), 0)::bigint as "unreadMentions",
      min(until) as "changesAt", ${hasManyActive(userId)} as "isLarge"
    from (
      select case when unread > 0 then 1 else 0 end as conversations, unread, mentions, until from (
        select case when ${isMuted(now)} then 0 else ${unreadOf(scope, userId)} end as unread,
          case when ${isMuted(now)} then 0 else ${mentions} end as mentions,
          case when ${isMuted(now)} then m.muted_until end as until
        from ${activeMemberships(userId)}
        where ${inScope(scope)} and c.status = 'ACTIVE' and not ${isHidden}
          and (m.muted_until is not null or not ${isMuted(now)}) and ${isBehind} ${isListed(listed)} ${isAfter(after)}
        ) awake
      ${dormantCounts(scope, page)}
      ) counted`);
  if (!row) throw new Error('a count has a row');
  const { changesAt, isLarge, ...counts } = row;
  return { badge: changesAt === null ? counts : { ...counts, changesAt }, isLarge };
}

/** One by one only where a list or blocks leave some out. */
function dormantCounts(scope: ProjectScope, { userId, listed, after }: BadgePage): Sql {
  const isOneByOne = listed === null ? hasBlocks(scope, userId) : sql`true`;
  const counts = sql`
    select case when unread > 0 then 1 else 0 end as conversations, unread, mentions from (
      select ${unreadOf(scope, userId)} as unread, ${mentions} as mentions
      from ${dormantMemberships(scope, userId)}
      where ${isOneByOne} and (e.unread > 0 or e.mentions > 0) and ${isDormantAfter(after)} ${isListed(listed)}) one`;
  const sums = after === null ? dormantSums(scope, userId) : dormantRest(scope, userId, after);
  return sql`union all select dormant.*, null::timestamptz from (
    ${counts} ${listed === null ? sql`union all ${sums}` : empty}) dormant`;
}

export interface OwnChange {
  /** Null: not muted; without an end: muted until it is unmuted. Undefined where it stays. */
  muted?: { until: string | null } | null | undefined;
  pinned?: boolean | undefined;
  hidden?: boolean | undefined;
}

/** False when the user is no active member. */
export async function updateOwn(
  tx: Tx,
  conversationUuid: string,
  userId: string,
  { muted, pinned, hidden }: OwnChange,
  at: string,
): Promise<boolean> {
  const touched = await tx.execute(sql`
    update conversation_members m set own_changed_at = ${at}, dormant = false
      ${muted === undefined ? empty : sql`, muted_at = ${muted && at}, muted_until = ${muted?.until ?? null}`}
      ${pinned === undefined ? empty : pinned ? sql`, pinned_at = coalesce(m.pinned_at, ${at})` : sql`, pinned_at = null`}
      ${hidden === undefined ? empty : hidden ? sql`, hidden_seq = c.last_seq` : sql`, hidden_seq = null`}
    from conversations c
    where c.id = ${conversationUuid} and m.conversation_id = c.id and m.user_id = ${userId} and m.active`);
  return touched === 1;
}

interface UnreadMark {
  conversationUuid: string;
  userId: string;
  seq: number;
  position: number;
  at: string;
}

/** Moves a mark to right before a message; false when it is there already, or before it. */
export async function moveMarkBack(tx: Tx, mark: UnreadMark): Promise<boolean> {
  const touched = await tx.execute(sql`
    update conversation_members set last_read_seq = ${mark.seq} - 1, last_read_position = ${mark.position} - 1,
      last_read_message_id = (
        select p.id from messages p where p.conversation_id = ${mark.conversationUuid} and p.position < ${mark.position}
        order by p.position desc limit 1),
      own_changed_at = ${mark.at}, dormant = false
    where conversation_id = ${mark.conversationUuid} and user_id = ${mark.userId} and active
      and last_read_seq >= ${mark.seq}`);
  return touched === 1;
}

/** The last message that is not deleted. */
export async function findLastMessage(
  db: Queryable,
  conversationUuid: string,
): Promise<{ seq: number; position: number } | undefined> {
  const [row] = await db.query<{ seq: number; position: number }>(sql`
    select seq, position from messages where conversation_id = ${conversationUuid} and deleted_at is null
    order by position desc limit 1`);
  return row;
}
