import { type ChatAction, type ChatScope, fail } from '@parley/contract';
import type { Db, Queryable, Tx } from '../../../core/db.ts';
import type { Emit, UnitOfWork } from '../../../core/unit-of-work.ts';
import { assertListed, assertScope, type Moderator, userOf } from '../callers.ts';
import type { Admission } from '../moderation/admission.ts';
import { readReference } from '../references.ts';
import { type ConversationEntry, findEntry, lockEntry } from './conversation-store.ts';
import { createKeyedQueue } from './keyed-queue.ts';

/** The way into a conversation: every rule about who may do what where is asked here. */
export interface Entries {
  /** The conversation behind a reference, if the caller may do this in it. */
  enter(caller: Moderator, reference: string, needs: Needs): Promise<ConversationEntry>;
  /**
   * A change of a conversation: the caller's right is asked again under the row's lock, and what `work` does and emits
   * is stored with it or not at all.
   */
  change<T>(caller: Moderator, id: string, needs: Needs, work: ChangeWork<T>): Promise<T>;
}

type ChangeWork<T> = (tx: Tx, emit: Emit, entry: ConversationEntry) => Promise<T>;

interface Needs {
  scope: ChatScope;
  action: ChatAction;
  /** Archived conversations take no new content. */
  isWrite?: boolean;
}

interface EntriesDeps {
  db: Db;
  unitOfWork: UnitOfWork;
  admission: Admission;
}

/** What a mute takes away. */
const isSpeech = ({ action }: Needs): boolean => action === 'send' || action === 'attach';

export function createEntries({ db, unitOfWork, admission }: EntriesDeps): Entries {
  const inOrder = createKeyedQueue();

  async function checked(
    from: Queryable,
    caller: Moderator,
    entry: ConversationEntry,
    needs: Needs,
  ): Promise<ConversationEntry> {
    assertListed(caller, entry.publicId);
    await admission.assertMember(from, caller, entry, needs.action);
    if (isSpeech(needs)) await admission.assertNotMuted(from, caller, entry);
    if (isSpeech(needs) && entry.isSilenced && caller.kind === 'chatToken') fail('SVC_CHAT_BLOCKED');
    if (needs.isWrite && entry.status === 'ARCHIVED') fail('SVC_CONVERSATION_ARCHIVED');
    return entry;
  }

  return {
    async enter(caller, reference, needs) {
      assertScope(caller, needs.scope);
      const entry =
        (await findEntry(db, caller, readReference(reference), userOf(caller))) ?? fail('SVC_CONVERSATION_NOT_FOUND');
      await checked(db, caller, entry, needs);
      if (isSpeech(needs)) await admission.assertMaySpeak(caller);
      return entry;
    },
    change: (caller, id, needs, work) =>
      inOrder(id, () =>
        unitOfWork(caller, async (tx, emit) => {
          assertScope(caller, needs.scope);
          const entry = (await lockEntry(tx, caller, id, userOf(caller))) ?? fail('SVC_CONVERSATION_NOT_FOUND');
          return work(tx, emit, await checked(tx, caller, entry, needs));
        }),
      ),
  };
}
