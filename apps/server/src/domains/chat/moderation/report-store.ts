import type { ChatReport, ReportStatus } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import type { Queryable, Tx } from '../../../core/db.ts';
import { lockByName } from '../../../core/quotas.ts';
import { empty, sql } from '../../../core/sql.ts';

export interface NewReport extends ProjectScope {
  id: string;
  conversationId: string;
  messageId: string;
  senderId: string | null;
  source: ChatReport['source'];
  reporterId: string | null;
  reason: string;
  note: string | null;
  status: 'PENDING' | 'OPEN';
  at: string;
}

const columns = sql`r.id, r.conversation_id as "conversationId", r.message_id as "messageId", r.sender_id as "senderId",
  r.source, nullif(r.reporter_id, '') as "reporterId", r.reason, r.note, r.status, r.action,
  r.resolved_at as "resolvedAt", r.created_at as "createdAt"`;

const inScope = ({ projectId, environment }: ProjectScope) =>
  sql`r.project_id = ${projectId} and r.environment = ${environment}`;

/** Of open reports: those one user makes, or those word lists make of one user. The rest is for the others. */
const sharesOfAll = 10;

/** Undefined when the environment or the user has as many open ones as may be, or this one is there already. */
export async function insertReport(tx: Tx, report: NewReport, max: number): Promise<ChatReport | undefined> {
  const { projectId, environment } = report;
  await tx.query(lockByName(`reports ${projectId} ${environment}`));
  const [row] = await tx.query<ChatReport>(sql`
    insert into chat_reports as r (id, project_id, environment, conversation_id, message_id, sender_id, source,
      reporter_id, reason, note, status, created_at)
    select ${report.id}, ${projectId}, ${environment}, ${report.conversationId}, ${report.messageId},
      ${report.senderId}, ${report.source}, ${report.reporterId ?? ''}, ${report.reason}, ${report.note},
      ${report.status}, ${report.at}
    where ${max} > (select count(*) from (
      select from chat_reports r where ${inScope(report)} and r.status = 'OPEN' limit ${max}) counted)
      and ${Math.ceil(max / sharesOfAll)} > (select count(*) from chat_reports r
        where ${inScope(report)} and r.status = 'OPEN' and r.source = ${report.source}
          and ${report.source === 'USER' ? sql`r.reporter_id = ${report.reporterId}` : sql`r.sender_id = ${report.senderId}`})
    on conflict on constraint chat_reports_once do nothing
    returning ${columns}`);
  return row;
}

export async function findReportOf(
  db: Queryable,
  scope: ProjectScope,
  messageId: string,
  reporterId: string,
): Promise<ChatReport | undefined> {
  const [row] = await db.query<ChatReport>(sql`
    select ${columns} from chat_reports r
    where ${inScope(scope)} and r.message_id = ${messageId} and r.source = 'USER' and r.reporter_id = ${reporterId}`);
  return row;
}

export async function findReport(db: Queryable, scope: ProjectScope, id: string): Promise<ChatReport | undefined> {
  const [row] = await db.query<ChatReport>(sql`
    select ${columns} from chat_reports r where ${inScope(scope)} and r.id = ${id} and r.status <> 'PENDING'`);
  return row;
}

/** Oldest last. */
export async function listReports(
  db: Queryable,
  scope: ProjectScope,
  page: { status: ReportStatus; after: readonly [string, string] | null; limit: number },
): Promise<ChatReport[]> {
  const { status, after, limit } = page;
  return db.query<ChatReport>(sql`
    select ${columns} from chat_reports r
    where ${inScope(scope)} and r.status = ${status}
      ${after === null ? empty : sql`and (r.created_at, r.id) < (${after[0]}::timestamptz, ${after[1]})`}
    order by r.created_at desc, r.id desc limit ${limit}`);
}

/** Undefined when another was first. */
export async function updateResolved(
  tx: Tx,
  scope: ProjectScope,
  id: string,
  { action, at }: { action: string; at: string },
): Promise<ChatReport | undefined> {
  const [row] = await tx.query<ChatReport>(sql`
    update chat_reports r set status = 'RESOLVED', action = ${action}, resolved_at = ${at}
    where ${inScope(scope)} and r.id = ${id} and r.status = 'OPEN' returning ${columns}`);
  return row;
}

/** What was said before the message was stored becomes true with it. */
export async function openPending(tx: Tx, id: string): Promise<ChatReport | undefined> {
  const [row] = await tx.query<ChatReport>(sql`
    update chat_reports r set status = 'OPEN'
    where r.id = ${id} and r.status = 'PENDING' and (exists (select from messages m where m.id = r.message_id)
      or exists (select from shadow_messages m where m.id = r.message_id))
    returning ${columns}`);
  return row;
}

export async function deletePending(db: Queryable, id: string): Promise<void> {
  await db.execute(sql`delete from chat_reports where id = ${id} and status = 'PENDING'`);
}

/** What a killed process left; those of messages that were never stored are among them. */
export async function listPending(
  db: Queryable,
  before: string,
  limit: number,
): Promise<(ProjectScope & { id: string })[]> {
  return db.query(sql`
    select r.id, r.project_id as "projectId", r.environment from chat_reports r
    where r.status = 'PENDING' and r.created_at < ${before} order by r.created_at limit ${limit}`);
}

export async function deleteResolved(db: Queryable, before: string, limit: number): Promise<number> {
  return db.execute(sql`
    delete from chat_reports where ctid = any(array(
      select ctid from chat_reports where status = 'RESOLVED' and resolved_at < ${before}
      order by resolved_at limit ${limit}))`);
}
