import {
  type ChatOverview,
  type ConversationOverview,
  countedMax,
  type MessageMetadata,
  pinsMax,
} from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import type { Reader } from '../../../core/db.ts';
import { empty, raw, type Sql, sql } from '../../../core/sql.ts';

export async function countChat(
  db: Reader,
  { projectId, environment }: ProjectScope,
  { now, dayAgo, weekAgo }: { now: string; dayAgo: string; weekAgo: string },
): Promise<Omit<ChatOverview, 'hours'>> {
  const [row] = await db.query<Record<string, number>>(sql`
    with c as (
      select id, status, member_count, message_count, reaction_count, last_message_at from conversations
      where project_id = ${projectId} and environment = ${environment} and status <> 'DELETED'),
    recent as (
      select count(*) as week, count(*) filter (where m.created_at > ${dayAgo}) as day
      from c join messages m on m.conversation_id = c.id
      where c.last_message_at > ${weekAgo} and m.created_at > ${weekAgo} and m.deleted_at is null)
    select count(*) as total, count(*) filter (where status = 'ACTIVE') as active,
      count(*) filter (where status = 'ARCHIVED') as archived, coalesce(sum(member_count), 0) as members,
      coalesce(sum(message_count), 0) as messages, coalesce(sum(reaction_count), 0) as reactions,
      (select day from recent) as day, (select week from recent) as week,
      (select count(*) from attachments a join c on c.id = a.conversation_id
        where a.status in ('UPLOADED', 'ATTACHED')) as attachments,
      (select count(*) from chat_connections where project_id = ${projectId} and environment = ${environment}
        and disconnected_at is null) as connections
    from c`);
  const of = (name: string): number => row?.[name] ?? 0;
  return {
    conversations: { total: of('total'), active: of('active'), archived: of('archived') },
    members: of('members'),
    messages: { total: of('messages'), last24h: of('day'), last7d: of('week') },
    connections: { active: of('connections') },
    reactions: of('reactions'),
    attachments: of('attachments'),
    asOf: now,
  };
}

/** Messages by the hour they were sent in, for the hours that have any. */
export async function countHours(
  db: Reader,
  { projectId, environment }: ProjectScope,
  since: string,
): Promise<Map<number, number>> {
  const rows = await db.query<{ hour: number; messages: number }>(sql`
    select floor(extract(epoch from m.created_at) / 3600)::int as hour, count(*) as messages
    from conversations c join messages m on m.conversation_id = c.id
    where c.project_id = ${projectId} and c.environment = ${environment} and c.status <> 'DELETED'
      and c.last_message_at > ${since} and m.created_at >= ${since} and m.deleted_at is null
    group by 1`);
  return new Map(rows.map(({ hour, messages }) => [hour, messages]));
}

const scheduledIn = (conversationUuid: string, isFailed: boolean): Sql => sql`
  select send_at from scheduled_messages
  where conversation_id = ${conversationUuid} and status <> 'SENT' and status ${raw(isFailed ? '=' : '<>')} 'FAILED'
  order by send_at, id limit ${countedMax}`;

/** What is pinned, asked and planned in a conversation: each by an index of its own, however many messages there are. */
export async function countParts(
  db: Reader,
  conversationUuid: string,
): Promise<Pick<ConversationOverview, 'pins' | 'polls' | 'scheduled'>> {
  const [row] = await db.query<Record<string, number> & { nextAt: string | null }>(sql`
    select
      (select count(*) from message_pins where conversation_id = ${conversationUuid}) as pins,
      p.polls, p.open, p.voters, w.waiting, w.next_at as "nextAt", f.failed
    from (
      select count(*) as polls, count(*) filter (where poll->>'closedAt' is null) as open,
        coalesce(sum((poll->>'voters')::int), 0) as voters
      from (select poll from messages where conversation_id = ${conversationUuid} and poll is not null
            order by position desc limit ${countedMax}) newest) p,
    (select count(*) as waiting, min(send_at) as next_at from (${scheduledIn(conversationUuid, false)}) first) w,
    (select count(*) as failed from (${scheduledIn(conversationUuid, true)}) first) f`);
  const of = (name: string): number => row?.[name] ?? 0;
  return {
    pins: { count: of('pins'), max: pinsMax },
    polls: {
      open: of('open'),
      closed: of('polls') - of('open'),
      voters: of('voters'),
      isCapped: of('polls') === countedMax,
    },
    scheduled: {
      waiting: of('waiting'),
      failed: of('failed'),
      nextAt: row?.nextAt ?? null,
      isCapped: Math.max(of('waiting'), of('failed')) === countedMax,
    },
  };
}

/** What may be known of messages without reading them, newest first. */
export async function listMessageMetadata(
  db: Reader,
  conversationUuid: string,
  before: number | null,
  limit: number,
): Promise<(MessageMetadata & { position: number })[]> {
  return db.query(sql`
    select position, id, id as "publicId", seq, type, sender_id as "senderId", thread_root_id as "threadRootId",
      case when deleted_at is not null then 'DELETED' when edited_at is not null then 'EDITED' else 'SENT' end as status,
      created_at as "createdAt", edited_at as "editedAt", deleted_at as "deletedAt",
      extract(epoch from created_at) * 1000 - client_sent_at as "latencyMs"
    from messages where conversation_id = ${conversationUuid}
      ${before === null ? empty : sql`and position < ${before}`}
    order by position desc limit ${limit}`);
}
