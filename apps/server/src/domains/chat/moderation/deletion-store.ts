import type { ChatDeletion } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import type { Queryable, Tx } from '../../../core/db.ts';
import { hasFirst } from '../../../core/due-store.ts';
import { lockByName } from '../../../core/quotas.ts';
import { empty, sql } from '../../../core/sql.ts';

export interface RunningDeletion extends ProjectScope {
  id: string;
  userId: string;
  conversationId: string | null;
  /** The last conversation that is done. */
  place: string | null;
  createdAt: string;
}

const columns = sql`d.id, d.user_id as "userId", d.conversation_id as "conversationId", d.status, d.deleted,
  d.created_at as "createdAt", d.finished_at as "finishedAt"`;

/** Undefined when as many run as may. */
export async function insertDeletion(
  tx: Tx,
  { projectId, environment }: ProjectScope,
  row: { id: string; userId: string; conversationId: string | null; at: string; max: number },
): Promise<ChatDeletion | undefined> {
  await tx.query(lockByName(`deletions ${projectId} ${environment}`));
  const [made] = await tx.query<ChatDeletion>(sql`
    insert into chat_deletions as d (id, project_id, environment, user_id, conversation_id, status, created_at)
    select ${row.id}, ${projectId}, ${environment}, ${row.userId}, ${row.conversationId}, 'RUNNING', ${row.at}
    where ${row.max} > (select count(*) from chat_deletions
      where project_id = ${projectId} and environment = ${environment} and status = 'RUNNING')
    returning ${columns}`);
  return made;
}

export async function findDeletion(
  db: Queryable,
  { projectId, environment }: ProjectScope,
  id: string,
): Promise<ChatDeletion | undefined> {
  const [row] = await db.query<ChatDeletion>(sql`
    select ${columns} from chat_deletions d
    where d.id = ${id} and d.project_id = ${projectId} and d.environment = ${environment}`);
  return row;
}

/** Latest first. */
export async function listDeletions(
  db: Queryable,
  { projectId, environment }: ProjectScope,
  after: readonly [createdAt: string, id: string] | null,
  limit: number,
): Promise<ChatDeletion[]> {
  return db.query<ChatDeletion>(sql`
    select ${columns} from chat_deletions d
    where d.project_id = ${projectId} and d.environment = ${environment}
      ${after === null ? empty : sql`and (d.created_at, d.id) < (${after[0]}::timestamptz, ${after[1]})`}
    order by d.created_at desc, d.id desc limit ${limit}`);
}

/** True while `listRunning` finds any. */
export const isAnyRunning = hasFirst(sql`from chat_deletions d where d.status = 'RUNNING'`, 'd.created_at');

/** Oldest first. */
export async function listRunning(db: Queryable, limit: number): Promise<RunningDeletion[]> {
  return db.query<RunningDeletion>(sql`
    select d.id, d.project_id as "projectId", d.environment, d.user_id as "userId",
      d.conversation_id as "conversationId", d.place, d.created_at as "createdAt"
    from chat_deletions d where d.status = 'RUNNING' order by d.created_at limit ${limit}`);
}

/**
 * The next conversations of the environment, by their ids, and in which of them the user has written. No index leads
 * from a user to their messages: each conversation is asked, by its own.
 */
export async function walkWritten(
  db: Queryable,
  { projectId, environment, userId, conversationId, place }: RunningDeletion,
  limit: number,
): Promise<{ rows: string[]; last: string | null }> {
  const found = await db.query<{ id: string; hasMessages: boolean }>(sql`
    select c.id, exists (
        select from messages m where m.conversation_id = c.id and m.sender_id = ${userId} and m.deleted_at is null
      ) or exists (
        select from shadow_messages m where m.conversation_id = c.id and m.sender_id = ${userId} and m.deleted_at is null
      ) as "hasMessages"
    from (select id from conversations
          where project_id = ${projectId} and environment = ${environment} and status <> 'DELETED'
            ${conversationId === null ? empty : sql`and public_id = ${conversationId}`}
            ${place === null ? empty : sql`and id > ${place}`}
          order by id limit ${limit}) c
    order by c.id`);
  return {
    rows: found.filter(({ hasMessages }) => hasMessages).map(({ id }) => id),
    last: found.length === limit ? (found.at(-1)?.id ?? null) : null,
  };
}

/** Messages that are left, oldest first; the caller holds the conversation's lock. */
export async function listOwn(
  tx: Tx,
  conversationUuid: string,
  userId: string,
  { before, after, limit }: { before: string; after: number; limit: number },
): Promise<{ id: string; position: number; threadRootId: string | null }[]> {
  return tx.query(sql`
    select id, position, thread_root_id as "threadRootId" from messages
    where conversation_id = ${conversationUuid} and sender_id = ${userId} and position > ${after}
      and deleted_at is null and created_at <= ${before}
    order by position limit ${limit}`);
}

export async function addDeleted(tx: Tx, id: string, count: number): Promise<void> {
  await tx.execute(sql`update chat_deletions set deleted = deleted + ${count} where id = ${id}`);
}

export async function movePlace(db: Queryable, id: string, place: string): Promise<void> {
  await db.execute(sql`update chat_deletions set place = ${place} where id = ${id} and status = 'RUNNING'`);
}

/** Undefined when another was first. */
export async function finishDeletion(tx: Tx, id: string, at: string): Promise<ChatDeletion | undefined> {
  const [row] = await tx.query<ChatDeletion>(sql`
    update chat_deletions d set status = 'DONE', finished_at = ${at}
    where d.id = ${id} and d.status = 'RUNNING' returning ${columns}`);
  return row;
}

export async function deleteFinished(db: Queryable, before: string, limit: number): Promise<number> {
  return db.execute(sql`
    delete from chat_deletions where ctid = any(array(
      select ctid from chat_deletions where status = 'DONE' and finished_at < ${before}
      order by finished_at limit ${limit}))`);
}
