import type { Environment, ReactionSummary } from '@parley/contract';
import type { Db, Queryable } from '../../../core/db.ts';
import { few, json, sql } from '../../../core/sql.ts';
import { isSilenced } from '../blocks/block-store.ts';
import { lockConversations } from '../conversations/conversation-store.ts';
import { reactionsJson } from './json-store.ts';

/** One reaction to be stored or taken back. */
export interface ReactionItem {
  isAdd: boolean;
  eventId: string;
  conversationId: string;
  messageId: string;
  emoji: string;
  userId: string;
  /** A user with a token, not a server: rules of membership apply. */
  isUser: boolean;
  /** What they do is for themselves alone, wherever it is. */
  isShadowed: boolean;
  at: string;
}

export type ReactionProblem =
  | 'GONE'
  | 'NOT_A_MEMBER'
  | 'MUTED'
  | 'BLOCKED'
  | 'ARCHIVED'
  /** It is not stored, and its user need not know. */
  | 'SHADOWED'
  | 'REPEATED'
  | 'MISSING'
  | 'LIMIT';

export type ReactionOutcome =
  | {
      is: 'stored';
      conversationId: string;
      projectId: string;
      environment: Environment;
      change: number;
      count: number;
    }
  | { is: 'refused'; problem: ReactionProblem };

type OutcomeRow = {
  place: number;
  problem: ReactionProblem | null;
  publicId: string;
  projectId: string;
  environment: Environment;
  change: number | null;
  count: number | null;
};

/**
 * Stores a batch of reactions with their changes and events. As with messages the conversations are locked first, in
 * the order of their ids: counts are true until commit, and that is what makes the cap exact.
 */
export async function storeReactions(db: Db, items: readonly ReactionItem[], cap: number): Promise<ReactionOutcome[]> {
  const lock = lockConversations(items.map((item) => item.conversationId));
  const [, rows = []] = await db.batch([lock, applyBatch(items, cap)]);
  // The statement says what its rows are.
  const byPlace = new Map((rows as OutcomeRow[]).map((row) => [row.place, row]));
  return items.map((_item, place) => outcomeOf(byPlace.get(place)));
}

const given = (items: readonly ReactionItem[]) => sql`
  jsonb_to_recordset(${json(items.map((item, place) => ({ ...item, place })))}::jsonb) as i (
    place int, "isAdd" boolean, "eventId" text, "conversationId" uuid, "messageId" text, emoji text, "userId" text,
    "isUser" boolean, "isShadowed" boolean, at timestamptz)`;

/** Looked up row by row, for the reason that `send-store.ts` gives. */
const applyBatch = (items: readonly ReactionItem[], cap: number) => sql`
  with input as (select * from ${few(given(items), items.length)} i),
  checked as (
    select i.*, c.public_id, c.project_id, c.environment, m.reaction_count,
      case
        when c.id is null or c.status = 'DELETED' or m.id is null or m.deleted_at is not null then 'GONE'
        when i."isUser" and p.user_id is null then 'NOT_A_MEMBER'
        when i."isUser" and i."isAdd" and p.silenced_until > i.at then 'MUTED'
        when i."isUser" and i."isAdd" and ${isSilenced} then 'BLOCKED'
        when c.status <> 'ACTIVE' then 'ARCHIVED'
        when i."isUser" and (i."isShadowed" or p.shadowed_until > i.at) and x.user_id is null then 'SHADOWED'
        when i."isAdd" and x.user_id is not null then 'REPEATED'
        when not i."isAdd" and x.user_id is null then 'MISSING'
      end as problem
    from input i
    left join lateral (select * from conversations where id = i."conversationId" limit 1) c on true
    left join lateral (select * from messages where id = i."messageId" limit 1) m on m.conversation_id = c.id
    left join lateral (
      select user_id, active, silenced_until, shadowed_until from conversation_members
      where conversation_id = i."conversationId" and user_id = i."userId" limit 1) p on p.active
    left join lateral (
      select user_id from reactions
      where message_id = i."messageId" and emoji = i.emoji and user_id = i."userId" limit 1) x on true),
  ranked as (
    select *, reaction_count + row_number() over (partition by "messageId", "isAdd" order by place) as total
    from checked where problem is null),
  fitting as (select *, case when "isAdd" then 1 else -1 end as step from ranked where not "isAdd" or total <= ${cap}),
  numbered as (
    select f.*, row_number() over (partition by f."conversationId" order by f.place) as n,
      (select count(*) from reactions r where r.message_id = f."messageId" and r.emoji = f.emoji)
        + sum(f.step) over (partition by f."messageId", f.emoji order by f.place) as count
    from fitting f),
  bumped as (
    update conversations c set last_change = c.last_change + b.total, reaction_count = c.reaction_count + b.step
    from (select "conversationId" as id, count(*) as total, sum(step) as step from numbered group by 1) b
    where c.id = b.id
    returning c.id, c.last_change - b.total as change),
  taken as (select n.*, b.change + n.n as change from numbered n join bumped b on b.id = n."conversationId"),
  counted as (
    update messages m set reaction_count = m.reaction_count + t.step, change = t.change
    from (select "messageId" as id, sum(step) as step, max(change) as change from taken group by 1) t
    where m.id = t.id),
  added as (
    insert into reactions (message_id, emoji, user_id, created_at)
    select "messageId", emoji, "userId", at from taken where "isAdd"),
  removed as (
    delete from reactions r using taken t
    where not t."isAdd" and r.message_id = t."messageId" and r.emoji = t.emoji and r.user_id = t."userId"),
  announced as (
    select *, case when "isAdd" then 'reaction.added' else 'reaction.removed' end as type,
      jsonb_build_object('messageId', "messageId", 'userId', "userId", 'emoji', emoji, 'count', count) as data
    from taken),
  changed as (
    insert into conversation_changes (conversation_id, change, type, message_id, data, created_at)
    select "conversationId", change, type, "messageId", data, at from announced),
  recorded as (
    insert into events (id, project_id, environment, type, topic, data, created_at)
    select "eventId", project_id, environment, type, 'chat/' || public_id,
      (data || jsonb_build_object('conversationId', public_id, 'change', change,
        'at', to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))::text, at
    from announced)
  select place, null as problem, public_id as "publicId", project_id as "projectId", environment, change, count from announced
  union all
  select place, problem, public_id, project_id, environment, null, null from checked where problem is not null
  union all
  select place, 'LIMIT', public_id, project_id, environment, null, null from ranked where "isAdd" and total > ${cap}`;

function outcomeOf(row: OutcomeRow | undefined): ReactionOutcome {
  if (!row) throw new Error('a reaction of the batch has no outcome');
  const { problem, publicId, projectId, environment, change, count } = row;
  if (problem !== null) return { is: 'refused', problem };
  return { is: 'stored', conversationId: publicId, projectId, environment, change: change ?? 0, count: count ?? 0 };
}

export async function findReactions(
  db: Queryable,
  messageId: string,
  viewer: string | null,
): Promise<ReactionSummary[]> {
  const [row] = await db.query<{ reactions: ReactionSummary[] }>(sql`
    select ${reactionsJson(sql`${messageId}`, viewer)} as reactions`);
  return row?.reactions ?? [];
}
