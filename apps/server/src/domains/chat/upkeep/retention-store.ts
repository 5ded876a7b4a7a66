import type { Environment } from '@parley/contract';
import type { Db, Queryable, Tx } from '../../../core/db.ts';
import { empty, raw, sql } from '../../../core/sql.ts';
import { forgetDormantIn } from '../inbox/dormant-store.ts';
import { deletingMentions } from '../mentions/mention-store.ts';
import { eraseShadowIn } from '../shadow/shadow-upkeep-store.ts';

/** A conversation with messages that are older than its retention allows. */
export interface Overdue {
  id: string;
  publicId: string;
  projectId: string;
  environment: Environment;
  before: string;
}

interface OverdueLook {
  defaultDays: number | null;
  now: string;
  /** The last conversation of the look before; null for the first. */
  after: string | null;
  /** Conversations that are looked at. */
  limit: number;
}

/** Looks at the next conversations, by their oldest messages. `last` is null when there are no more. */
export async function findOverdue(
  db: Queryable,
  { defaultDays, now, after, limit }: OverdueLook,
): Promise<{ rows: Overdue[]; last: string | null }> {
  const found = await db.query<Overdue & { isOverdue: boolean; isLast: boolean }>(sql`
    with page as materialized (
      select id, public_id, project_id, environment, retention_days from conversations
      where status <> 'DELETED' ${defaultDays === null ? sql`and retention_days is not null` : empty}
        ${after === null ? empty : sql`and id > ${after}`}
      order by id limit ${limit}),
    last as (select id from page order by id desc limit 1)
    select c.id, c.public_id as "publicId", c.project_id as "projectId", c.environment, k.before, coalesce(oldest.created_at < k.before, false) as "isOverdue",
           (select count(*) from page) = ${limit} and c.id = (select id from last) as "isLast"
    from page c
    cross join lateral (
      select ${now}::timestamptz - make_interval(days => coalesce(c.retention_days, ${defaultDays}::int)) as before) k
    cross join lateral (
      select least(
        (select m.created_at from messages m where m.conversation_id = c.id order by m.position limit 1),
        (select m.created_at from shadow_messages m where m.conversation_id = c.id order by m.n limit 1)) as created_at
    ) oldest
    where oldest.created_at < k.before or c.id = (select id from last)
    order by c.id`);
  return {
    rows: found.filter(({ isOverdue }) => isOverdue),
    last: found.find(({ isLast }) => isLast)?.id ?? null,
  };
}

/**
 * Takes the oldest messages for good, their threads and files with them. Resolves with how many. A thread that is longer
 * than `limit` goes before its root, some answers at a time.
 */
export async function retireMessages(
  tx: Tx,
  conversationId: string,
  before: string,
  now: string,
  limit: number,
): Promise<number> {
  await tx.execute(sql`select from conversations where id = ${conversationId} for update`);
  const [row] = await tx.query<{ count: number }>(sql`
    with old as (
      select id from messages where conversation_id = ${conversationId} and created_at < ${before}
      order by position limit ${limit}),
    answers as materialized (
      select id from messages where conversation_id = ${conversationId} and thread_root_id in (select id from old)
      limit ${limit}),
    gone as (
      delete from messages where conversation_id = ${conversationId}
        and (id in (select id from answers)
             or (id in (select id from old) and (select count(*) from answers) < ${limit}))
      returning id, seq, position, mentions, deleted_at is null as counted, reaction_count),
    unpinned as (
      delete from message_pins where conversation_id = ${conversationId} and message_id in (select id from gone)),
    unsearched as (
      insert into search_pending (conversation_id, position) select ${conversationId}, position from gone),
    reacted as (delete from reactions where message_id in (select id from gone)),
    unvoted as (delete from poll_votes where message_id in (select id from gone)),
    unmentioned as (${deletingMentions(conversationId, sql`select * from gone`)}),
    reported as (delete from chat_reports where message_id in (select id from gone)),
    changed as (
      delete from conversation_changes
      where conversation_id = ${conversationId} and message_id in (select id from gone)),
    filed as (
      update attachments set status = 'EXPIRED', expires_at = ${now}
      where conversation_id = ${conversationId} and message_id in (select id from gone)),
    holed as (
      insert into message_holes (conversation_id, seq) select ${conversationId}, seq from gone),
    counted as (
      update conversations set
        message_count = message_count - (select count(*) from gone where counted),
        reaction_count = reaction_count - (select coalesce(sum(reaction_count), 0) from gone)
      where id = ${conversationId})
    select count(*) as count from gone`);
  const count = row?.count ?? 0;
  if (count > 0) await compactRetired(tx, conversationId, now);
  return count;
}

/** Everything before the first message that is left is gone: that needs no list of holes. */
async function compactRetired(tx: Tx, conversationId: string, now: string): Promise<void> {
  await tx.execute(sql`
    with first as (
      select seq from messages where conversation_id = ${conversationId} order by position limit 1),
    last as (
      select id, created_at from messages where conversation_id = ${conversationId} order by position desc limit 1)
    update conversations set
      retired_seq = coalesce((select seq - 1 from first), last_seq), retired_at = ${now},
      last_message_id = (select id from last), last_message_at = (select created_at from last)
    where id = ${conversationId}`);
  await tx.execute(sql`
    delete from message_holes h using conversations c
    where c.id = ${conversationId} and h.conversation_id = c.id and h.seq <= c.retired_seq`);
}

/** The next conversations that were erased and still have rows. `last` is null when there are no more. */
export async function findErased(
  db: Queryable,
  after: string | null,
  limit: number,
): Promise<{ rows: { id: string }[]; last: string | null }> {
  const rows = await db.query<{ id: string }>(sql`
    select id from conversations where status = 'DELETED' ${after === null ? empty : sql`and id > ${after}`}
    order by id limit ${limit}`);
  return { rows, last: rows.length === limit ? (rows.at(-1)?.id ?? null) : null };
}

/** Removes some of what was in an erased conversation; 0 when only files are left, for their sweep, or nothing. */
export async function eraseSome(db: Db, id: string, now: string, limit: number): Promise<number> {
  const removed = await db.execute(sql`
    with batch as (select id, position from messages where conversation_id = ${id} limit ${limit}),
    reacted as (delete from reactions where message_id in (select id from batch)),
    reported as (delete from chat_reports where message_id in (select id from batch))
    delete from messages where conversation_id = ${id} and position in (select position from batch)`);
  if (removed > 0) return removed;
  const hidden = await eraseShadowIn(db, id, now, limit);
  if (hidden > 0) return hidden;
  for (const table of [
    'conversation_changes',
    'conversation_members',
    'message_holes',
    'message_mentions',
    'message_search',
    'search_backlog',
    'scheduled_messages',
    'message_pins',
    'poll_votes',
    'chat_drafts',
    'link_previews',
  ]) {
    const others = await db.execute(sql`
      delete from ${raw(table)} where ctid = any(array(
        select ctid from ${raw(table)} where conversation_id = ${id} limit ${limit}))`);
    if (others > 0) return others;
  }
  const entries = await forgetDormantIn(db, id, limit);
  if (entries > 0) return entries;
  const sanctions = await db.execute(sql`
    delete from chat_sanctions where ctid = any(array(
      select s.ctid from chat_sanctions s join conversations c on c.public_id = s.place
      where c.id = ${id} and s.place <> '' limit ${limit}))`);
  if (sanctions > 0) return sanctions;
  const files = await db.execute(sql`
    update attachments set status = 'EXPIRED', expires_at = ${now}
    where id = any(array(
      select id from attachments where conversation_id = ${id} and status <> 'EXPIRED' limit ${limit}))`);
  if (files > 0) return files;
  // The row goes when the sweep of files has taken the last of them.
  await db.execute(sql`
    delete from conversations where id = ${id}
      and not exists (select from attachments where conversation_id = ${id})`);
  return 0;
}
