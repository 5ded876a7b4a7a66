import { type ChatAction, type ChatScope, fail } from '@parley/contract';
import type { Db, Tx } from '../../../core/db.ts';
import type { Emit, UnitOfWork } from '../../../core/unit-of-work.ts';
import { assertListed, assertMember, assertScope, type ChatCaller, userOf } from '../callers.ts';
import { readReference } from '../references.ts';
import { type ConversationEntry, findEntry, lockEntry } from './conversation-store.ts';
import { createKeyedQueue } from './keyed-queue.ts';

/** The way into a conversation: every rule about who may do what where is asked here. */
export interface Entries {
  /** The conversation behind a reference, if the caller may do this in it. */
  enter(caller: ChatCaller, reference: string, needs: Needs): Promise<ConversationEntry>;
  /**
   * A change of a conversation: the caller's right is asked again under the row's lock, and what `work` does and emits
   * is stored with it or not at all.
   */
  change<T>(caller: ChatCaller, id: string, needs: Needs, work: ChangeWork<T>): Promise<T>;
}

type ChangeWork<T> = (tx: Tx, emit: Emit, entry: ConversationEntry) => Promise<T>;

export interface Needs {
  scope: ChatScope;
  action: ChatAction;
  /** Archived conversations take no new content. */
  isWrite?: boolean;
}

export function createEntries({ db, unitOfWork }: { db: Db; unitOfWork: UnitOfWork }): Entries {
  const inOrder = createKeyedQueue();

  return {
    async enter(caller, reference, needs) {
      assertScope(caller, needs.scope);
      const entry =
        (await findEntry(db, caller, readReference(reference), userOf(caller))) ?? fail('SVC_CONVERSATION_NOT_FOUND');
      return checked(caller, entry, needs);
    },
    change: (caller, id, needs, work) =>
      inOrder(id, () =>
        unitOfWork(caller, async (tx, emit) => {
          assertScope(caller, needs.scope);
          const entry = (await lockEntry(tx, caller, id, userOf(caller))) ?? fail('SVC_CONVERSATION_NOT_FOUND');
          return work(tx, emit, checked(caller, entry, needs));
        }),
      ),
  };
}

function checked(caller: ChatCaller, entry: ConversationEntry, { action, isWrite }: Needs): ConversationEntry {
  assertListed(caller, entry.publicId);
  assertMember(caller, entry.role, action);
  if (isWrite && entry.status === 'ARCHIVED') fail('SVC_CONVERSATION_ARCHIVED');
  return entry;
}
