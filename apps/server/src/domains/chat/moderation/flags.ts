import type { ChatReport, Limits } from '@parley/contract';
import type { ProjectScope } from '../../../core/caller.ts';
import { type Clock, iso } from '../../../core/clock.ts';
import type { Db, Tx } from '../../../core/db.ts';
import { type Turn, withoutDeadline } from '../../../core/delete-in-batches.ts';
import type { Ids } from '../../../core/ids.ts';
import type { Emit, UnitOfWork } from '../../../core/unit-of-work.ts';
import { topicOf } from '../live/change.ts';
import { deletePending, insertReport, listPending, openPending } from './report-store.ts';

interface FlagDeps {
  db: Db;
  clock: Clock;
  ids: Ids;
  limits: Limits;
  unitOfWork: UnitOfWork;
}

/** A message that a word list has flagged. */
interface Flagged {
  conversationId: string;
  messageId: string;
  senderId: string | null;
  lists: readonly string[];
}

export type Flags = ReturnType<typeof createFlags>;

/** A send takes seconds at most. */
const pendingMs = 60_000;
const pendingBatch = 200;

/** Reports of word lists: said before the message is stored, true from then on, also if the process dies in between. */
export function createFlags({ db, clock, ids, limits, unitOfWork }: FlagDeps) {
  const reportOf = (
    { projectId, environment }: ProjectScope,
    { lists, ...message }: Flagged,
    status: 'PENDING' | 'OPEN',
  ) => ({
    id: ids.newId('report'),
    projectId,
    environment,
    ...message,
    source: 'WORD_LIST' as const,
    reporterId: null,
    reason: lists.join(', ').slice(0, 256),
    note: null,
    status,
    at: iso(clock.now()),
  });

  const confirm = (scope: ProjectScope, id: string): Promise<boolean> =>
    unitOfWork(scope, async (tx, emit) => {
      const report = await openPending(tx, id);
      if (report) emitCreated(emit, report);
      return report !== undefined;
    });

  return {
    /** In the transaction of an edit. Beyond the cap a message is not reported. */
    async flagIn(tx: Tx, emit: Emit, scope: ProjectScope, flagged: Flagged): Promise<void> {
      const report = await insertReport(tx, reportOf(scope, flagged, 'OPEN'), limits.CHAT_MAX_OPEN_REPORTS);
      if (report) emitCreated(emit, report);
    },
    /** Null beyond the cap. */
    async announce(scope: ProjectScope, flagged: Flagged): Promise<string | null> {
      const report = reportOf(scope, flagged, 'PENDING');
      const made = await db.transaction((tx) => insertReport(tx, report, limits.CHAT_MAX_OPEN_REPORTS));
      return made?.id ?? null;
    },
    confirm,
    withdraw: (id: string): Promise<void> => deletePending(db, id),
    /** Finishes what a killed process left. */
    async sweep(turn: Turn = withoutDeadline): Promise<void> {
      for (;;) {
        const left = await listPending(db, iso(clock.now() - pendingMs), pendingBatch);
        for (const { id, ...scope } of left) if (!(await confirm(scope, id))) await deletePending(db, id);
        if (left.length < pendingBatch || turn.isOver()) return;
      }
    },
  };
}

export const emitCreated = (emit: Emit, report: ChatReport): void =>
  emit({ type: 'report.created', topic: topicOf(report.conversationId), data: { report } });
