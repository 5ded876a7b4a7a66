import { ChatMemberRole, type ChatReport, type ReportStatus, roleCan, roleRules } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import type { Queryable, Reader, Tx } from '../../../core/db.ts';
import { lockByName } from '../../../core/quotas.ts';
import { empty, raw, type Sql, sql } from '../../../core/sql.ts';
import { isInMany } from '../conversations/conversation-store.ts';

interface NewReport extends ProjectScope {
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

/** A moderator, who has the reports of what they moderate. Without one, all of the environment. */
export interface Viewer {
  userId: string;
  /** What the token is bounded to. */
  conversations: readonly string[] | null;
}

const moderating = ChatMemberRole.enum.filter((role) => roleCan(role, 'moderate'));
/** `MODERATOR GUEST` and the like: whose reports a role is for. Nobody decides about their own messages. */
const ruling = moderating.flatMap((role) =>
  ChatMemberRole.enum.filter((other) => roleRules(role, other)).map((other) => `${role} ${other}`),
);

/** Conversation `c` with the role of the viewer in `p` is one that they moderate. */
const isModerated = ({ projectId, environment }: ProjectScope, { conversations }: Viewer): Sql => sql`
  p.role = any(${moderating}) and c.project_id = ${projectId} and c.environment = ${environment}
  and c.status <> 'DELETED' ${conversations === null ? empty : sql`and c.public_id = any(${conversations})`}`;

/** The sender of report `r` is below the role in `p`; who never was a member counts as one, as for sanctions. */
const isBelow = (role: Sql, conversation: Sql): Sql => sql`
  (${role} || ' ' || coalesce((select s.role from conversation_members s
    where s.conversation_id = ${conversation} and s.user_id = r.sender_id), 'MEMBER')) = any(${ruling})`;

/** Asked of one report: from its conversation to the viewer, who may be in very many. */
const isFor = (scope: ProjectScope, viewer: Viewer | null): Sql =>
  viewer === null
    ? empty
    : sql`and exists (
        select from (select * from conversations where public_id = r.conversation_id limit 1) c
        cross join lateral (select role, active from conversation_members
          where conversation_id = c.id and user_id = ${viewer.userId} limit 1) p
        where p.active and ${isModerated(scope, viewer)} and ${isBelow(raw('p.role'), raw('c.id'))})`;

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

export async function findReport(
  db: Queryable,
  scope: ProjectScope,
  id: string,
  viewer: Viewer | null,
): Promise<ChatReport | undefined> {
  const [row] = await db.query<ChatReport>(sql`
    select ${columns} from chat_reports r
    where ${inScope(scope)} and r.id = ${id} and r.status <> 'PENDING' ${isFor(scope, viewer)}`);
  return row;
}

interface ReportPage {
  status: ReportStatus;
  /** Only of this one. */
  conversationId: string | null;
  after: readonly [string, string] | null;
  limit: number;
}

/** Oldest last. */
export async function listReports(
  db: Reader,
  scope: ProjectScope,
  page: ReportPage,
  viewer: Viewer | null,
): Promise<ChatReport[]> {
  const isNarrow = page.conversationId !== null;
  if (viewer !== null && !isNarrow && !(await isInMany(db, viewer.userId)))
    return listModerated(db, scope, page, viewer);
  return db.query<ChatReport>(sql`
    select ${columns} from chat_reports r where ${inScope(scope)} and ${isInPage(page)}
      ${isNarrow ? sql`and r.conversation_id = ${page.conversationId}` : empty} ${isFor(scope, viewer)}
    ${latest(page)}`);
}

const isInPage = ({ status, after }: ReportPage): Sql => sql`r.status = ${status}
  ${after === null ? empty : sql`and (r.created_at, r.id) < (${after[0]}::timestamptz, ${after[1]})`}`;
const latest = ({ limit }: ReportPage): Sql => sql`order by r.created_at desc, r.id desc limit ${limit}`;

/** Conversation by conversation, so that reports of others cost nothing. */
const listModerated = (db: Reader, scope: ProjectScope, page: ReportPage, viewer: Viewer): Promise<ChatReport[]> =>
  db.query<ChatReport>(sql`
    with m as materialized (
      select c.id, c.public_id, p.role
      from (select * from conversation_members where user_id = ${viewer.userId} and active) p
      cross join lateral (select * from conversations where id = p.conversation_id limit 1) c
      where ${isModerated(scope, viewer)})
    select ${columns} from m cross join lateral (
      select r.* from chat_reports r
      where r.conversation_id = m.public_id and ${isInPage(page)} and ${isBelow(raw('m.role'), raw('m.id'))}
      ${latest(page)}) r
    ${latest(page)}`);

/** Undefined when another was first, or the viewer moderates there no longer. */
export async function updateResolved(
  tx: Tx,
  scope: ProjectScope,
  id: string,
  { action, at }: { action: string; at: string },
  viewer: Viewer | null,
): Promise<ChatReport | undefined> {
  const [row] = await tx.query<ChatReport>(sql`
    update chat_reports r set status = 'RESOLVED', action = ${action}, resolved_at = ${at}
    where ${inScope(scope)} and r.id = ${id} and r.status = 'OPEN' ${isFor(scope, viewer)} returning ${columns}`);
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
