import type { ChatMemberRole, Conversation, ConversationStatus, ConversationType } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import type { Queryable, Reader, Tx } from '../../../core/db.ts';
import { empty, few, json, Lock, raw, type Sql, sql } from '../../../core/sql.ts';
import { hasBlocks, isSilenced, unreadOfBlocked } from '../blocks/block-store.ts';
import type { Reference } from '../references.ts';

/** What the rules ask of a conversation, and the caller's place in it. */
export interface ConversationEntry {
  id: string;
  publicId: string;
  projectId: string;
  environment: ProjectScope['environment'];
  name: string;
  type: ConversationType;
  status: ConversationStatus;
  roomId: string | null;
  /** It is of the people it was opened for, and takes no others. */
  isDirect: boolean;
  epoch: string;
  lastSeq: number;
  lastChange: number;
  lastPosition: number;
  /** Null when there is no user, or they are no active member. */
  role: ChatMemberRole | null;
  /** Until then they may not send; null for who was never muted. */
  silencedUntil: string | null;
  /** Until then what they send is theirs alone; one that is over says that there may be such messages. */
  shadowedUntil: string | null;
  /** It is of two people of whom one has blocked the other. */
  isSilenced: boolean;
}

const referenceColumns: Readonly<Record<Reference['by'], Sql>> = {
  publicId: raw('c.public_id'),
  uuid: raw('c.id::text'),
  roomId: raw('c.room_id'),
  name: raw('c.name'),
};

const matches = ({ by, value }: Reference): Sql =>
  by === 'uuid' ? sql`c.id = ${value}::uuid` : sql`${referenceColumns[by]} = ${value}`;

const inScope = ({ projectId, environment }: ProjectScope): Sql =>
  sql`c.project_id = ${projectId} and c.environment = ${environment} and c.status <> 'DELETED'`;

const entryColumns = sql`c.id, c.public_id as "publicId", c.project_id as "projectId", c.environment, c.name, c.type, c.status,
  c.room_id as "roomId", c.direct_key is not null as "isDirect", c.epoch, c.last_seq as "lastSeq", c.last_change as "lastChange",
  c.last_position as "lastPosition", ${isSilenced} as "isSilenced"`;

export async function findEntry(
  db: Queryable,
  scope: ProjectScope,
  reference: Reference,
  userId: string | null,
): Promise<ConversationEntry | undefined> {
  const [row] = await db.query<ConversationEntry>(sql`
    select ${entryColumns}, m.role, m.silenced_until as "silencedUntil", m.shadowed_until as "shadowedUntil"
    from conversations c
    left join conversation_members m on m.conversation_id = c.id and m.user_id = ${userId} and m.active
    where ${inScope(scope)} and ${matches(reference)}`);
  return row;
}

/** The same under the row's lock: until commit no other transaction takes a number in this conversation. */
export async function lockEntry(
  tx: Tx,
  scope: ProjectScope,
  id: string,
  userId: string | null,
): Promise<ConversationEntry | undefined> {
  const locked = await tx.query(sql`select from conversations c where ${inScope(scope)} and c.id = ${id} for update`);
  if (locked.length === 0) return undefined;
  // A second statement: it sees what was committed while the lock was waited for.
  return findEntry(tx, scope, { by: 'uuid', value: id }, userId);
}

/**
 * Messages after the mark of `m` that are gone. None is looked for where the numbers of the row say that all are there
 * that were not retired.
 */
const gone = raw(`(case when c.message_count = c.last_seq - c.retired_seq then 0 else
  (select count(*) from messages d where d.conversation_id = c.id and d.deleted_at is not null
     and d.seq > greatest(m.last_read_seq, c.retired_seq))
  + (select count(*) from message_holes h where h.conversation_id = c.id
       and h.seq > greatest(m.last_read_seq, c.retired_seq)) end)`);

const unreadLess = (ofBlocked: Sql): Sql =>
  sql`greatest(0, c.last_seq - greatest(m.last_read_seq, c.retired_seq) - ${gone} - ${ofBlocked})`;

/** What a member has not read: arithmetic on seq, less the few that are gone in between. */
export const unread = unreadLess(unreadOfBlocked);

/** The same no matter who sent it. */
export const unreadOfAll = unreadLess(sql`0`);

/** The same in very many conversations of one user, whose blocks are asked for once. */
export const unreadOf = (scope: ProjectScope, userId: string): Sql =>
  unreadLess(sql`(case when ${hasBlocks(scope, userId)} then ${unreadOfBlocked} else 0 end)`);

export const recordColumns = (retentionDefault: number | null): Sql => sql`
  c.public_id as id, c.public_id as "publicId", c.id as uuid, c.name, c.type, c.status, c.room_id as "roomId",
  c.live_stream_id as "liveStreamId", c.retention_days as "retentionDays",
  coalesce(c.retention_days, ${retentionDefault}::int) as "effectiveRetentionDays",
  c.slow_mode_seconds as "slowModeSeconds", c.metadata,
  c.member_count as "memberCount", c.message_count as "messageCount", c.last_message_at as "lastMessageAt",
  c.last_message_id as "lastMessageId", c.created_at as "createdAt", c.updated_at as "updatedAt",
  c.archived_at as "archivedAt"`;

export const ownColumns = sql`m.role as "myRole", ${unread} as "unreadCount", m.last_read_message_id as "lastReadMessageId"`;

/** One record; with a user also their place in it. */
export async function findConversation(
  db: Queryable,
  scope: ProjectScope,
  id: string,
  options: { retentionDefault: number | null; userId: string | null },
): Promise<Conversation | undefined> {
  const { retentionDefault, userId } = options;
  const [row] = await db.query<Conversation>(
    userId === null
      ? sql`select ${recordColumns(retentionDefault)} from conversations c
            where c.project_id = ${scope.projectId} and c.environment = ${scope.environment} and c.id = ${id}`
      : sql`select ${recordColumns(retentionDefault)}, ${ownColumns}
            from conversations c
            left join conversation_members m on m.conversation_id = c.id and m.user_id = ${userId} and m.active
            where c.project_id = ${scope.projectId} and c.environment = ${scope.environment} and c.id = ${id}`,
  );
  return row;
}

export interface ConversationPage {
  retentionDefault: number | null;
  /** Only conversations this user is an active member of, with their place in each. */
  userId: string | null;
  /** Only these public ids; null for all. */
  listed: readonly string[] | null;
  /** A part of the name, and the type; none for all. */
  name?: string | undefined;
  type?: ConversationType | undefined;
  after: readonly [createdAt: string, uuid: string] | null;
  limit: number;
}

/** Newest first. */
export async function listConversations(
  db: Reader,
  scope: ProjectScope,
  { retentionDefault, userId, listed, name, type, after, limit }: ConversationPage,
): Promise<Conversation[]> {
  const source = userId === null ? sql`conversations c` : await sourceOf(db, userId);
  return db.query<Conversation>(sql`
    select ${recordColumns(retentionDefault)}${userId === null ? empty : sql`, ${ownColumns}`}
    from ${source}
    where ${inScope(scope)}
      ${userId === null ? empty : sql`and m.user_id = ${userId} and m.active`}
      ${listed === null ? empty : sql`and c.public_id = any(${listed})`}
      ${name ? sql`and strpos(lower(c.name), lower(${name})) > 0` : empty}
      ${type === undefined ? empty : sql`and c.type = ${type}`}
      ${after === null ? empty : sql`and (c.created_at, c.id) < (${after[0]}::timestamptz, ${after[1]}::uuid)`}
    order by c.created_at desc, c.id desc limit ${limit}`);
}

const manyMemberships = 5_000;

/**
 * A user's conversations `c` with their membership `m`. The `limit 1` fixes which of the two is walked: a plan that is
 * made once for everybody would sort all conversations of a user who is in very many, or walk a whole project for one
 * who is in few.
 */
async function sourceOf(db: Reader, userId: string): Promise<Sql> {
  return (await isInMany(db, userId))
    ? sql`conversations c cross join lateral (
        select * from conversation_members where conversation_id = c.id and user_id = ${userId} limit 1) m`
    : sql`conversation_members m cross join lateral (
        select * from conversations where id = m.conversation_id limit 1) c`;
}

/** Whether to walk from the conversations to the user, not from the user to theirs: of all projects that know the id. */
export async function isInMany(db: Reader, userId: string): Promise<boolean> {
  const [memberships] = await db.query<{ count: number }>(sql`
    select count(*) from (select from conversation_members where user_id = ${userId} and active
      limit ${manyMemberships}) memberships`);
  return (memberships?.count ?? 0) >= manyMemberships;
}

interface NewConversation {
  id: string;
  publicId: string;
  name: string;
  type: ConversationType;
  roomId: string | null;
  liveStreamId: string | null;
  directKey: string | null;
  retentionDays: number | null;
  metadata: object;
  epoch: string;
  memberCount: number;
  at: string;
}

/** Fails with a ConstraintViolation on `conversations_name`, `conversations_room` or `conversations_direct`. */
export async function insertConversation(tx: Queryable, scope: ProjectScope, row: NewConversation): Promise<void> {
  await tx.execute(sql`
    insert into conversations (id, public_id, project_id, environment, name, type, room_id, live_stream_id,
                               direct_key, retention_days, metadata, epoch, member_count, created_at, updated_at)
    values (${row.id}, ${row.publicId}, ${scope.projectId}, ${scope.environment}, ${row.name}, ${row.type},
            ${row.roomId}, ${row.liveStreamId}, ${row.directKey}, ${row.retentionDays}, ${json(row.metadata)}, ${row.epoch},
            ${row.memberCount}, ${row.at}, ${row.at})`);
}

interface ConversationChange {
  name?: string | undefined;
  status?: 'ACTIVE' | 'ARCHIVED' | undefined;
  retentionDays?: number | null | undefined;
  slowModeSeconds?: number | undefined;
  metadata?: object | undefined;
}

/** Writes what differs; false when nothing does. */
export async function updateConversation(
  tx: Tx,
  scope: ProjectScope,
  id: string,
  change: ConversationChange,
  at: string,
): Promise<boolean> {
  const { name = null, status = null, metadata, retentionDays, slowModeSeconds = null } = change;
  const days = retentionDays === undefined ? sql`retention_days` : sql`${retentionDays}::int`;
  const bag = metadata === undefined ? sql`metadata` : sql`${json(metadata)}::jsonb`;
  const touched = await tx.execute(sql`
    update conversations set
      name = coalesce(${name}, name), status = coalesce(${status}, status), retention_days = ${days}, metadata = ${bag},
      slow_mode_seconds = coalesce(${slowModeSeconds}::int, slow_mode_seconds),
      archived_at = case coalesce(${status}, status) when 'ARCHIVED' then coalesce(archived_at, ${at}) end,
      updated_at = ${at}
    where id = ${id} and project_id = ${scope.projectId}
      and (name, status, metadata, retention_days, slow_mode_seconds)
          is distinct from (coalesce(${name}, name), coalesce(${status}, status), ${bag}, ${days},
            coalesce(${slowModeSeconds}::int, slow_mode_seconds))`);
  return touched === 1;
}

export async function markConversationDeleted(tx: Tx, scope: ProjectScope, id: string, at: string): Promise<void> {
  await tx.execute(sql`
    update conversations set status = 'DELETED', deleted_at = ${at}, updated_at = ${at}
    where id = ${id} and project_id = ${scope.projectId}`);
}

/**
 * Locks the conversations of a batch until its end, in one order, so that two batches cannot deadlock. One by one, for
 * the reason that `send-store.ts` gives.
 */
export function lockConversations(uuids: readonly string[]): Lock {
  const inOrder = [...new Set(uuids)].sort();
  if (inOrder.length === 1) return Lock.of(sql`select from conversations where id = ${inOrder[0]} for update`);
  // Few: a list of unknown length would be planned anew each time, in which it is known.
  return Lock.of(sql`
    select from ${few(sql`unnest(${inOrder}::uuid[]) as given (id)`, inOrder.length)} given
    cross join lateral (select from conversations c where c.id = given.id limit 1 for update) locked`);
}

/** Public ids behind references, for a token's list. Those that do not exist are missing. */
export async function findPublicIds(
  db: Queryable,
  scope: ProjectScope,
  references: readonly Reference[],
): Promise<{ value: string; publicId: string }[]> {
  const of = (by: Reference['by']) => references.filter((reference) => reference.by === by).map(({ value }) => value);
  return db.query(sql`
    select v.value, c.public_id as "publicId" from conversations c
    cross join lateral (values (c.public_id, ${of('publicId')}::text[]), (c.id::text, ${of('uuid')}::text[]),
                               (c.room_id, ${of('roomId')}::text[]), (c.name, ${of('name')}::text[])) v (value, wanted)
    where ${inScope(scope)}
      and (c.public_id = any(${of('publicId')}) or c.id = any(${of('uuid')}::uuid[])
           or c.room_id = any(${of('roomId')}) or c.name = any(${of('name')}))
      and v.value = any(v.wanted)`);
}

interface NewChange {
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
