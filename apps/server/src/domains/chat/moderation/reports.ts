import {
  type ChatReport,
  fail,
  type Limits,
  type ReportMessage,
  type ReportsQuery,
  type ResolveReport,
} from '@parley/contract';
import type { ChatTokenCaller } from '../../../core/caller.ts';
import { type Clock, iso } from '../../../core/clock.ts';
import { type Cursors, cutPage, pageSizeDefault } from '../../../core/cursors.ts';
import type { Db, Reader } from '../../../core/db.ts';
import { deleteInBatches, type Turn } from '../../../core/delete-in-batches.ts';
import { Answer, page, recorded } from '../../../core/handlers.ts';
import type { Ids } from '../../../core/ids.ts';
import { failQuota } from '../../../core/quotas.ts';
import type { ReplicatedReads } from '../../../core/replicated-reads.ts';
import type { UnitOfWork } from '../../../core/unit-of-work.ts';
import { assertScope, type Moderator } from '../callers.ts';
import type { Entries } from '../conversations/entries.ts';
import { topicOf } from '../live/change.ts';
import type { Messages } from '../messages/edit.ts';
import { emitCreated } from './flags.ts';
import {
  deleteResolved,
  findReport,
  findReportOf,
  insertReport,
  listReports,
  updateResolved,
  type Viewer,
} from './report-store.ts';
import type { Sanctions } from './sanctions.ts';

interface ReportDeps {
  db: Db;
  replicated: ReplicatedReads;
  clock: Clock;
  ids: Ids;
  cursors: Cursors;
  limits: Limits;
  unitOfWork: UnitOfWork;
  entries: Entries;
}

const kinds = { ban: 'BAN', mute: 'MUTE', shadow: 'SHADOW' } as const;
const keptMs = 90 * 24 * 60 * 60_000;

/** What users report, and what becomes of it. */
export function createReports(deps: ReportDeps & { messages: Messages; sanctions: Sanctions }) {
  const { db, replicated, clock, ids, cursors, limits, unitOfWork, entries, messages, sanctions } = deps;

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

  async function list(caller: Moderator, query: ReportsQuery, from: Reader = db): Promise<Answer<ChatReport[]>> {
    assertScope(caller, 'chat:read');
    const { status = 'OPEN', limit = pageSizeDefault, cursor, conversation } = query;
    const needs = { scope: 'chat:read', action: 'moderate' } as const;
    const entry = conversation === undefined ? null : await entries.enter(caller, conversation, needs);
    const conversationId = entry?.publicId ?? null;
    const viewer = viewerOf(caller);
    const narrowed = [conversationId, viewer && encodeURIComponent(viewer.userId)].flatMap((one, at) =>
      one === null ? [] : [`/${at}/${one}`],
    );
    const scope = `chat-reports/${caller.projectId}/${caller.environment}/${status}${narrowed.join('')}`;
    const after = cursor === undefined ? null : (cursors.read(scope, cursor) as [string, string]);
    const rows = await listReports(from, caller, { status, conversationId, after, limit: limit + 1 }, viewer);
    const { items, nextCursor } = cutPage(rows, limit, (last) => cursors.write(scope, [last.createdAt, last.id]));
    return page(items, nextCursor);
  }

  /** What is not for this moderator does not exist for them. */
  const find = async (caller: Moderator, id: string): Promise<ChatReport> =>
    (await findReport(db, caller, id, viewerOf(caller))) ?? fail('SVC_REPORT_NOT_FOUND');

  async function get(caller: Moderator, id: string): Promise<ChatReport> {
    assertScope(caller, 'chat:read');
    return find(caller, id);
  }

  /** The action first: one that is repeated changes nothing, one that is lost would be. */
  async function resolve(caller: Moderator, id: string, order: ResolveReport): Promise<Answer<ChatReport>> {
    assertScope(caller, 'chat:edit');
    const known = await find(caller, id);
    if (known.status !== 'OPEN') fail('SVC_REPORT_RESOLVED');
    await act(caller, known, order);
    const { action } = order;
    const resolved = await unitOfWork(caller, async (tx, emit) => {
      const viewer = viewerOf(caller);
      const report = await updateResolved(tx, caller, id, { action, at: iso(clock.now()) }, viewer);
      if (!report) {
        const isThere = await findReport(tx, caller, id, viewer);
        return fail(isThere ? 'SVC_REPORT_RESOLVED' : 'SVC_REPORT_NOT_FOUND');
      }
      emit({ type: 'report.resolved', topic: topicOf(report.conversationId), data: { report } });
      return report;
    });
    const { conversationId, messageId } = resolved;
    const metadata = { action, conversationId, messageId };
    return recorded(resolved, { resourceId: id, environment: caller.environment, metadata });
  }

  async function act(caller: Moderator, report: ChatReport, order: ResolveReport): Promise<void> {
    const { action, everywhere = false, until, reason } = order;
    if (action === 'none') return;
    if (action === 'delete_message') {
      await messages.remove(caller, report.messageId);
      return;
    }
    const userId = report.senderId ?? fail('SVC_MEMBER_NOT_FOUND', { message: 'A server sent this message.' });
    const kind = kinds[action];
    const body = { ...(until !== undefined && { until }), ...(reason !== undefined && { reason }) };
    if (!everywhere) await sanctions.imposeIn(caller, report.conversationId, kind, userId, body);
    else if (caller.kind === 'chatToken')
      fail('SVC_FORBIDDEN', { message: 'Moderators decide in their conversation.' });
    else await sanctions.impose(caller, kind, userId, body);
  }

  return {
    report,
    list,
    /** For the dashboard. */
    listReplicated: (caller: Moderator, query: ReportsQuery) => list(caller, query, replicated.current),
    get,
    resolve,
    sweep: (turn: Turn) => deleteInBatches({ turn }, (limit) => deleteResolved(db, iso(clock.now() - keptMs), limit)),
  };
}

export type Reports = ReturnType<typeof createReports>;

/** A backend sees all of its environment. */
const viewerOf = (caller: Moderator): Viewer | null =>
  caller.kind === 'chatToken' ? { userId: caller.userId, conversations: caller.conversations } : null;
