import { type ChatDeletion, type DeleteMessages, fail, type Limits } from '@parley/contract';
import type { ApiKeyCaller, ProjectScope } from '../../../core/caller.ts';
import { type Clock, iso } from '../../../core/clock.ts';
import { type Cursors, cutPage, pageSizeDefault } from '../../../core/cursors.ts';
import type { Db } from '../../../core/db.ts';
import { deleteInBatches, type Turn, withoutDeadline } from '../../../core/delete-in-batches.ts';
import { type Answer, page, recorded } from '../../../core/handlers.ts';
import type { Ids } from '../../../core/ids.ts';
import { failQuota } from '../../../core/quotas.ts';
import type { UnitOfWork } from '../../../core/unit-of-work.ts';
import type { Backend } from '../callers.ts';
import { insertChange, lockEntry } from '../conversations/conversation-store.ts';
import type { Entries } from '../conversations/entries.ts';
import type { Hub } from '../live/hub.ts';
import { markMessageDeleted } from '../messages/message-store.ts';
import { markShadowDeleted } from '../shadow/shadow-store.ts';
import { listOwnShadow } from '../shadow/shadow-upkeep-store.ts';
import {
  addDeleted,
  deleteFinished,
  findDeletion,
  finishDeletion,
  insertDeletion,
  isAnyRunning,
  listDeletions,
  listOwn,
  listRunning,
  movePlace,
  type RunningDeletion,
  walkWritten,
} from './deletion-store.ts';
import { assertUserId } from './user-ids.ts';

interface DeletionDeps {
  db: Db;
  clock: Clock;
  cursors: Cursors;
  ids: Ids;
  limits: Limits;
  unitOfWork: UnitOfWork;
  entries: Entries;
  hub: Hub;
}

export type Deletions = ReturnType<typeof createDeletions>;

/** Messages of one transaction: senders wait for milliseconds at most. */
const messagesMax = 50;
const conversationsMax = 200;
const jobsMax = 20;
const keptMs = 30 * 24 * 60 * 60_000;

/** Deletes all that a user wrote, each message as if by hand: subscribers hear of it. Goes on after a kill. */
export function createDeletions({ db, clock, cursors, ids, limits, unitOfWork, entries, hub }: DeletionDeps) {
  async function begin(
    caller: Backend,
    userId: string,
    { conversation }: Partial<DeleteMessages>,
  ): Promise<Answer<ChatDeletion>> {
    assertUserId(userId);
    const needs = { scope: 'chat:manage', action: 'read' } as const;
    const entry = conversation === undefined ? null : await entries.enter(caller, conversation, needs);
    const max = limits.CHAT_MAX_RUNNING_DELETIONS;
    const row = { id: ids.newId('chatDeletion'), userId, conversationId: entry?.publicId ?? null, max };
    const made = await db.transaction((tx) => insertDeletion(tx, caller, { ...row, at: iso(clock.now()) }));
    if (!made) return failQuota('CHAT_MAX_RUNNING_DELETIONS', max);
    const metadata = { deletionId: made.id, ...(entry && { conversationId: entry.publicId }) };
    return recorded(made, { resourceId: userId, environment: caller.environment, metadata });
  }

  const get = async (caller: ApiKeyCaller, id: string): Promise<ChatDeletion> =>
    (await findDeletion(db, caller, id)) ?? fail('SVC_DELETION_NOT_FOUND');

  async function list(
    scope: ProjectScope,
    { limit = pageSizeDefault, cursor }: { limit?: number; cursor?: string },
  ): Promise<Answer<ChatDeletion[]>> {
    const name = `chat-deletions/${scope.projectId}/${scope.environment}`;
    const after = cursor === undefined ? null : (cursors.read(name, cursor) as [string, string]);
    const rows = await listDeletions(db, scope, after, limit + 1);
    const { items, nextCursor } = cutPage(rows, limit, (last) => cursors.write(name, [last.createdAt, last.id]));
    return page(items, nextCursor);
  }

  /** Some of one conversation; gives the position of the last, or null when none is left. */
  function deleteSome(job: RunningDeletion, uuid: string, after: number): Promise<number | null> {
    return unitOfWork(job, async (tx, emit) => {
      const entry = await lockEntry(tx, job, uuid, null);
      if (!entry) return null;
      const at = iso(clock.now());
      const own = await listOwn(tx, uuid, job.userId, { before: job.createdAt, after, limit: messagesMax });
      for (const one of own) {
        const { id: messageId } = one;
        const change = await insertChange(tx, uuid, { type: 'message.deleted', messageId, at });
        const parts = { ...one, conversationUuid: uuid };
        const message = await markMessageDeleted(tx, parts, { change, by: 'server', at });
        const { publicId: conversationId } = entry;
        const parties = { senderId: job.userId, deletedBy: 'server', deletedAt: at };
        hub.emitChange(emit, 'message.deleted', { conversationId, change, messageId, ...parties, message });
      }
      const left = { before: job.createdAt, limit: messagesMax - own.length };
      const hidden = left.limit === 0 ? [] : await listOwnShadow(tx, uuid, job.userId, left);
      if (hidden.length > 0) await markShadowDeleted(tx, hidden, { by: 'server', at });
      const deleted = own.length + hidden.length;
      if (deleted > 0) await addDeleted(tx, job.id, deleted);
      return deleted < messagesMax ? null : (own.at(-1)?.position ?? after);
    });
  }

  /** False when the turn was over first. */
  async function work(job: RunningDeletion, turn: Turn): Promise<boolean> {
    for (let { place } = job; ; ) {
      const { rows, last } = await walkWritten(db, { ...job, place }, conversationsMax);
      for (const uuid of rows) {
        for (let after: number | null = 0; after !== null; ) {
          if (turn.isOver()) return false;
          after = await deleteSome(job, uuid, after);
        }
      }
      if (last === null) return true;
      place = last;
      await movePlace(db, job.id, last);
    }
  }

  async function run(turn: Turn = withoutDeadline): Promise<void> {
    for (const job of await listRunning(db, jobsMax)) {
      if (!(await work(job, turn))) return;
      await unitOfWork(job, async (tx, emit) => {
        const deletion = await finishDeletion(tx, job.id, iso(clock.now()));
        if (deletion) emit({ type: 'user.messages_deleted', data: { deletion } });
      });
    }
  }

  return {
    begin,
    get,
    list,
    run,
    isDue: () => isAnyRunning,
    sweep: (turn: Turn) => deleteInBatches({ turn }, (limit) => deleteFinished(db, iso(clock.now() - keptMs), limit)),
  };
}
