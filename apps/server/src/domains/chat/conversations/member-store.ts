import type { ChatMemberRole, ConversationMember } from '@parley/contract';
import type { Queryable, Reader, Tx } from '../../../core/db.ts';
import { empty, json, sql } from '../../../core/sql.ts';

const columns = sql`user_id as "userId", role, metadata, active, joined_at as "joinedAt", removed_at as "removedAt",
  last_read_message_id as "lastReadMessageId", last_read_at as "lastReadAt"`;

export interface NewMember {
  userId: string;
  role: ChatMemberRole;
  metadata: object;
}

/** Members of a conversation that is being created. */
export async function insertMembers(
  tx: Tx,
  conversationId: string,
  members: readonly NewMember[],
  at: string,
): Promise<void> {
  if (members.length === 0) return;
  await tx.execute(sql`
    insert into conversation_members (conversation_id, user_id, role, metadata, joined_at)
    select ${conversationId}, m->>'userId', m->>'role', m->'metadata', ${at}::timestamptz
    from jsonb_array_elements(${json(members)}::jsonb) m`);
}

export async function findMember(
  db: Queryable,
  conversationId: string,
  userId: string,
): Promise<ConversationMember | undefined> {
  const [row] = await db.query<ConversationMember>(sql`
    select ${columns} from conversation_members where conversation_id = ${conversationId} and user_id = ${userId}`);
  return row;
}

/** Adds a member, or brings a removed one back with the read position they had. */
export async function activateMember(
  tx: Tx,
  conversationId: string,
  { userId, role, metadata }: { userId: string; role: ChatMemberRole | null; metadata: object | null },
  at: string,
): Promise<ConversationMember> {
  const [row] = await tx.query<ConversationMember>(sql`
    with counted as (update conversations set member_count = member_count + 1 where id = ${conversationId})
    insert into conversation_members (conversation_id, user_id, role, metadata, joined_at)
    values (${conversationId}, ${userId}, ${role ?? 'MEMBER'}, ${json(metadata ?? {})}, ${at})
    on conflict (conversation_id, user_id) do update set
      active = true, removed_at = null, joined_at = excluded.joined_at, hidden_seq = null,
      role = coalesce(${role}, conversation_members.role),
      metadata = coalesce(${metadata === null ? null : json(metadata)}::jsonb, conversation_members.metadata)
    returning ${columns}`);
  return row as ConversationMember;
}

export async function updateMember(
  tx: Tx,
  conversationId: string,
  userId: string,
  { role, metadata }: { role: ChatMemberRole | null; metadata: object | null },
): Promise<ConversationMember> {
  const [row] = await tx.query<ConversationMember>(sql`
    update conversation_members set role = coalesce(${role}, role),
      metadata = coalesce(${metadata === null ? null : json(metadata)}::jsonb, metadata)
    where conversation_id = ${conversationId} and user_id = ${userId} returning ${columns}`);
  return row as ConversationMember;
}

export async function deactivateMember(
  tx: Tx,
  conversationId: string,
  userId: string,
  at: string,
): Promise<ConversationMember> {
  const [row] = await tx.query<ConversationMember>(sql`
    with counted as (update conversations set member_count = member_count - 1 where id = ${conversationId})
    update conversation_members set active = false, removed_at = ${at}
    where conversation_id = ${conversationId} and user_id = ${userId} returning ${columns}`);
  return row as ConversationMember;
}

/** Active members, newest first. */
export async function listMembers(
  db: Reader,
  conversationId: string,
  after: readonly [joinedAt: string, userId: string] | null,
  limit: number,
): Promise<ConversationMember[]> {
  return db.query<ConversationMember>(sql`
    select ${columns} from conversation_members
    where conversation_id = ${conversationId} and active
      ${after === null ? empty : sql`and (joined_at, user_id) < (${after[0]}::timestamptz, ${after[1]})`}
    order by joined_at desc, user_id desc limit ${limit}`);
}
