import type { LinkPreview, Message } from '@parley/contract';
import type { Tx } from '../../../core/db.ts';
import { empty, json, sql } from '../../../core/sql.ts';
import { messageJson } from './json-store.ts';

/** When a message was edited last; undefined where there is none, or no more. The caller holds the conversation's lock. */
export async function findFresh(
  tx: Tx,
  conversationUuid: string,
  messageId: string,
): Promise<{ editedAt: string | null } | undefined> {
  const [row] = await tx.query<{ editedAt: string | null }>(sql`
    select edited_at as "editedAt" from messages
    where id = ${messageId} and conversation_id = ${conversationUuid} and deleted_at is null`);
  return row;
}

/** The record as it is now, under its change number. */
export async function renewMessage(
  tx: Tx,
  messageId: string,
  change: number,
  preview: LinkPreview | undefined,
): Promise<Message> {
  const [row] = await tx.query<{ message: Message }>(sql`
    with m as (
      update messages set change = ${change}
        ${preview === undefined ? empty : sql`, link_preview = ${json(preview)}::jsonb`}
      where id = ${messageId} returning *)
    select ${messageJson(null)} as message from m join conversations c on c.id = m.conversation_id`);
  if (!row) throw new Error('a locked message was not there');
  return row.message;
}
