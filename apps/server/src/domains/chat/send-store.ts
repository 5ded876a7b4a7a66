import type { Environment, Message } from '@parley/contract';
import type { Db } from '../../core/db.ts';
import { handedOnAtBirth } from '../../core/event-store.ts';
import { json, raw, type Sql, sql } from '../../core/sql.ts';
import { attachmentJson } from './message-json-store.ts';

/** One message to be stored. Everything that needs no look at the database has been checked. */
export interface SendItem {
  eventId: string;
  conversationId: string;
  /** The name the conversation was found by; it may have been renamed since. */
  name: string | null;
  /** The sender is a user with a token, not a server: rules of membership apply. */
  isUser: boolean;
  /** The record but for what the store decides: `Numbered`. */
  message: Message;
}

/** What the store decides about a message. */
export type Numbered = Pick<Message, 'seq' | 'change' | 'senderRole' | 'threadRootId' | 'attachment'>;

export type SendProblem =
  | 'GONE'
  | 'NOT_A_MEMBER'
  | 'FORBIDDEN'
  | 'ARCHIVED'
  | 'INVALID_REPLY_TARGET'
  | 'ATTACHMENT_NOT_FOUND'
  | 'ATTACHMENT_NOT_READY'
  | 'ATTACHMENT_ALREADY_USED';

export type SendOutcome =
  | {
      is: 'stored';
      message: Message;
      roomId: string | null;
      projectId: string;
      environment: Environment;
      isHandedOn: boolean;
    }
  | { is: 'repeated'; position: number }
  | { is: 'refused'; problem: SendProblem };

interface OutcomeRow {
  at: number;
  problem: SendProblem | 'REPEATED' | null;
  position: number | null;
  numbered: Numbered | null;
  roomId: string | null;
  projectId: string;
  environment: Environment;
  isHandedOn: boolean | null;
}

/**
 * Stores a batch of messages with their events; all or nothing. Conversations are locked first and in the order of
 * their ids, so that two batches cannot deadlock, and the statement after it sees everything that was committed while
 * the locks were waited for: that is what makes repeats, membership and attachments exact.
 */
export async function storeMessages(db: Db, items: readonly SendItem[]): Promise<SendOutcome[]> {
  const conversations = [...new Set(items.map((item) => item.conversationId))];
  const [, rows = []] = await db.batch([
    sql`select from conversations where id = any(${conversations}::uuid[]) order by id for update`,
    insertBatch(items),
  ]);
  // The statement says what its rows are.
  const byPlace = new Map((rows as unknown as OutcomeRow[]).map((row) => [row.at, row]));
  return items.map((item, at) => outcomeOf(item, byPlace.get(at)));
}

/** The expression of the index `messages_client_key`: whoever sent what, no two pairs give the same text. */
function clientKey(conversation: string, sender: string, id: string): Sql {
  const from = `coalesce(${sender}, '')`;
  return raw(`(${conversation}::text || length(${from})::text || ':' || ${from} || ${id})`);
}

/**
 * What a draft refers to is looked up row by row and by one index alone (`lateral … limit 1`, the other conditions
 * outside): the plan is made once a session, often while the tables are still empty, and must be good when they are not.
 */
const insertBatch = (items: readonly SendItem[]) => sql`
  with input as (
    select i.*, m.* from jsonb_to_recordset(${json(items.map((item, at) => ({ ...item, at })))}::jsonb) as i (
      at int, "eventId" text, "conversationId" uuid, name text, "isUser" boolean, message jsonb),
    jsonb_to_record(i.message) as m (
      id text, type text, text text, "senderId" text, "replyTo" text, "clientMessageId" text, "attachmentId" text,
      metadata jsonb, "clientSentAt" double precision, "createdAt" timestamptz)),
  checked as materialized (
    select i.*, c.public_id, c.project_id, c.environment, c.room_id, p.role, d.position as repeats,
      coalesce(r.thread_root_id, r.id) as root_id,
      case
        when c.id is null or c.status = 'DELETED' or c.name <> i.name then 'GONE'
        when i."isUser" and p.role is null then 'NOT_A_MEMBER'
        when i."isUser" and p.role = 'GUEST' then 'FORBIDDEN'
        when d.position is not null then 'REPEATED'
        when c.status <> 'ACTIVE' then 'ARCHIVED'
        when i."replyTo" is not null and (r.id is null or r.deleted_at is not null) then 'INVALID_REPLY_TARGET'
        when i."attachmentId" is not null and (a.status is null or a.status = 'EXPIRED') then 'ATTACHMENT_NOT_FOUND'
        when a.status = 'PENDING' then 'ATTACHMENT_NOT_READY'
        when a.status = 'ATTACHED' then 'ATTACHMENT_ALREADY_USED'
      end as problem
    from input i
    left join lateral (select * from conversations where id = i."conversationId" limit 1) c on true
    left join lateral (
      select role, active from conversation_members
      where conversation_id = i."conversationId" and user_id = i."senderId" limit 1) p on p.active
    left join lateral (
      select position from messages
      where client_message_id is not null and ${clientKey('conversation_id', 'sender_id', 'client_message_id')}
        = ${clientKey('i."conversationId"', 'i."senderId"', 'i."clientMessageId"')} limit 1) d on true
    left join lateral (
      select id, conversation_id, thread_root_id, deleted_at from messages where id = i."replyTo" limit 1) r
      on r.conversation_id = i."conversationId"
    left join lateral (
      select status, conversation_id, uploader_id from attachments where id = i."attachmentId" limit 1) a
      on a.conversation_id = i."conversationId" and (not i."isUser" or a.uploader_id = i."senderId")),
  numbered as (
    select *, row_number() over (partition by "conversationId" order by at) as n from checked where problem is null),
  bumped as (
    update conversations c set last_seq = c.last_seq + b.total, last_change = c.last_change + b.total,
      message_count = c.message_count + b.total, last_position = c.last_change + b.total,
      last_message_id = b.last_id, last_message_at = b.last_at
    from (select "conversationId" as id, count(*) as total, max("createdAt") as last_at,
                 (array_agg(id order by at desc))[1] as last_id
          from numbered group by "conversationId") b
    where c.id = b.id
    returning c.id, c.last_seq - b.total as seq, c.last_change - b.total as change),
  placed as materialized (
    select n.at, n."eventId", n.message, n.public_id, n.project_id, n.environment, n.room_id,
      n."conversationId" as conversation_id, b.change + n.n as position, b.seq + n.n as seq, b.change + n.n as change,
      n.id, n.type, n.text, n."senderId" as sender_id, n.role as sender_role, n."replyTo" as reply_to,
      n.root_id as thread_root_id, n."clientMessageId" as client_message_id, n."attachmentId" as attachment_id,
      n.metadata, n."clientSentAt" as client_sent_at, n."createdAt" as created_at
    from numbered n join bumped b on b.id = n."conversationId"),
  stored as (
    insert into messages (conversation_id, position, seq, change, id, type, text, sender_id, sender_role, reply_to,
      thread_root_id, client_message_id, attachment_id, metadata, client_sent_at, created_at)
    select conversation_id, position, seq, change, id, type, text, sender_id, sender_role, reply_to, thread_root_id,
      client_message_id, attachment_id, metadata, client_sent_at, created_at from placed),
  replied as (
    update messages root set reply_count = root.reply_count + t.total, last_reply_at = t.last_at
    from (select thread_root_id as id, count(*) as total, max(created_at) as last_at from placed
          where thread_root_id is not null group by thread_root_id) t
    where root.id = t.id),
  attached as (
    update attachments a set status = 'ATTACHED', message_id = m.id, expires_at = null
    from placed m where a.id = m.attachment_id),
  seen as (
    update conversation_members p set last_read_seq = s.seq, last_read_position = s.position,
      last_read_message_id = s.id, last_read_at = s.created_at
    from (select distinct on (conversation_id, sender_id) * from placed where sender_id is not null
          order by conversation_id, sender_id, seq desc) s
    where p.conversation_id = s.conversation_id and p.user_id = s.sender_id and p.last_read_seq < s.seq),
  written as materialized (
    select m.at, m."eventId", m.project_id, m.environment, m.room_id, m.public_id, m.change, m.created_at, m.message,
           ${handedOnAtBirth('m.project_id', 'm.environment')} as handed_on,
           jsonb_build_object('seq', m.seq, 'change', m.change, 'senderRole', m.sender_role,
             'threadRootId', m.thread_root_id,
             'attachment', case when m.attachment_id is not null then ${attachmentJson}::jsonb end) as numbered
    from placed m cross join lateral (select m.public_id) c),
  recorded as (
    insert into events (id, project_id, environment, type, topic, data, created_at, dispatched_at)
    select "eventId", project_id, environment, 'message.created', 'chat/' || public_id,
      jsonb_build_object('conversationId', public_id, 'roomId', room_id, 'change', change,
        'message', message || numbered),
      created_at, case when handed_on then created_at end
    from written)
  select at, null as problem, null::bigint as position, numbered, room_id as "roomId", project_id as "projectId",
         environment, handed_on as "isHandedOn" from written
  union all
  select at, problem, repeats, null, null, project_id, environment, null from checked where problem is not null`;

function outcomeOf({ message }: SendItem, row: OutcomeRow | undefined): SendOutcome {
  if (!row) throw new Error('a message of the batch has no outcome');
  if (row.problem === 'REPEATED') return { is: 'repeated', position: row.position ?? 0 };
  if (row.problem !== null) return { is: 'refused', problem: row.problem };
  const { numbered, roomId, projectId, environment, isHandedOn } = row;
  if (numbered === null) throw new Error('a stored message has no numbers');
  const stored = { ...message, ...numbered };
  return { is: 'stored', message: stored, roomId, projectId, environment, isHandedOn: isHandedOn === true };
}
