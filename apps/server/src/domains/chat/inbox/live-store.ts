import { type Face, facesMax } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import type { Queryable, Tx } from '../../../core/db.ts';
import { empty, json, raw, sql } from '../../../core/sql.ts';
import { haveChanged, isSilenced } from '../blocks/block-store.ts';
import { settledSince } from './dormant-store.ts';
import { facesOf, type MemberRow, memberColumns, type SharedRow, sharedColumns } from './inbox-store.ts';

interface ConversationMembers {
  conversationId: string;
  lastChange: number;
  memberCount: number;
  /** Its two people are out of touch. */
  isSilent: boolean;
  userIds: string[];
}

/** Active members of conversations, erased ones too; only these users where they are given. */
export async function findMembers(
  db: Queryable,
  { projectId, environment }: ProjectScope,
  conversationIds: readonly string[],
  userIds: readonly string[] | null,
): Promise<ConversationMembers[]> {
  return db.query<ConversationMembers>(sql`
    select c.public_id as "conversationId", c.last_change as "lastChange", c.member_count as "memberCount",
      ${isSilenced} as "isSilent",
      array(select m.user_id from conversation_members m where m.conversation_id = c.id and m.active
        ${userIds === null ? empty : sql`and m.user_id = any(${userIds})`}) as "userIds"
    from conversations c
    where c.public_id = any(${conversationIds}) and c.project_id = ${projectId} and c.environment = ${environment}`);
}

export interface LivePair {
  conversationId: string;
  userId: string;
}

/** One face more than an entry shows: one of them may be its reader's own. */
export type LiveShared = SharedRow & { faces: Face[] };

/** What entries of these conversations have in common; those that are gone are missing. */
export async function findShared(
  db: Queryable,
  { projectId, environment }: ProjectScope,
  conversationIds: readonly string[],
  retentionDefault: number | null,
): Promise<LiveShared[]> {
  return db.query<LiveShared>(sql`
    select ${sharedColumns(retentionDefault)}, ${facesOf(facesMax + 1, null)} as faces
    from conversations c
    where c.public_id = any(${conversationIds}) and c.project_id = ${projectId} and c.environment = ${environment}
      and c.status <> 'DELETED'`);
}

/** What in each is the member's own; of those who are no members there is none. */
export async function findOwn(
  db: Queryable,
  { projectId, environment }: ProjectScope,
  pairs: readonly LivePair[],
  now: string,
): Promise<(LivePair & MemberRow)[]> {
  return db.query<LivePair & MemberRow>(sql`
    select w."conversationId", w."userId", ${memberColumns(now)}
    from jsonb_to_recordset(${json(pairs)}::jsonb) as w ("conversationId" text, "userId" text)
    cross join lateral (select * from conversations where public_id = w."conversationId" limit 1) c
    cross join lateral (
      select * from conversation_members where conversation_id = c.id and user_id = w."userId" limit 1) m
    where c.project_id = ${projectId} and c.environment = ${environment} and c.status <> 'DELETED' and m.active`);
}

/**
 * Conversations of a user whose entry may be another since then: by messages, other changes, retention, what is the
 * user's own, and those that they have left. Null when one was erased, perhaps theirs, or their blocks changed.
 */
export async function findChangedSince(
  db: Queryable,
  { projectId, environment }: ProjectScope,
  userId: string,
  since: string,
  limit: number,
): Promise<string[] | null> {
  const [erased] = await db.query(sql`
    select from chat_erasures
    where project_id = ${projectId} and environment = ${environment} and erased_at >= ${since}`);
  if (erased || (await haveChanged(db, { projectId, environment }, userId, since))) return null;
  const rows = await db.query<{ conversationId: string }>(sql`
    with own as (
      select conversation_id, greatest(joined_at, last_read_at, own_changed_at) as at from conversation_members
      where user_id = ${userId} and active and not dormant
      union all
      select conversation_id, greatest(joined_at, last_read_at, own_changed_at)
      from ${settledSince({ projectId, environment }, userId, since)}
      union all
      select conversation_id, removed_at from conversation_members
      where user_id = ${userId} and not active and removed_at >= ${since})
    select c.public_id as "conversationId" from own m
    cross join lateral (select * from conversations where id = m.conversation_id limit 1) c
    where c.project_id = ${projectId} and c.environment = ${environment}
      and (greatest(m.at, c.last_message_at, c.updated_at, c.retired_at) >= ${since}
        or (c.last_change > c.last_position and (
          select h.created_at from conversation_changes h
          where h.conversation_id = c.id and h.change = c.last_change) >= ${since}))
    limit ${limit}`);
  return rows.map(({ conversationId }) => conversationId);
}

/** Notes that members of a conversation can no longer be found by it. */
export async function noteErasure(tx: Tx, { projectId, environment }: ProjectScope, at: string): Promise<void> {
  await tx.execute(sql`
    insert into chat_erasures (project_id, environment, erased_at) values (${projectId}, ${environment}, ${at})
    on conflict (project_id, environment) do update set erased_at = greatest(chat_erasures.erased_at, excluded.erased_at)`);
}

interface RecordedChange {
  eventId: string | null;
  conversationId: string;
  /** Whose own it is; null when all members are concerned. */
  userId: string | null;
}

const ofOneMember = raw(`('message.read', 'inbox.updated', 'member.removed')`);

/** What was recorded of conversations since then, whether or not anybody was told. Reactions are in no inbox. */
export async function findRecorded(
  db: Queryable,
  { projectId, environment }: ProjectScope,
  since: string,
): Promise<RecordedChange[]> {
  return db.query<RecordedChange>(sql`
    select distinct case when type in ${ofOneMember} then id end as "eventId", substr(topic, 6) as "conversationId",
      case when type in ${ofOneMember} then data::json->>'userId' end as "userId"
    from events
    where project_id = ${projectId} and environment = ${environment} and created_at >= ${since}
      and topic like 'chat/%' and type not in ('reaction.added', 'reaction.removed')`);
}

/** The last change of each. */
export async function findHeads(
  db: Queryable,
  { projectId, environment }: ProjectScope,
  conversationIds: readonly string[],
): Promise<{ conversationId: string; lastChange: number }[]> {
  return db.query(sql`
    select public_id as "conversationId", last_change as "lastChange" from conversations
    where public_id = any(${conversationIds}) and project_id = ${projectId} and environment = ${environment}`);
}
