import { ChatMemberRole, roleCan } from '@parley/contract';
import { raw } from '../../../core/sql.ts';
import { mentionedOf } from './mention-store.ts';

const tooLow = ChatMemberRole.enum.filter((role) => !roleCan(role, 'mentionAll'));
const isForMany = (row: string): string =>
  `((${row}.mentions->>'all')::boolean or (${row}.mentions->>'here')::boolean)`;

/** The parts of the statement of `send-store.ts` that only batches with mentions have. */
export const mentionSends = {
  /** Conditions of a refusal. */
  problems: raw(`
        when i."isUser" and c.type <> 'DIRECT' and p.role in ('${tooLow.join("', '")}') and ${isForMany('i')}
          then 'MENTION_FORBIDDEN'
        when w.non_members is not null then 'UNKNOWN_MENTIONS'`),

  /** Who was removed meanwhile is not mentioned; who never was there is a mistake of the sender's (ADR 0182). */
  members: raw(`left join lateral (
      select jsonb_agg(u.id order by u.n) filter (where k.active) as mentioned,
             jsonb_agg(u.id order by u.n) filter (where k.active is null) as non_members
      from jsonb_array_elements_text(i.mentions->'users') with ordinality u (id, n)
      left join lateral (
        select active from conversation_members
        where conversation_id = i."conversationId" and user_id = u.id limit 1) k on true) w on true`),

  /** What the row of the message gets. */
  stored: raw(`case when n.mentioned is not null or ${isForMany('n')}
          then n.mentions || jsonb_build_object('users', coalesce(n.mentioned, '[]')) end as mentions,
        n."mentionEventId",`),

  /** The rows that unread mentions are counted from, and the event. */
  inserts: raw(`mentioned as (
    insert into message_mentions (conversation_id, user_id, position)
    select m.conversation_id, u.id, m.position from placed m ${mentionedOf.text} where m.mentions is not null),
  told as (
    insert into events (id, project_id, environment, type, topic, data, created_at, dispatched_at)
    select m."mentionEventId", m.project_id, m.environment, 'message.mentioned', 'chat/' || m.public_id,
      jsonb_build_object('conversationId', m.public_id, 'messageId', m.id, 'senderId', m.sender_id,
        'userIds', (select coalesce(jsonb_agg(u.id order by u.id), '[]') from (select) one ${mentionedOf.text}
                    where u.id <> ''),
        'here', m.mentions->'here', 'all', m.mentions->'all', 'at', m.created_text)::text,
      m.created_at, case when m.is_dispatched then m.created_at end
    from placed m where m.mentions is not null),`),
};
