import type { ConversationStatus, Message, Poll, PollVote } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import type { Db, Queryable, Tx } from '../../../core/db.ts';
import { hasFirst } from '../../../core/due-store.ts';
import { empty, few, json, type Sql, sql } from '../../../core/sql.ts';
import { isSilenced } from '../blocks/block-store.ts';
import { messageJson } from '../messages/json-store.ts';

/** One vote to be stored; without options it is taken back. */
export interface VoteItem {
  eventId: string;
  conversationId: string;
  messageId: string;
  userId: string;
  /** A user with a token, not a server: rules of membership apply. */
  isUser: boolean;
  /** What they do is for themselves alone, wherever it is. */
  isShadowed: boolean;
  /** In their order, each once. */
  optionIds: readonly number[];
}

/** What the rules ask of a voter, under the lock of the conversation. */
export interface Standing {
  place: number;
  /** Null when there is no such message any more. */
  publicId: string | null;
  projectId: string;
  environment: ProjectScope['environment'];
  status: ConversationStatus;
  isMember: boolean;
  silencedUntil: string | null;
  shadowedUntil: string | null;
  /** It is of two people of whom one has blocked the other. */
  isSilenced: boolean;
  /** What they voted for until now. */
  options: number[] | null;
}

/** Looked up row by row, for the reason that `send-store.ts` gives. */
export async function findStandings(tx: Tx, items: readonly VoteItem[]): Promise<Standing[]> {
  const given = json(
    items.map(({ conversationId, messageId, userId }, place) => ({ place, conversationId, messageId, userId })),
  );
  return tx.query<Standing>(sql`
    select i.place, case when m.deleted_at is null and c.status <> 'DELETED' then c.public_id end as "publicId",
      c.project_id as "projectId", c.environment, c.status, p.user_id is not null as "isMember",
      p.silenced_until as "silencedUntil", p.shadowed_until as "shadowedUntil", ${isSilenced} as "isSilenced", v.options
    from ${few(
      sql`jsonb_to_recordset(${given}::jsonb) as i (place int, "conversationId" uuid, "messageId" text, "userId" text)`,
      items.length,
    )} i
    left join lateral (select id, conversation_id, deleted_at from messages where id = i."messageId" limit 1) m on true
    left join lateral (select * from conversations where id = m.conversation_id limit 1) c on c.id = i."conversationId"
    left join lateral (
      select user_id, active, silenced_until, shadowed_until from conversation_members
      where conversation_id = i."conversationId" and user_id = i."userId" limit 1) p on p.active
    left join lateral (
      select options from poll_votes where message_id = i."messageId" and user_id = i."userId" limit 1) v on true
    order by i.place`);
}

export async function findPolls(tx: Queryable, messageIds: readonly string[]): Promise<Map<string, Poll>> {
  const rows = await tx.query<{ id: string; poll: Poll }>(sql`
    select id, poll from messages where id = any(${messageIds}) and poll is not null and deleted_at is null`);
  return new Map(rows.map(({ id, poll }) => [id, poll]));
}

export interface Cast {
  messageId: string;
  conversationId: string;
  userId: string;
  optionIds: readonly number[];
}

/** The last word of each voter of a batch. */
export async function writeVotes(tx: Tx, votes: readonly Cast[], at: string): Promise<void> {
  const listed = (which: readonly Cast[]) => sql`jsonb_to_recordset(${json(which)}::jsonb) as v (
    "messageId" text, "conversationId" uuid, "userId" text, "optionIds" smallint[])`;
  const [cast, gone] = [
    votes.filter(({ optionIds }) => optionIds.length > 0),
    votes.filter(({ optionIds }) => optionIds.length === 0),
  ];
  if (cast.length > 0)
    await tx.execute(sql`
      insert into poll_votes (message_id, user_id, conversation_id, options, voted_at)
      select "messageId", "userId", "conversationId", "optionIds", ${at} from ${listed(cast)}
      on conflict (message_id, user_id) do update set options = excluded.options, voted_at = excluded.voted_at`);
  if (gone.length > 0)
    await tx.execute(sql`
      delete from poll_votes p using ${few(listed(gone), gone.length)} v
      where p.message_id = v."messageId" and p.user_id = v."userId"`);
}

interface ChangedPoll {
  messageId: string;
  conversationId: string;
  poll: Poll;
}

export interface Announced {
  messageId: string;
  conversationId: string;
  change: number;
  message: Message;
}

/** Stores polls as they are now, each under the next number of its conversation. The conversations are locked. */
export async function writePolls(tx: Tx, polls: readonly ChangedPoll[], at: string): Promise<Announced[]> {
  return tx.query<Announced>(sql`
    with given as (
      select g.*, row_number() over (partition by g."conversationId" order by g."messageId") as n
      from ${few(
        sql`jsonb_to_recordset(${json(polls)}::jsonb) as g ("messageId" text, "conversationId" uuid, poll jsonb)`,
        polls.length,
      )} g),
    bumped as (
      update conversations c set last_change = c.last_change + b.total
      from (select "conversationId" as id, count(*) as total from given group by 1) b
      where c.id = b.id returning c.id, c.last_change - b.total as change),
    taken as (select g.*, b.change + g.n as number from given g join bumped b on b.id = g."conversationId"),
    changed as (
      insert into conversation_changes (conversation_id, change, type, message_id, data, created_at)
      select "conversationId", number, 'message.updated', "messageId", '{}', ${at} from taken),
    m as (
      update messages m set poll = t.poll, change = t.number,
        poll_closes_at = case when t.poll->>'closedAt' is null then m.poll_closes_at end
      from taken t where m.id = t."messageId" returning m.*)
    select m.id as "messageId", c.public_id as "conversationId", m.change, ${messageJson(null)} as message
    from m join conversations c on c.id = m.conversation_id`);
}

/** Who voted for what, oldest vote first. */
export async function listVotes(
  db: Queryable,
  messageId: string,
  page: { optionId: number | null; after: readonly [votedAt: string, userId: string] | null; limit: number },
): Promise<PollVote[]> {
  const { optionId, after, limit } = page;
  return db.query<PollVote>(sql`
    select user_id as "userId", options as "optionIds", voted_at as "votedAt" from poll_votes
    where message_id = ${messageId}
      ${optionId === null ? empty : sql`and ${optionId}::smallint = any(options)`}
      ${after === null ? empty : sql`and (voted_at, user_id) > (${after[0]}::timestamptz, ${after[1]})`}
    order by voted_at, user_id limit ${limit}`);
}

export async function findOwnVotes(db: Queryable, messageId: string, userId: string): Promise<number[] | undefined> {
  const [row] = await db.query<{ options: number[] }>(sql`
    select options from poll_votes where message_id = ${messageId} and user_id = ${userId}`);
  return row?.options;
}

export interface DuePoll extends ProjectScope {
  messageId: string;
  conversationUuid: string;
}

const due = (now: string): Sql => sql`
  from messages m join conversations c on c.id = m.conversation_id
  where m.poll_closes_at <= ${now} and c.status <> 'DELETED'`;

/** True while `listDue` finds any. */
export const isAnyDue = (now: string): Sql => hasFirst(due(now), 'm.poll_closes_at');

/** Open polls whose time has come. */
export async function listDue(db: Db, now: string, limit: number): Promise<DuePoll[]> {
  return db.query<DuePoll>(sql`
    select m.id as "messageId", c.id as "conversationUuid", c.project_id as "projectId", c.environment
    ${due(now)}
    order by m.poll_closes_at limit ${limit}`);
}

/** Of a message that was deleted by a process that knows no polls. */
export async function forgetDue(tx: Tx, messageId: string): Promise<void> {
  await tx.execute(sql`update messages set poll = null, poll_closes_at = null where id = ${messageId}`);
}
