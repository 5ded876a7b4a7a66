import type { ScheduledMessage, ScheduledStatus } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import type { Db, Queryable, Tx } from '../../../core/db.ts';
import { hasFirst } from '../../../core/due-store.ts';
import { empty, json, type Sql, sql } from '../../../core/sql.ts';

/** By what right it is sent. */
export interface Issued {
  keyId: string | null;
  /** Of a user's token. */
  token?: { tokenId: string; issuedAt: number };
}

/** A scheduled message and what only the service needs to know. */
export interface Scheduled extends ScheduledMessage {
  projectId: string;
  environment: ProjectScope['environment'];
  conversationUuid: string;
  issued: Issued;
}

const columns = sql`s.id, s.conversation_id as "conversationUuid", c.public_id as "conversationId",
  s.project_id as "projectId", s.environment, s.message_id as "messageId", s.user_id as "userId", s.issued, s.draft,
  s.send_at as "sendAt", s.status, s.failure, s.created_at as "createdAt", s.updated_at as "updatedAt"`;
const ofConversation = sql`join conversations c on c.id = s.conversation_id and c.status <> 'DELETED'`;

interface NewScheduled extends ProjectScope {
  id: string;
  conversationUuid: string;
  messageId: string;
  userId: string | null;
  issued: Issued;
  draft: object;
  sendAt: string;
  at: string;
}

/** Under the lock of the conversation, which makes the cap exact. False when it is reached. */
export async function insertScheduled(tx: Tx, row: NewScheduled, cap: number): Promise<boolean> {
  const touched = await tx.execute(sql`
    insert into scheduled_messages (id, conversation_id, project_id, environment, message_id, user_id, issued, draft,
                                    send_at, created_at, updated_at)
    select ${row.id}, ${row.conversationUuid}, ${row.projectId}, ${row.environment}, ${row.messageId}, ${row.userId},
           ${json(row.issued)}::jsonb, ${json(row.draft)}::jsonb, ${row.sendAt}, ${row.at}, ${row.at}
    where (select count(*) from scheduled_messages where conversation_id = ${row.conversationUuid}
             and user_id is not distinct from ${row.userId} and status <> 'SENT') < ${cap}`);
  return touched === 1;
}

/** Files that a scheduled message carries are kept until then. */
export async function keepAttachments(
  tx: Tx,
  { conversationUuid, ids, until }: { conversationUuid: string; ids: readonly string[]; until: string },
): Promise<void> {
  await tx.execute(sql`
    update attachments set expires_at = greatest(expires_at, ${until}::timestamptz)
    where id = any(${ids}) and conversation_id = ${conversationUuid} and status = 'UPLOADED'`);
}

export async function findScheduled(db: Queryable, scope: ProjectScope, id: string): Promise<Scheduled | undefined> {
  const [row] = await db.query<Scheduled>(sql`
    select ${columns} from scheduled_messages s ${ofConversation}
    where s.id = ${id} and s.project_id = ${scope.projectId} and s.environment = ${scope.environment}`);
  return row;
}

interface ScheduledPage {
  userId: string | null;
  after: readonly [sendAt: string, id: string] | null;
  limit: number;
}

/** What was not sent, soonest first. */
export async function listScheduled(
  db: Queryable,
  conversationUuid: string,
  page: ScheduledPage,
): Promise<Scheduled[]> {
  const { userId, after, limit } = page;
  return db.query<Scheduled>(sql`
    select ${columns} from scheduled_messages s ${ofConversation}
    where s.conversation_id = ${conversationUuid} and s.status <> 'SENT'
      ${userId === null ? empty : sql`and s.user_id = ${userId}`}
      ${after === null ? empty : sql`and (s.send_at, s.id) > (${after[0]}::timestamptz, ${after[1]})`}
    order by s.send_at, s.id limit ${limit}`);
}

interface ScheduledChange {
  draft: object;
  /** Null: by the right that it had. */
  issued: Issued | null;
  sendAt: string;
  at: string;
}

/** False when it is no longer to be changed. */
export async function changeScheduled(
  tx: Tx,
  id: string,
  { draft, issued, sendAt, at }: ScheduledChange,
): Promise<boolean> {
  const touched = await tx.execute(sql`
    update scheduled_messages set draft = ${json(draft)}::jsonb, send_at = ${sendAt}, status = 'PENDING', failure = null,
      updated_at = ${at} ${issued === null ? empty : sql`, issued = ${json(issued)}::jsonb`}
    where id = ${id} and status in ('PENDING', 'FAILED')`);
  return touched === 1;
}

export async function deleteScheduled(db: Queryable, id: string): Promise<boolean> {
  return (
    (await db.execute(sql`
    delete from scheduled_messages where id = ${id} and status in ('PENDING', 'FAILED')`)) === 1
  );
}

const due = (now: string): Sql =>
  sql`status in ('PENDING', 'SENDING') and send_at <= ${now} and (status = 'PENDING' or claimed_until <= ${now})`;

/** True while `claimDue` finds any. */
export const isAnyDue = (now: string): Sql => hasFirst(sql`from scheduled_messages where ${due(now)}`, 'send_at');

/** Takes what is due, and what another process began and did not end. */
export async function claimDue(db: Db, { now, until, limit }: { now: string; until: string; limit: number }) {
  return db.query<Scheduled>(sql`
    with claimed as (
      update scheduled_messages set status = 'SENDING', claimed_until = ${until}
      where id in (
        select id from scheduled_messages
        where ${due(now)}
        order by send_at limit ${limit} for update skip locked)
      returning *)
    select ${columns} from claimed s ${ofConversation} order by s.send_at, s.id`);
}

/** The end of one that was claimed; true for the one who noted it. What was sent is in the message from now on. */
export async function endScheduled(
  tx: Queryable,
  id: string,
  end: { status: Extract<ScheduledStatus, 'SENT' | 'FAILED'>; failure: string | null; at: string },
): Promise<boolean> {
  const draft: Sql = end.status === 'SENT' ? sql`'{}'::jsonb` : sql`draft`;
  const touched = await tx.execute(sql`
    update scheduled_messages set status = ${end.status}, failure = ${end.failure}, draft = ${draft},
      claimed_until = null, updated_at = ${end.at}
    where id = ${id} and status = 'SENDING'`);
  return touched === 1;
}

/** Those of a time that nobody asks for any more. */
export async function deleteOver(db: Db, before: string, limit: number): Promise<number> {
  return db.execute(sql`
    delete from scheduled_messages where id in (
      select id from scheduled_messages where status in ('SENT', 'FAILED') and updated_at < ${before} limit ${limit})`);
}
