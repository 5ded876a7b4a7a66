import type { Tx } from '../../../core/db.ts';
import { json, sql } from '../../../core/sql.ts';

export interface NewChange {
  type: string;
  messageId?: string;
  /** What the frame says beside the message. */
  data?: object;
  at: string;
}

/** Takes the next number and stores the change in one statement. The conversation is locked by the caller. */
export async function insertChange(tx: Tx, conversationId: string, change: NewChange): Promise<number> {
  const [row] = await tx.query<{ change: number }>(sql`
    with taken as (
      update conversations set last_change = last_change + 1 where id = ${conversationId} returning last_change)
    insert into conversation_changes (conversation_id, change, type, message_id, data, created_at)
    select ${conversationId}, last_change, ${change.type}, ${change.messageId ?? null}, ${json(change.data ?? {})}::jsonb, ${change.at}
    from taken returning change`);
  if (!row) throw new Error(`conversation ${conversationId} is not there`);
  return row.change;
}
