import type { ChatMemberRole, ConversationStatus } from '@parley/contract';
import type { Queryable } from '../../../core/db.ts';
import { json, raw, type Sql, sql } from '../../../core/sql.ts';
import { blockedIds, isSilenced } from '../blocks/block-store.ts';
import { unread } from '../conversations/conversation-store.ts';

export interface ChannelRow {
  conversationId: string;
  uuid: string;
  epoch: string;
  name: string;
  status: ConversationStatus;
  lastChange: number;
  lastSeq: number;
  lastPosition: number;
  /** Its two people are out of touch. */
  isSilent: boolean;
}

/** Its own until the data was moved or restored: from then on that of the move, too. */
export const epochOf = (conversations: string): Sql =>
  raw(
    `coalesce((select left(md5(${conversations}.epoch || l.seed), 12) from chat_lineage l where l.seed is not null), ${conversations}.epoch)`,
  );

export async function findChannel(db: Queryable, uuid: string): Promise<ChannelRow | undefined> {
  const [row] = await db.query<ChannelRow>(sql`
    select c.public_id as "conversationId", c.id as uuid, ${epochOf('c')} as epoch, c.name, c.status,
           c.last_change as "lastChange", c.last_seq as "lastSeq", c.last_position as "lastPosition",
           ${isSilenced} as "isSilent"
    from conversations c where c.id = ${uuid} and c.status <> 'DELETED'`);
  return row;
}

/** A conversation as a process knows it. */
interface KnownHead {
  uuid: string;
  head: number;
  isSilent: boolean;
}

/**
 * Of these conversations those that have a later change than is known, or are silent where that is not known; those that
 * are gone are missing. One by one, so that no plan reads the whole table (ADR 18).
 */
export async function findNews(
  db: Queryable,
  known: readonly KnownHead[],
): Promise<{ uuid: string; lastChange: number; isSilent: boolean }[]> {
  const [uuids, heads, silences] = [
    known.map(({ uuid }) => uuid),
    known.map(({ head }) => head),
    known.map(({ isSilent }) => isSilent),
  ];
  return db.query(sql`
    select n.uuid, n."lastChange", n."isSilent"
    from unnest(${uuids}::uuid[], ${heads}::bigint[], ${silences}::boolean[]) as k (uuid, head, "isSilent")
    cross join lateral (
      select c.id as uuid, c.last_change as "lastChange", ${isSilenced} as "isSilent"
      from conversations c where c.id = k.uuid limit 1) n
    where n."lastChange" > k.head or n."isSilent" <> k."isSilent"`);
}

interface MemberViewRow {
  uuid: string;
  userId: string;
  role: ChatMemberRole;
  readSeq: number;
  unread: number;
  asOf: number;
  blocked: string[];
}

/** Where users stand in conversations, with the change as of which that is true. */
export async function findMemberViews(
  db: Queryable,
  pairs: readonly { uuid: string; userId: string }[],
): Promise<MemberViewRow[]> {
  return db.query<MemberViewRow>(sql`
    select c.id as uuid, m.user_id as "userId", m.role, m.last_read_seq as "readSeq", ${unread} as unread,
           c.last_change as "asOf", ${blockedIds} as blocked
    from jsonb_to_recordset(${json(pairs)}::jsonb) as w (uuid uuid, "userId" text)
    join conversations c on c.id = w.uuid and c.status <> 'DELETED'
    join conversation_members m on m.conversation_id = c.id and m.user_id = w."userId" and m.active`);
}
