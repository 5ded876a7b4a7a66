import type { Queryable } from '../../../core/db.ts';
import { type Person, type Place, placeAfter } from '../../../core/personal-data.ts';
import { empty, sql } from '../../../core/sql.ts';

/** A conversation in which there is something of a user. */
interface TouchedConversation {
  id: string;
  hasMessages: boolean;
}

/** Conversations that one statement looks at. */
const conversationsMax = 200;

/**
 * The next conversations of the environment, and in which of them there is something of the user. No index leads from
 * a user to what they left behind: each conversation is asked, by its own indexes.
 */
export async function walkConversations(
  db: Queryable,
  { projectId, environment, userId }: Person,
  place: Place,
): Promise<{ rows: TouchedConversation[]; next: Place }> {
  const after = place === null ? null : (JSON.parse(place) as [string, string]);
  const rows = await db.query<TouchedConversation & { createdAt: string; isTouched: boolean }>(sql`
    select c.*, c."hasMessages" or c."isMember" or c."hasDeleted" or c."isMentioned" as "isTouched" from (
      select c.id, c.created_at as "createdAt",
        exists (select from messages m where m.conversation_id = c.id and m.sender_id = ${userId}) as "hasMessages",
        exists (select from conversation_members p
                where p.conversation_id = c.id and p.user_id = ${userId}) as "isMember",
        exists (select from messages d where d.conversation_id = c.id and d.deleted_at is not null
                  and d.deleted_by = ${userId}) as "hasDeleted",
        exists (select from message_mentions n
                where n.conversation_id = c.id and n.user_id = ${userId}) as "isMentioned"
      from (select id, created_at from conversations
            where project_id = ${projectId} and environment = ${environment} and status <> 'DELETED'
              ${after ? sql`and (created_at, id) < (${after[0]}::timestamptz, ${after[1]}::uuid)` : empty}
            order by created_at desc, id desc limit ${conversationsMax}) c
      order by c.created_at desc, c.id desc) c`);
  return {
    rows: rows.filter(({ isTouched }) => isTouched),
    next: placeAfter(rows, conversationsMax, ({ createdAt, id }) => [createdAt, id]),
  };
}

/** A user's reactions among the next rows of the table. */
export async function scanReactions(
  db: Queryable,
  { projectId, environment, userId }: Person,
  place: Place,
  limit: number,
): Promise<{
  rows: { conversationUuid: string; conversationId: string; messageId: string; emoji: string; createdAt: string }[];
  next: Place;
}> {
  const after = place === null ? null : (JSON.parse(place) as [string, string, string]);
  const from = after ? sql`where (message_id, emoji, user_id) > (${after[0]}, ${after[1]}, ${after[2]})` : empty;
  const [last] = await db.query<{ messageId: string; emoji: string; userId: string }>(sql`
    select message_id as "messageId", emoji, user_id as "userId" from reactions ${from}
    order by message_id, emoji, user_id offset ${limit - 1} limit 1`);
  const rows = await db.query<{
    conversationUuid: string;
    conversationId: string;
    messageId: string;
    emoji: string;
    createdAt: string;
  }>(sql`
    select c.id as "conversationUuid", c.public_id as "conversationId", r.message_id as "messageId", r.emoji,
      r.created_at as "createdAt"
    from (select * from (select * from reactions ${from} order by message_id, emoji, user_id limit ${limit}) r
          where r.user_id = ${userId}) r
    join messages m on m.id = r.message_id join conversations c on c.id = m.conversation_id
    where c.project_id = ${projectId} and c.environment = ${environment} and c.status <> 'DELETED'
    order by r.message_id, r.emoji`);
  return { rows, next: last ? JSON.stringify([last.messageId, last.emoji, last.userId]) : null };
}
