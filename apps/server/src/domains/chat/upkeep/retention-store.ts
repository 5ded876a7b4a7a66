import type { Db, Queryable, Tx } from '../../../core/db.ts';
import { sql } from '../../../core/sql.ts';

/** Conversations whose oldest message is older than their retention allows. */
export async function findOverdue(
  db: Queryable,
  { defaultDays, now, limit }: { defaultDays: number | null; now: string; limit: number },
): Promise<{ id: string; publicId: string; before: string }[]> {
  return db.query(sql`
    select c.id, c.public_id as "publicId", k.before from conversations c
    cross join lateral (
      select ${now}::timestamptz - make_interval(days => coalesce(c.retention_days, ${defaultDays}::int)) as before) k
    cross join lateral (
      select m.created_at from messages m where m.conversation_id = c.id order by m.position limit 1) oldest
    where c.status <> 'DELETED' and coalesce(c.retention_days, ${defaultDays}::int) is not null
      and oldest.created_at < k.before
    limit ${limit}`);
}

/** Takes the oldest messages for good, their threads and files with them. Resolves with how many. */
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
    gone as (
      delete from messages where conversation_id = ${conversationId}
        and (id in (select id from old) or thread_root_id in (select id from old))
      returning id, seq, deleted_at is null as counted, reaction_count),
    reacted as (delete from reactions where message_id in (select id from gone)),
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
  await compactRetired(tx, conversationId);
  return row?.count ?? 0;
}

/** Everything before the first message that is left is gone: that needs no list of holes. */
async function compactRetired(tx: Tx, conversationId: string): Promise<void> {
  await tx.execute(sql`
    with first as (
      select seq from messages where conversation_id = ${conversationId} order by position limit 1),
    last as (
      select id, created_at from messages where conversation_id = ${conversationId} order by position desc limit 1)
    update conversations set
      retired_seq = coalesce((select seq - 1 from first), last_seq),
      last_message_id = (select id from last), last_message_at = (select created_at from last)
    where id = ${conversationId}`);
  await tx.execute(sql`
    delete from message_holes h using conversations c
    where c.id = ${conversationId} and h.conversation_id = c.id and h.seq <= c.retired_seq`);
}

/** A conversation that was erased and still has rows. */
export async function findErased(db: Queryable, limit: number): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    sql`select id from conversations where status = 'DELETED' limit ${limit}`,
  );
  return rows.map((row) => row.id);
}

/** Removes some of what was in an erased conversation; false when only files are left to wait for, or nothing. */
export async function eraseSome(db: Db, id: string, now: string, limit: number): Promise<boolean> {
  const removed = await db.execute(sql`
    with batch as (select id, position from messages where conversation_id = ${id} limit ${limit}),
    reacted as (delete from reactions where message_id in (select id from batch))
    delete from messages where conversation_id = ${id} and position in (select position from batch)`);
  if (removed > 0) return true;
  await db.execute(sql`
    update attachments set status = 'EXPIRED', expires_at = ${now}
    where conversation_id = ${id} and status <> 'EXPIRED'`);
  await db.execute(sql`delete from conversation_changes where conversation_id = ${id}`);
  await db.execute(sql`delete from conversation_members where conversation_id = ${id}`);
  await db.execute(sql`delete from message_holes where conversation_id = ${id}`);
  // The row goes when the sweep of files has taken the last of them.
  await db.execute(sql`
    delete from conversations where id = ${id}
      and not exists (select from attachments where conversation_id = ${id})`);
  return false;
}
