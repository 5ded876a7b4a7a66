import type { ReadReceipt, ReadState } from '@parley/contract';
import type { Queryable, Tx } from '../../../core/db.ts';
import { empty, sql } from '../../../core/sql.ts';
import { hasBlocked } from '../blocks/block-store.ts';
import { receiptColumns } from '../delivered/delivered-store.ts';
import { unread } from './conversation-store.ts';

const receipt = sql`m.user_id as "userId", m.last_read_message_id as "lastReadMessageId",
  nullif(m.last_read_seq, 0) as "lastReadSeq", m.last_read_at as "lastReadAt"`;

/** Moves a mark forward; false when it is there already, or further. */
export async function moveReadMark(
  tx: Tx,
  mark: { conversationUuid: string; userId: string; messageId: string; seq: number; position: number; at: string },
): Promise<boolean> {
  const touched = await tx.execute(sql`
    update conversation_members set last_read_seq = ${mark.seq}, last_read_position = ${mark.position},
      last_read_message_id = ${mark.messageId}, last_read_at = ${mark.at}, dormant = false
    where conversation_id = ${mark.conversationUuid} and user_id = ${mark.userId} and active
      and last_read_seq < ${mark.seq}`);
  return touched === 1;
}

export async function findReadState(
  db: Queryable,
  conversationUuid: string,
  userId: string,
): Promise<ReadState | undefined> {
  const [row] = await db.query<ReadState>(sql`
    select ${receipt}, ${unread} as "unreadCount",
      (select f.id from messages f where f.conversation_id = c.id and f.position > m.last_read_position
         and f.deleted_at is null and not ${hasBlocked('f.sender_id')} order by f.position limit 1) as "firstUnreadMessageId"
    from conversation_members m join conversations c on c.id = m.conversation_id
    where m.conversation_id = ${conversationUuid} and m.user_id = ${userId} and m.active`);
  return row;
}

/** Active members by user id; one of them alone where `only` is given. */
export async function listReceipts(
  db: Queryable,
  conversationUuid: string,
  { after, only, limit }: { after: string | null; only: string | null; limit: number },
): Promise<ReadReceipt[]> {
  return db.query<ReadReceipt>(sql`
    select ${receiptColumns} from conversation_members m
    where m.conversation_id = ${conversationUuid} and m.active
      ${after === null ? empty : sql`and m.user_id > ${after}`} ${only === null ? empty : sql`and m.user_id = ${only}`}
    order by m.user_id limit ${limit}`);
}
