import {
  type ChatReport,
  fail,
  type Limits,
  type ReportMessage,
  type ReportStatus,
  type ResolveReport,
} from '@parley/contract';
import type { ChatTokenCaller, ProjectScope } from '../../../core/caller.ts';
import { type Clock, iso } from '../../../core/clock.ts';
import { type Cursors, cutPage, pageSizeDefault } from '../../../core/cursors.ts';
import type { Db } from '../../../core/db.ts';
import { deleteInBatches, type Turn } from '../../../core/delete-in-batches.ts';
import { Answer, page, recorded } from '../../../core/handlers.ts';
import type { Ids } from '../../../core/ids.ts';
import { failQuota } from '../../../core/quotas.ts';
import type { UnitOfWork } from '../../../core/unit-of-work.ts';
import type { Backend } from '../callers.ts';
import { topicOf } from '../live/change.ts';
import type { Messages } from '../messages/edit.ts';
import { emitCreated } from './flags.ts';
import { deleteResolved, findReport, findReportOf, insertReport, listReports, updateResolved } from './report-store.ts';
import type { Sanctions } from './sanctions.ts';

interface ReportDeps {
  db: Db;
  clock: Clock;
  ids: Ids;
  cursors: Cursors;
  limits: Limits;
  unitOfWork: UnitOfWork;
}

const kinds = { ban: 'BAN', mute: 'MUTE', shadow: 'SHADOW' } as const;
const keptMs = 90 * 24 * 60 * 60_000;

/** What users report, and what becomes of it. */
export function createReports(deps: ReportDeps & { messages: Messages; sanctions: Sanctions }) {
  const { db, clock, ids, cursors, limits, unitOfWork, messages, sanctions } = deps;

  async function report(
    caller: ChatTokenCaller,
    messageId: string,
    { reason, note }: ReportMessage,
  ): Promise<Answer<ChatReport>> {
    const { conversationId, senderId, isDeleted } = await messages.enter(caller, messageId, { scope: 'chat:send' });
    if (isDeleted) fail('SVC_MESSAGE_NOT_FOUND');
    const { projectId, environment, userId: reporterId } = caller;
    const made = await unitOfWork(caller, async (tx, emit) => {
      const draft = { projectId, environment, conversationId, messageId, senderId, reporterId, reason };
      const row = { ...draft, id: ids.newId('report'), source: 'USER', note: note ?? null, status: 'OPEN' } as const;
      const inserted = await insertReport(tx, { ...row, at: iso(clock.now()) }, limits.CHAT_MAX_OPEN_REPORTS);
      if (inserted) emitCreated(emit, inserted);
      return inserted;
    });
    if (made) return new Answer(made);
    const known = await findReportOf(db, caller, messageId, reporterId);
    return known
      ? new Answer(known, { isRepeat: true })
      : failQuota('CHAT_MAX_OPEN_REPORTS', limits.CHAT_MAX_OPEN_REPORTS);
  }

  async function list(
    caller: ProjectScope,
    query: { status?: ReportStatus; limit?: number; cursor?: string },
  ): Promise<Answer<ChatReport[]>> {
    const { status = 'OPEN', limit = pageSizeDefault, cursor } = query;
    const scope = `chat-reports/${caller.projectId}/${caller.environment}/${status}`;
    const after = cursor === undefined ? null : (cursors.read(scope, cursor) as [string, string]);
    const rows = await listReports(db, caller, { status, after, limit: limit + 1 });
    const { items, nextCursor } = cutPage(rows, limit, (last) => cursors.write(scope, [last.createdAt, last.id]));
    return page(items, nextCursor);
  }

  const get = async (caller: ProjectScope, id: string): Promise<ChatReport> =>
    (await findReport(db, caller, id)) ?? fail('SVC_REPORT_NOT_FOUND');

  /** The action first: one that is repeated changes nothing, one that is lost would be. */
  async function resolve(caller: Backend, id: string, order: ResolveReport): Promise<Answer<ChatReport>> {
    const known = await get(caller, id);
    if (known.status !== 'OPEN') fail('SVC_REPORT_RESOLVED');
    await act(caller, known, order);
    const { action } = order;
    const resolved = await unitOfWork(caller, async (tx, emit) => {
      const report = await updateResolved(tx, caller, id, { action, at: iso(clock.now()) });
      if (!report) return fail('SVC_REPORT_RESOLVED');
      emit({ type: 'report.resolved', topic: topicOf(report.conversationId), data: { report } });
      return report;
    });
    const { conversationId, messageId } = resolved;
    const metadata = { action, conversationId, messageId };
    return recorded(resolved, { resourceId: id, environment: caller.environment, metadata });
  }

  async function act(caller: Backend, report: ChatReport, order: ResolveReport): Promise<void> {
    const { action, everywhere = false, until, reason } = order;
    if (action === 'none') return;
    if (action === 'delete_message') {
      await messages.remove(caller, report.messageId);
      return;
    }
    const userId = report.senderId ?? fail('SVC_MEMBER_NOT_FOUND', { message: 'A server sent this message.' });
    const kind = kinds[action];
    const body = { ...(until !== undefined && { until }), ...(reason !== undefined && { reason }) };
    if (everywhere) await sanctions.impose(caller, kind, userId, body);
    else await sanctions.imposeIn(caller, report.conversationId, kind, userId, body);
  }

  return {
    report,
    list,
    get,
    resolve,
    sweep: (turn: Turn) => deleteInBatches({ turn }, (limit) => deleteResolved(db, iso(clock.now() - keptMs), limit)),
  };
}

export type Reports = ReturnType<typeof createReports>;
