import type { ReadReceipt } from '@parley/contract';
import type { Queryable } from '../../../core/db.ts';
import { json, sql } from '../../../core/sql.ts';
import { isSilenced } from '../blocks/block-store.ts';

export interface Delivery {
  conversationUuid: string;
  userId: string;
  seq: number;
}

export interface MovedDelivery {
  conversationId: string;
  memberCount: number;
  userId: string;
  seq: number;
}

/** Moves marks forward, never beyond the last message; gives those that moved. Each pair is there once. */
export async function moveDeliveries(
  db: Queryable,
  deliveries: readonly Delivery[],
  at: string,
): Promise<MovedDelivery[]> {
  return db.query<MovedDelivery>(sql`
    update conversation_members m set last_delivered_seq = least(w.seq, c.last_seq), last_delivered_at = ${at}
    from jsonb_to_recordset(${json(deliveries)}::jsonb) as w ("conversationUuid" uuid, "userId" text, seq bigint),
      conversations c
    where c.id = w."conversationUuid" and m.conversation_id = c.id and m.user_id = w."userId" and m.active
      and greatest(m.last_delivered_seq, m.last_read_seq) < least(w.seq, c.last_seq) and not ${isSilenced}
    returning c.public_id as "conversationId", c.member_count as "memberCount", m.user_id as "userId",
      m.last_delivered_seq as seq`);
}

/** What is read was delivered. */
const deliveredColumns = sql`
  nullif(greatest(m.last_delivered_seq, m.last_read_seq), 0) as "lastDeliveredSeq",
  case when m.last_delivered_seq > m.last_read_seq then m.last_delivered_at else m.last_read_at end
    as "lastDeliveredAt"`;

export const receiptColumns = sql`m.user_id as "userId", m.last_read_message_id as "lastReadMessageId",
  nullif(m.last_read_seq, 0) as "lastReadSeq", m.last_read_at as "lastReadAt", ${deliveredColumns}`;

export async function findReceipt(
  db: Queryable,
  conversationUuid: string,
  userId: string,
): Promise<ReadReceipt | undefined> {
  const [row] = await db.query<ReadReceipt>(sql`
    select ${receiptColumns} from conversation_members m
    where m.conversation_id = ${conversationUuid} and m.user_id = ${userId} and m.active`);
  return row;
}
