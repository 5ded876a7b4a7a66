import type { ConversationType, Mentions } from '@parley/contract';
import type { Queryable, Tx } from '../../../core/db.ts';
import { raw, type Sql, sql } from '../../../core/sql.ts';

/** Mentions as a message keeps them: with those who were present when it was `here`. */
export interface StoredMentions extends Mentions {
  present?: readonly string[];
}

/**
 * The users of rows of `message_mentions` for `m.mentions`, as `u (id)`; an empty one stands for everybody. The rows of a message are found by these, and so
 * by the primary key, however many a conversation has.
 */
export const mentionedOf = raw(`cross join lateral (
      select jsonb_array_elements_text(m.mentions->'users') as id
      union select jsonb_array_elements_text(m.mentions->'present')
      union select '' where (m.mentions->>'all')::boolean
        or ((m.mentions->>'here')::boolean and m.mentions->'present' is null)) u`);

/** Deletes the rows of messages; `messages` selects `position` and `mentions` of some in this conversation. */
export const deletingMentions = (conversationUuid: string, messages: Sql): Sql => sql`
  delete from message_mentions w using (
    select m.position, u.id from (${messages}) m ${mentionedOf} where m.mentions is not null) gone
  where w.conversation_id = ${conversationUuid} and w.user_id = gone.id and w.position = gone.position`;

/** In place of those that a message had; after the update of its row. */
export async function insertMentions(tx: Tx, conversationUuid: string, position: number): Promise<void> {
  await tx.execute(sql`
    insert into message_mentions (conversation_id, user_id, position)
    select m.conversation_id, u.id, m.position from messages m ${mentionedOf}
    where m.conversation_id = ${conversationUuid} and m.position = ${position} and m.mentions is not null`);
}

export async function deleteMentions(tx: Tx, conversationUuid: string, position: number): Promise<void> {
  await tx.execute(
    deletingMentions(
      conversationUuid,
      sql`select * from messages where conversation_id = ${conversationUuid} and position = ${position}`,
    ),
  );
}

/** What the rules ask before an edit of a message's mentions: whom it has, and where the new ones stand. */
export async function findMentionState(
  db: Queryable,
  conversationUuid: string,
  position: number,
  users: readonly string[],
): Promise<{ type: ConversationType; before: StoredMentions | null; members: { userId: string; active: boolean }[] }> {
  const [row] = await db.query<{ type: ConversationType; before: StoredMentions | null }>(sql`
    select c.type, m.mentions as before from messages m join conversations c on c.id = m.conversation_id
    where m.conversation_id = ${conversationUuid} and m.position = ${position}`);
  if (!row) throw new Error('a locked message was not there');
  const members = await db.query<{ userId: string; active: boolean }>(sql`
    select user_id as "userId", active from conversation_members
    where conversation_id = ${conversationUuid} and user_id = any(${users}::text[])`);
  return { ...row, members };
}
