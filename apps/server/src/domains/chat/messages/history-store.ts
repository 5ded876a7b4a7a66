import type { ChatMemberRole, ConversationStatus } from '@parley/contract';
import type { Reader } from '../../../core/db.ts';
import { empty, raw, type Sql, sql, statements } from '../../../core/sql.ts';
import { epochOf } from '../live/channel-store.ts';
import { messageText } from './json-store.ts';

/** What a read of a conversation says about it, beside what was read: the caller may not be allowed to see it. */
export interface ReadGate {
  name: string;
  status: ConversationStatus;
  role: ChatMemberRole | null;
  /** The reader may have messages that nobody else has. */
  isMarked: boolean;
}

/** Which changes of a conversation a server has, and in which life of the database. */
export interface Extent {
  epoch: string;
  lastChange: number;
}

const isMarked = raw(`p.shadowed_until is not null as "isMarked"`);
const extent = sql`c.last_change as "lastChange", ${epochOf('c')} as epoch`;

/** Who may read a conversation, and how far it is: without any of its messages. */
export async function findStanding(
  db: Reader,
  conversation: string,
  user: string | null,
): Promise<(ReadGate & Extent) | undefined> {
  const [row] = await db.query<ReadGate & Extent>(sql`
    select c.name, c.status, p.role, ${isMarked}, ${extent}
    from conversations c ${roleOf(user)} where c.id = ${conversation}`);
  return row;
}

interface HistoryFilter {
  before: number | null;
  after: number | null;
  threadRootId: string | null;
  senderId: string | null;
  includeDeleted: boolean;
  limit: number;
}

interface HistoryRow extends ReadGate, Extent {
  /** The page as a JSON array, newest first. */
  text: string;
  /** Positions of its oldest and newest message; null on an empty page. */
  oldest: number | null;
  newest: number | null;
  hasMore: boolean;
  /** Of the newest message of all, in the same snapshot as the page. */
  lastPosition: number;
}

/**
 * A page size as part of the text: with a parameter the database thinks of a tenth of the conversation, and then plans
 * again for every page because the size it is given looks so much better. Rare sizes are not worth a statement each.
 */
const sizes = new Set([10, 20, 25, 30, 50, 100, 200, 500]);
const usual = (limit: number): number | null => (sizes.has(limit) ? limit : null);

/** The reader's place in `c`; a server has none. */
const roleOf = (userId: unknown): Sql =>
  userId === null
    ? raw('cross join (select null as role, null as shadowed_until) p')
    : sql`left join conversation_members p on p.conversation_id = c.id and p.user_id = ${userId} and p.active`;

interface PageShape {
  direction: 'newest' | 'before' | 'after';
  hasUser: boolean;
  hasThread: boolean;
  hasSender: boolean;
  includeDeleted: boolean;
  limit: number | null;
}

interface PageValues {
  conversation: string;
  user: string | null;
  cursor: number | null;
  thread: string | null;
  sender: string | null;
  limit: number;
}

const pageStatement = statements<PageShape, PageValues>((shape, at) => {
  const filters = sql`m.conversation_id = c.id
    ${shape.hasThread ? sql`and m.thread_root_id = ${at('thread')}` : empty}
    ${shape.hasSender ? sql`and m.sender_id = ${at('sender')}` : empty}
    ${shape.includeDeleted ? empty : sql`and m.deleted_at is null`}`;
  // With `after` the page is what comes next, not what is newest; it is shown newest first all the same.
  const isForward = shape.direction === 'after';
  const [order, beyond] = isForward ? [raw('asc'), raw('>')] : [raw('desc'), raw('<')];
  const from = shape.direction === 'newest' ? empty : sql`and m.position ${beyond} ${at('cursor')}`;
  const limit = shape.limit === null ? sql`${at('limit')}` : raw(String(shape.limit));
  const user = shape.hasUser ? at('user') : null;
  // Not `exists`: only what is asked for in an order is sure to be looked up in the index.
  const next = sql`select m.position from messages m
    where ${filters} and m.position ${beyond} ${raw(isForward ? 'h.newest' : 'h.oldest')}
    order by m.position ${order} limit 1`;
  return sql`
    select c.name, c.status, p.role, ${isMarked}, c.last_position as "lastPosition", ${extent}, h.text, h.oldest, h.newest,
           h.total = ${limit} and (${next}) is not null as "hasMore"
    from conversations c ${roleOf(user)}
    cross join lateral (
      select concat('[', string_agg(${messageText(user)}, ','${raw(isForward ? ' order by m.position desc' : '')}), ']') as text,
             min(m.position) as oldest, max(m.position) as newest, count(*) as total
      from (select m.* from messages m where ${filters} ${from} order by m.position ${order} limit ${limit}) m) h
    where c.id = ${at('conversation')}`;
});

/** One page of history and the right to see it, in one statement and one snapshot. */
export async function readHistory(
  db: Reader,
  conversation: string,
  user: string | null,
  { before, after, threadRootId: thread, senderId: sender, includeDeleted, limit }: HistoryFilter,
): Promise<HistoryRow | undefined> {
  const shape: PageShape = {
    direction: after !== null ? 'after' : before !== null ? 'before' : 'newest',
    hasUser: user !== null,
    hasThread: thread !== null,
    hasSender: sender !== null,
    includeDeleted,
    limit: usual(limit),
  };
  const cursor = after ?? before;
  const [row] = await db.query<HistoryRow>(pageStatement(shape, { conversation, user, cursor, thread, sender, limit }));
  return row;
}

interface ChangesRow extends ReadGate, Extent {
  /** The changes as a JSON array, oldest first. */
  text: string;
  newest: number | null;
  hasMore: boolean;
}

interface ChangesShape {
  hasUser: boolean;
  limit: number | null;
}

interface ChangesValues {
  conversation: string;
  user: string | null;
  since: number;
  limit: number;
}

const changesStatement = statements<ChangesShape, ChangesValues>((shape, at) => {
  const user = shape.hasUser ? at('user') : null;
  const limit = shape.limit === null ? sql`${at('limit')}::int` : raw(String(shape.limit));
  return sql`
    select c.name, c.status, p.role, ${isMarked}, ${extent}, l.*
    from conversations c ${roleOf(user)}
    cross join lateral (
      select concat('[', string_agg(${changeText(user)}, ',' order by x.change)
               filter (where x.n <= ${limit} and (not x.is_message or m.id is not null)), ']') as text,
             max(x.change) filter (where x.n <= ${limit}) as newest, count(*) > ${limit} as "hasMore"
      from (
        select u.*, row_number() over (order by u.change) as n from (
          (select position as change, 'message' as type, id as message_id, '{}'::jsonb as data, true as is_message
           from messages where conversation_id = c.id and position > ${at('since')} order by position limit ${limit} + 1)
          union all
          (select change, type, message_id, data, type like 'message.%' and type not like 'message.%pinned'
           from conversation_changes where conversation_id = c.id and change > ${at('since')}
           order by change limit ${limit} + 1)) u
        order by u.change limit ${limit} + 1) x
      left join messages m on x.is_message and m.id = x.message_id) l
    where c.id = ${at('conversation')}`;
});

/** The next changes after a number, in the shape of the live frames and with the messages as they are now. */
export async function readChanges(
  db: Reader,
  conversation: string,
  user: string | null,
  { since, limit }: { since: number; limit: number },
): Promise<ChangesRow | undefined> {
  const shape = { hasUser: user !== null, limit: usual(limit) };
  const [row] = await db.query<ChangesRow>(changesStatement(shape, { conversation, user, since, limit }));
  return row;
}

const changeText = (viewer: unknown): Sql => sql`case when x.is_message
  then concat('{"type":"', x.type, '","conversationId":"', c.public_id, '","change":', x.change, ',"message":', ${messageText(viewer)}, '}')
  else (jsonb_build_object('type', x.type, 'conversationId', c.public_id, 'change', x.change) || x.data)::text end`;
