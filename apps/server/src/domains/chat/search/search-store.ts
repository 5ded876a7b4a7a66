import type { ProjectScope } from '../../../core/caller.ts';
import type { Reader } from '../../../core/db.ts';
import { empty, few, json, type Sql, sql } from '../../../core/sql.ts';
import { messageText } from '../messages/json-store.ts';
import type { MessageKey } from './index-store.ts';

/** Which messages a search may find, whatever they say. */
export interface SearchScope extends ProjectScope {
  /** Null for all of the environment. */
  conversations: readonly string[] | null;
  /** Only where this user is an active member. */
  memberId: string | null;
  senderId: string | null;
  hasAttachment: boolean | null;
  from: string | null;
  to: string | null;
}

/** A place in the order of results: newest first. */
export interface Spot extends MessageKey {
  createdAt: string;
}

/** A message to look at; without a text it is not to be found. */
export interface Candidate extends Spot {
  text: string | null;
}

/** Of the token's user, within its list; at most `limit`. */
export async function findReadable(
  db: Reader,
  scope: ProjectScope,
  { userId, listed, limit }: { userId: string; listed: readonly string[] | null; limit: number },
): Promise<string[]> {
  const rows = await db.query<{ id: string }>(sql`
    select c.id from conversation_members p
    cross join lateral (
      select id, public_id, project_id, environment, status from conversations where id = p.conversation_id limit 1) c
    where p.user_id = ${userId} and p.active and c.project_id = ${scope.projectId}
      and c.environment = ${scope.environment} and c.status <> 'DELETED'
      ${listed === null ? empty : sql`and c.public_id = any(${listed})`}
    limit ${limit}`);
  return rows.map(({ id }) => id);
}

/** Those of them that are in the scope. */
export async function findInScope(
  db: Reader,
  scope: SearchScope,
  conversations: readonly string[],
): Promise<Set<string>> {
  if (conversations.length === 0) return new Set();
  const given = few(sql`unnest(${conversations}::uuid[]) as k (conversation_id)`, conversations.length);
  const rows = await db.query<{ id: string }>(sql`
    select c.id from ${given} k ${conversationOf} where ${isInConversations(scope)}`);
  return new Set(rows.map(({ id }) => id));
}

/** Conversation `c` is in the scope. */
const isInConversations = ({ projectId, environment, conversations, memberId }: SearchScope): Sql => sql`
  c.project_id = ${projectId} and c.environment = ${environment} and c.status <> 'DELETED'
  ${conversations === null ? empty : sql`and c.id = any(${conversations}::uuid[])`}
  ${
    memberId === null
      ? empty
      : sql`and (exists (select from conversation_members p
          where p.conversation_id = c.id and p.user_id = ${memberId} and p.active)) is true`
  }`;

/** Message `m`, whatever its conversation, is in the scope. */
const isInMessages = ({ senderId, hasAttachment, from, to }: SearchScope): Sql => sql`
  m.deleted_at is null
  ${senderId === null ? empty : sql`and m.sender_id = ${senderId}`}
  ${hasAttachment === null ? empty : sql`and (m.attachment_id is not null) = ${hasAttachment}`}
  ${from === null ? empty : sql`and m.created_at >= ${from}`} ${to === null ? empty : sql`and m.created_at < ${to}`}`;

/** Message `m` of conversation `c` is in the scope. */
const isIn = (scope: SearchScope): Sql => sql`${isInConversations(scope)} and ${isInMessages(scope)}`;

const messageOf = sql`
  join lateral (select * from messages where conversation_id = k.conversation_id and position = k.position limit 1) m on true`;
const conversationOf = sql`
  join lateral (select * from conversations where id = k.conversation_id limit 1) c on true`;
/** The message at a place of `k`, and its conversation: row by row, whatever the tables look like. */
const messageAt = sql`${messageOf} ${conversationOf}`;

const likeAnywhere = (word: string): string => `%${word.replaceAll(/[\\%_]/g, '\\$&')}%`;

/** False where a text of ASCII lacks one of the folded words. What another text folds to the database does not know. */
const mayHave = (words: readonly string[]): Sql => sql`
  (lower(m.text collate "C") like all(${words.map(likeAnywhere)}::text[])
    or octet_length(convert_to(m.text, 'UTF8')) <> char_length(m.text))`;

/**
 * What has no terms yet, as far as it is in the scope and may have the words; `isWhole` is false when more than `limit`
 * of its conversations waited. A conversation is looked at once, however many of its messages wait. `… is true` keeps the
 * planner from making a join of a condition, which could compare every message with every conversation.
 */
export async function readPending(
  db: Reader,
  scope: SearchScope,
  { words, limit }: { words: readonly string[]; limit: number },
): Promise<{ rows: Candidate[]; isWhole: boolean }> {
  const { conversations } = scope;
  const named = sql`where (conversation_id in (select unnest(${conversations ?? []}::uuid[]))) is true`;
  const rows = await db.query<Candidate & { total: number }>(sql`
    with readable as materialized (
      select c.id from (select distinct conversation_id from search_pending ${conversations === null ? empty : named}) k
      ${conversationOf} where ${isInConversations(scope)}),
    pending as materialized (
      select conversation_id, position from search_pending
      where (conversation_id in (select id from readable)) is true limit ${limit + 1})
    select f.*, t.total from (select count(*) as total from pending) t left join (
      select m.conversation_id as "conversationUuid", m.position, m.created_at as "createdAt", m.text
      from (select distinct conversation_id, position from pending) k ${messageOf}
      where ${isInMessages(scope)} and ${mayHave(words)}) f on true`);
  const [first] = rows;
  // Without a match there is one row all the same, that of the count.
  return { rows: first?.conversationUuid ? rows : [], isWhole: (first?.total ?? 0) <= limit };
}

/** True when every message of before has its terms. */
export async function isCaughtUp(db: Reader, scope: SearchScope): Promise<boolean> {
  const [row] = await db.query<{ waits: boolean }>(sql`
    select exists (select from search_backlog b join conversations c on c.id = b.conversation_id
      where c.project_id = ${scope.projectId} and c.environment = ${scope.environment}
        ${scope.conversations === null ? empty : sql`and c.id = any(${scope.conversations}::uuid[])`}) as waits`);
  return row?.waits === false;
}

interface Look {
  /** As `indexQueries` writes them. */
  queries: readonly string[];
  /** Only after this one. */
  after: Spot | null;
  /** Milliseconds; only before it. */
  before: number | null;
  limit: number;
}

/**
 * What the index names, newest first. The questions come as rows: with one in the text the database would look at its
 * words, and scan the table for those that are in every second message.
 */
export async function readIndexed(db: Reader, scope: SearchScope, look: Look): Promise<Candidate[]> {
  const { queries, after, before, limit } = look;
  return db.query<Candidate>(sql`
    select k.conversation_id as "conversationUuid", k.position, k.created_at as "createdAt",
           case when ${isIn(scope)} then m.text end as text
    from (
      select l.* from unnest(${queries}::text[]) q (query) cross join lateral (
      select conversation_id, position, created_at from message_search
      where terms @@ q.query::tsquery
        ${
          after === null
            ? empty
            : sql`and (created_at, conversation_id, position)
          < (${after.createdAt}::timestamptz, ${after.conversationUuid}::uuid, ${after.position}::bigint)`
        }
        ${before === null ? empty : sql`and created_at < ${new Date(before).toISOString()}`}
        ${scope.from === null ? empty : sql`and created_at >= ${scope.from}`}
        ${scope.to === null ? empty : sql`and created_at < ${scope.to}`}
      order by created_at desc, conversation_id desc, position desc limit ${limit}) l
      order by created_at desc, conversation_id desc, position desc limit ${limit}) k
    left join lateral (
      select * from messages where conversation_id = k.conversation_id and position = k.position limit 1) m on true
    left join lateral (select * from conversations where id = k.conversation_id limit 1) c on true
    order by k.created_at desc, k.conversation_id desc, k.position desc`);
}

export interface FoundMessage extends MessageKey {
  text: string;
  /** As JSON. */
  record: string;
}

/** The messages of a page as their reader sees them. Those that are gone by now are missing. */
export async function readFound(
  db: Reader,
  keys: readonly MessageKey[],
  scope: SearchScope,
  viewer: string | null,
): Promise<FoundMessage[]> {
  if (keys.length === 0) return [];
  const places = few(
    sql`jsonb_to_recordset(${json(keys.map(({ conversationUuid, position }) => ({ conversation_id: conversationUuid, position })))}::jsonb)
      as k (conversation_id uuid, position bigint)`,
    keys.length,
  );
  return db.query<FoundMessage>(sql`
    select m.conversation_id as "conversationUuid", m.position, m.text, ${messageText(viewer)} as record
    from ${places} k ${messageAt} where ${isIn(scope)} and m.text is not null`);
}
