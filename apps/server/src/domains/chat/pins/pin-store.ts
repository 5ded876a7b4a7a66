import type { ConversationType } from '@parley/contract';
import type { Queryable, Tx } from '../../../core/db.ts';
import { empty, sql } from '../../../core/sql.ts';
import { messageText } from '../messages/json-store.ts';

export interface PinRow {
  messageId: string;
  pinnedBy: string;
  pinnedAt: string;
  /** The message as JSON. */
  record: string;
}

export async function findConversationType(tx: Tx, conversationUuid: string): Promise<ConversationType | undefined> {
  const [row] = await tx.query<{ type: ConversationType }>(sql`
    select type from conversations where id = ${conversationUuid}`);
  return row?.type;
}

/** Of one conversation, the one pinned last first; of one message where it is named. */
export async function listPins(
  db: Queryable,
  conversationUuid: string,
  { viewer, messageId = null }: { viewer: string | null; messageId?: string | null },
): Promise<PinRow[]> {
  return db.query<PinRow>(sql`
    select p.message_id as "messageId", p.pinned_by as "pinnedBy", p.pinned_at as "pinnedAt",
           ${messageText(viewer)} as record
    from message_pins p join messages m on m.id = p.message_id join conversations c on c.id = m.conversation_id
    where p.conversation_id = ${conversationUuid} ${messageId === null ? empty : sql`and p.message_id = ${messageId}`}
    order by p.pinned_at desc, p.message_id desc`);
}

/** Under the lock of the conversation, which makes the cap exact. False when it is reached. */
export async function insertPin(
  tx: Tx,
  conversationUuid: string,
  pin: { messageId: string; by: string; at: string },
  cap: number,
): Promise<boolean> {
  const touched = await tx.execute(sql`
    insert into message_pins (conversation_id, message_id, pinned_by, pinned_at)
    select ${conversationUuid}, ${pin.messageId}, ${pin.by}, ${pin.at}
    where (select count(*) from message_pins where conversation_id = ${conversationUuid}) < ${cap}`);
  return touched === 1;
}

export async function deletePin(tx: Tx, conversationUuid: string, messageId: string): Promise<boolean> {
  return (
    (await tx.execute(sql`
    delete from message_pins where conversation_id = ${conversationUuid} and message_id = ${messageId}`)) === 1
  );
}
