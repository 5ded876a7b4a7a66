import { empty, raw, sql } from '../../../core/sql.ts';
import { isoJson } from '../messages/json-store.ts';
import type { SendWay } from '../messages/send-way-store.ts';

const sameClientId = `conversation_id = i."conversationId" and sender_id = i."senderId"
          and client_message_id = i."clientMessageId"`;

const laterTime = `greatest(n."createdAt"::timestamptz, b.last_at + n.n * interval '1 millisecond')`;

/** Why a message is not for others after all: what the statement that stores it for all asks (ADR 211). */
export const shadowProblems = {
  /** By a sender who is in the shadow, or who was and may repeat what they sent then: others have no time in their row. */
  ofSender: raw(`when i."isUser" and p.shadowed_until > i."createdAt"::timestamptz then 'SHADOWED'
        when i."isUser" and p.shadowed_until is not null and i."clientMessageId" is not null then 'ONCE_SHADOWED'`),
  /** Whether one who was repeats it: asked for nobody else, since every subplan costs every send. */
  ofOnceShadowed: raw(`when i."isUser" and p.shadowed_until is not null and (
            p.shadowed_until > i."createdAt"::timestamptz
            or exists (select from shadow_messages where ${sameClientId} limit 1)) then 'SHADOWED'`),

  /** An answer to what others do not see. */
  ofReply: raw(`when i."replyTo" is not null and r.id is null and i."isUser" and exists (
          select from shadow_messages where id = i."replyTo" and sender_id = i."senderId" limit 1) then 'SHADOWED'`),
};

/** Into the table that only the sender reads, by the statement of `send-store.ts`. */
export const intoShadow: SendWay = {
  repeatedAt: raw('coalesce(d.position, e.n)'),
  problems: () => raw(`when e.n is not null then 'REPEATED_IN_SHADOW'`),
  repeats: raw(`left join lateral (select n from shadow_messages where ${sameClientId} limit 1) e on true`),

  replyProblems: empty,
  replyTarget: raw(`left join lateral (
      (select id, conversation_id, thread_root_id, deleted_at from messages where id = i."replyTo" limit 1)
      union all
      (select id, conversation_id, thread_root_id, deleted_at from shadow_messages
       where id = i."replyTo" and sender_id = i."senderId" limit 1)) r on r.conversation_id = i."conversationId"`),

  /** It stands behind the last message, and has its numbers. */
  bumped: () =>
    raw(`bumped as (
    select distinct on (c.id) c.id, c.last_seq as seq, c.last_position as change, greatest(c.last_message_at, (
        select created_at from shadow_messages where conversation_id = c.id order by n desc limit 1)) as last_at
    from numbered n
    cross join lateral (
      select id, last_seq, last_position, last_message_at from conversations where id = n."conversationId" limit 1) c),`),
  numbers: raw('b.change as position, b.seq, b.change'),
  /** Later than what it stands behind, whatever the clocks say: among equal numbers clients go by time. */
  times: sql`${isoJson(laterTime)} as created_text, ${raw(laterTime)} as created_at,
        n."createdAt"::timestamptz as given_at`,

  /** Nothing that others read. `shadowed_until` says from now on that there is something to be merged. */
  stored: ({ mentions, extras }) =>
    raw(`stored as (
    insert into shadow_messages (conversation_id, position, seq, change, id, type, text, sender_id, sender_role, reply_to,
      thread_root_id, client_message_id, attachment_id, attachment_ids, metadata, client_sent_at, created_at
      ${mentions ? ', mentions' : ''}${extras ? ', poll, forwarded' : ''})
    select conversation_id, position, seq, change, id, type, text, sender_id, sender_role, reply_to, thread_root_id,
      client_message_id, attachment_id, attachment_ids, metadata, client_sent_at, created_at
      ${mentions ? ', mentions' : ''}${extras ? ', poll, forwarded' : ''}
    from placed order by at),
  marked as (
    update conversation_members p set last_sent_at = s.sent_at, shadowed_until = greatest(p.shadowed_until, s.sent_at)
    from (select conversation_id, sender_id, max(given_at) as sent_at from placed group by 1, 2) s
    where p.conversation_id = s.conversation_id and p.user_id = s.sender_id),
  recorded as (
    insert into events (id, project_id, environment, type, topic, data, created_at, dispatched_at)
    select "eventId", project_id, environment, 'message.shadowed', null,
      concat('{"conversationId":"', public_id, '","roomId":', coalesce(to_json(room_id)::text, 'null'),
        ',"message":', record, '}'),
      created_at, case when is_dispatched then created_at end
    from placed)`),
};
