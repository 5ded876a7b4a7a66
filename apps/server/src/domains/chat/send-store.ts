import type { Environment } from '@parley/contract';
import type { Db } from '../../core/db.ts';
import { json, sql } from '../../core/sql.ts';
import { messageJson } from './message-json-store.ts';

/** One message to be stored. Everything that needs no look at the database has been checked. */
export interface SendItem {
  id: string;
  eventId: string;
  conversationId: string;
  /** The name the conversation was found by; it may have been renamed since. */
  name: string | null;
  /** The sender is a user with a token, not a server: rules of membership apply. */
  isUser: boolean;
  type: string;
  text: string | null;
  senderId: string | null;
  replyTo: string | null;
  clientMessageId: string | null;
  attachmentId: string | null;
  metadata: object;
  clientSentAt: number | null;
  createdAt: string;
}

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
      text: string;
      conversationId: string;
      roomId: string | null;
      projectId: string;
      environment: Environment;
      change: number;
    }
  | { is: 'repeated'; position: number }
  | { is: 'refused'; problem: SendProblem };

interface OutcomeRow {
  at: number;
  problem: SendProblem | 'REPEATED' | null;
  position: number | null;
  text: string | null;
  publicId: string;
  roomId: string | null;
  projectId: string;
  environment: Environment;
  change: number | null;
}

/**
 * Stores a batch of messages with their events; all or nothing. Conversations are locked first and in the order of
 * their ids, so that two batches cannot deadlock, and the statement after it sees everything that was committed while
 * the locks were waited for: that is what makes repeats, membership and attachments exact.
 */
export async function storeMessages(db: Db, items: readonly SendItem[]): Promise<SendOutcome[]> {
  const conversations = [...new Set(items.map((item) => item.conversationId))];
  const rows = await db.transaction(async (tx) => {
    await tx.execute(sql`select from conversations where id = any(${conversations}::uuid[]) order by id for update`);
    return tx.query<OutcomeRow>(insertBatch(items));
  });
  const byPlace = new Map(rows.map((row) => [row.at, row]));
  return items.map((_item, at) => outcomeOf(byPlace.get(at)));
}

const insertBatch = (items: readonly SendItem[]) => sql`
  with input as (
    select * from jsonb_to_recordset(${json(items.map((item, at) => ({ ...item, at })))}::jsonb) as i (
      at int, id text, "eventId" text, "conversationId" uuid, name text, "isUser" boolean, type text, text text,
      "senderId" text, "replyTo" text, "clientMessageId" text, "attachmentId" text, metadata jsonb,
      "clientSentAt" double precision, "createdAt" timestamptz)),
  checked as (
    select i.*, c.public_id, c.project_id, c.environment, c.room_id, p.role, d.position as repeats,
      coalesce(r.thread_root_id, r.id) as root_id,
      case
        when c.id is null or c.status = 'DELETED' or c.name <> i.name then 'GONE'
        when i."isUser" and p.role is null then 'NOT_A_MEMBER'
        when i."isUser" and p.role = 'GUEST' then 'FORBIDDEN'
        when d.position is not null then 'REPEATED'
        when c.status <> 'ACTIVE' then 'ARCHIVED'
        when i."replyTo" is not null and (r.id is null or r.deleted_at is not null) then 'INVALID_REPLY_TARGET'
        when i."attachmentId" is not null and (a.id is null or a.status = 'EXPIRED') then 'ATTACHMENT_NOT_FOUND'
        when a.status = 'PENDING' then 'ATTACHMENT_NOT_READY'
        when a.status = 'ATTACHED' then 'ATTACHMENT_ALREADY_USED'
      end as problem
    from input i
    left join conversations c on c.id = i."conversationId"
    left join conversation_members p on p.conversation_id = c.id and p.user_id = i."senderId" and p.active
    left join messages d on d.conversation_id = c.id and coalesce(d.sender_id, '') = coalesce(i."senderId", '')
      and d.client_message_id = i."clientMessageId"
    left join messages r on r.id = i."replyTo" and r.conversation_id = c.id
    left join attachments a on a.id = i."attachmentId" and a.conversation_id = c.id
      and (not i."isUser" or a.uploader_id = i."senderId")),
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
  m as (
    insert into messages (conversation_id, position, seq, change, id, type, text, sender_id, sender_role, reply_to,
      thread_root_id, client_message_id, attachment_id, metadata, client_sent_at, created_at)
    select n."conversationId", b.change + n.n, b.seq + n.n, b.change + n.n, n.id, n.type, n.text, n."senderId", n.role,
      n."replyTo", n.root_id, n."clientMessageId", n."attachmentId", n.metadata, n."clientSentAt", n."createdAt"
    from numbered n join bumped b on b.id = n."conversationId"
    returning *),
  replied as (
    update messages root set reply_count = root.reply_count + t.total, last_reply_at = t.last_at
    from (select root_id, count(*) as total, max("createdAt") as last_at from numbered
          where root_id is not null group by root_id) t
    where root.id = t.root_id),
  attached as (
    update attachments a set status = 'ATTACHED', message_id = n.id, expires_at = null
    from numbered n where a.id = n."attachmentId"),
  seen as (
    update conversation_members p set last_read_seq = s.seq, last_read_position = s.position,
      last_read_message_id = s.id, last_read_at = s.created_at
    from (select distinct on (conversation_id, sender_id) * from m where sender_id is not null
          order by conversation_id, sender_id, seq desc) s
    where p.conversation_id = s.conversation_id and p.user_id = s.sender_id and p.last_read_seq < s.seq),
  written as (
    select n.at, n."eventId", n.project_id, n.environment, n.room_id, c.public_id, m.change, m.created_at,
           ${messageJson(null)} as message
    from m join numbered n on n.id = m.id
    join lateral (select n.public_id) c on true),
  recorded as (
    insert into events (id, project_id, environment, type, topic, data, created_at)
    select "eventId", project_id, environment, 'message.created', 'chat/' || public_id,
      jsonb_build_object('conversationId', public_id, 'roomId', room_id, 'change', change, 'message', message::jsonb),
      created_at
    from written)
  select at, null as problem, null::bigint as position, message::text as text, public_id as "publicId",
         room_id as "roomId", project_id as "projectId", environment, change from written
  union all
  select at, problem, repeats, null, public_id, null, project_id, environment, null from checked where problem is not null`;

function outcomeOf(row: OutcomeRow | undefined): SendOutcome {
  if (!row) throw new Error('a message of the batch has no outcome');
  if (row.problem === 'REPEATED') return { is: 'repeated', position: row.position ?? 0 };
  if (row.problem !== null) return { is: 'refused', problem: row.problem };
  const { text, publicId, roomId, projectId, environment, change } = row;
  if (text === null || change === null) throw new Error('a stored message has no record');
  return { is: 'stored', text, conversationId: publicId, roomId, projectId, environment, change };
}
