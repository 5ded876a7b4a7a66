import { type ErrorCode, errors, type SendMessage, ServiceError, tokenScopes } from '@parley/contract';
import { type Clock, iso } from '../../../core/clock.ts';
import type { Db } from '../../../core/db.ts';
import { deleteInBatches, type Turn, withoutDeadline } from '../../../core/delete-in-batches.ts';
import type { Log } from '../../../core/log.ts';
import type { UnitOfWork } from '../../../core/unit-of-work.ts';
import type { ChatCaller } from '../callers.ts';
import { topicOf } from '../live/change.ts';
import { findMessageEntry } from '../messages/message-store.ts';
import type { Sends } from '../messages/send.ts';
import { findShadowEntry } from '../shadow/shadow-store.ts';
import type { StandingOfUsers } from '../tokens.ts';
import { claimDue, deleteOver, endScheduled, isAnyDue, type Scheduled } from './scheduled-store.ts';

interface SenderDeps {
  db: Db;
  clock: Clock;
  log: Log;
  unitOfWork: UnitOfWork;
  sends: Sends;
  standing: Pick<StandingOfUsers, 'assertHolds'>;
}

const claimMs = 30_000;
const batchMax = 50;
/** What is refused for the moment may pass later; a day late nobody waits for it. */
const triedMs = 24 * 60 * 60 * 1000;
const keptMs = 30 * 24 * 60 * 60 * 1000;

/**
 * Sends what is due, once: the message has its id and its client's id before anybody tries, so an attempt after a crash
 * finds what the one before it has stored.
 */
export function createScheduledSender({ db, clock, log, unitOfWork, sends, standing }: SenderDeps) {
  async function send(row: Scheduled): Promise<void> {
    const caller = callerOf(row);
    if (caller.kind === 'chatToken') await standing.assertHolds(caller);
    const draft = row.draft as SendMessage;
    const clientMessageId = draft.clientMessageId ?? row.id;
    await sends.send(caller, row.conversationUuid, { ...draft, clientMessageId }, row.messageId);
  }

  const succeed = (row: Scheduled): Promise<boolean> =>
    endScheduled(db, row.id, { status: 'SENT', failure: null, at: iso(clock.now()) });

  const giveUp = (row: Scheduled, code: ErrorCode): Promise<void> =>
    unitOfWork(row, async (tx, emit) => {
      const at = iso(clock.now());
      if (!(await endScheduled(tx, row.id, { status: 'FAILED', failure: code, at }))) return;
      const { id: scheduledId, conversationId, userId } = row;
      const data = { scheduledId, conversationId, userId, code, at };
      emit({ type: 'scheduled.failed', topic: topicOf(conversationId), data });
    });

  async function attempt(row: Scheduled): Promise<void> {
    try {
      await send(row);
    } catch (error) {
      const isLate = clock.now() - Date.parse(row.sendAt) > triedMs;
      if (!(error instanceof ServiceError && (isLate || isFinal(error.code)))) {
        // Its claim runs out, and it is tried again.
        log.warn({ error, scheduled: row.id }, 'a scheduled message was not sent; it will be tried again');
        return;
      }
      // An attempt before this one may have stored it, when its user still might.
      const isStored =
        (await findMessageEntry(db, row, row.messageId, null)) ?? (await findShadowEntry(db, row, row.messageId, null));
      if (!isStored) return giveUp(row, error.code);
    }
    await succeed(row);
  }

  async function run(turn: Turn = withoutDeadline): Promise<number> {
    let total = 0;
    for (;;) {
      const now = clock.now();
      const due = await claimDue(db, { now: iso(now), until: iso(now + claimMs), limit: batchMax });
      await Promise.all(due.map(attempt));
      total += due.length;
      if (due.length < batchMax || turn.isOver()) return total;
    }
  }

  const forget = (turn: Turn = withoutDeadline): Promise<number> =>
    deleteInBatches({ turn }, (limit) => deleteOver(db, iso(clock.now() - keptMs), limit));

  return { run, forget, isDue: () => isAnyDue(iso(clock.now())) };
}

/** The same call would fail again. */
const isFinal = (code: ErrorCode): boolean => {
  const { status, isRetryable = false }: { status: number; isRetryable?: boolean } = errors[code];
  return status < 500 && !isRetryable;
};

/** Who scheduled it, as they would be now. */
function callerOf({ projectId, environment, userId, issued }: Scheduled): ChatCaller {
  const { keyId, token } = issued;
  if (!token || userId === null)
    return { kind: 'apiKey', projectId, environment, id: '', publicId: keyId ?? '', scopes: null };
  return {
    kind: 'chatToken',
    projectId,
    environment,
    userId,
    keyId,
    ...token,
    scopes: tokenScopes,
    conversations: null,
    expiresAt: Number.MAX_SAFE_INTEGER,
  };
}
