import type { ChatMemberRole, ConversationStatus } from '@parley/contract';
import type { Queryable } from '../../core/db.ts';
import { empty, raw, sql } from '../../core/sql.ts';
import { messageText } from './message-json-store.ts';

/** What a read of a conversation says about it, beside what was read: the caller may not be allowed to see it. */
export interface ReadGate {
  name: string;
  status: ConversationStatus;
  role: ChatMemberRole | null;
}

export interface HistoryFilter {
  before: number | null;
  after: number | null;
  threadRootId: string | null;
  senderId: string | null;
  includeDeleted: boolean;
  limit: number;
}

export interface HistoryRow extends ReadGate {
  /** The page as a JSON array, newest first. */
  text: string;
  /** Positions of its oldest and newest message; null on an empty page. */
  oldest: number | null;
  newest: number | null;
  hasMore: boolean;
  /** Of the newest message of all, in the same snapshot as the page. */
  lastPosition: number;
}

/** One page of history and the right to see it, in one statement and one snapshot. */
export async function readHistory(
  db: Queryable,
  conversationUuid: string,
  userId: string | null,
  filter: HistoryFilter,
): Promise<HistoryRow | undefined> {
  const { before, after, threadRootId, senderId, includeDeleted, limit } = filter;
  const filters = sql`m.conversation_id = c.id
    ${threadRootId === null ? empty : sql`and m.thread_root_id = ${threadRootId}`}
    ${senderId === null ? empty : sql`and m.sender_id = ${senderId}`}
    ${includeDeleted ? empty : sql`and m.deleted_at is null`}`;
  // With `after` the page is what comes next, not what is newest; it is shown newest first all the same.
  const isForward = after !== null;
  const from = isForward ? sql`and m.position > ${after}` : before === null ? empty : sql`and m.position < ${before}`;
  const order = raw(isForward ? 'asc' : 'desc');
  // Not `exists`: only what is asked for in an order is sure to be looked up in the index.
  const next = sql`select m.position from messages m where ${filters}
    and ${raw(isForward ? 'm.position > h.newest' : 'm.position < h.oldest')} order by m.position ${order} limit 1`;
  const [row] = await db.query<HistoryRow>(sql`
    select c.name, c.status, p.role, c.last_position as "lastPosition", h.text, h.oldest, h.newest,
           h.total = ${limit} and (${next}) is not null as "hasMore"
    from conversations c
    left join conversation_members p on p.conversation_id = c.id and p.user_id = ${userId} and p.active
    cross join lateral (
      select concat('[', string_agg(${messageText(userId)}, ','${isForward ? raw(' order by m.position desc') : empty}), ']') as text,
             min(m.position) as oldest, max(m.position) as newest, count(*) as total
      from (select m.* from messages m where ${filters} ${from}
            order by m.position ${order} limit ${limit}) m) h
    where c.id = ${conversationUuid}`);
  return row;
}

export interface ChangesRow extends ReadGate {
  /** The changes as a JSON array, oldest first. */
  text: string;
  newest: number | null;
  hasMore: boolean;
  lastChange: number;
}

/** The next changes after a number, in the shape of the live frames and with the messages as they are now. */
export async function readChanges(
  db: Queryable,
  conversationUuid: string,
  userId: string | null,
  { since, limit }: { since: number; limit: number },
): Promise<ChangesRow | undefined> {
  const [row] = await db.query<ChangesRow>(sql`
    select c.name, c.status, p.role, c.last_change as "lastChange", l.*
    from conversations c
    left join conversation_members p on p.conversation_id = c.id and p.user_id = ${userId} and p.active
    cross join lateral (
      select concat('[', string_agg(${changeText(userId)}, ',' order by x.change)
               filter (where x.n <= ${limit} and (not x.is_message or m.id is not null)), ']') as text,
             max(x.change) filter (where x.n <= ${limit}) as newest, count(*) > ${limit} as "hasMore"
      from (
        select u.*, row_number() over (order by u.change) as n from (
          (select position as change, 'message' as type, id as message_id, '{}'::jsonb as data, true as is_message
           from messages where conversation_id = c.id and position > ${since} order by position limit ${limit + 1})
          union all
          (select change, type, message_id, data, type like 'message.%'
           from conversation_changes where conversation_id = c.id and change > ${since}
           order by change limit ${limit + 1})) u
        order by u.change limit ${limit + 1}) x
      left join messages m on x.is_message and m.id = x.message_id) l
    where c.id = ${conversationUuid}`);
  return row;
}

const changeText = (viewer: string | null) => sql`case when x.is_message
  then concat('{"type":"', x.type, '","conversationId":"', c.public_id, '","change":', x.change, ',"message":', ${messageText(viewer)}, '}')
  else (jsonb_build_object('type', x.type, 'conversationId', c.public_id, 'change', x.change) || x.data)::text end`;
