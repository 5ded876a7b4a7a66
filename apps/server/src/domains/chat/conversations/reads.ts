import { fail, type ReadReceipt, type ReadState } from '@parley/contract';
import { type Clock, iso } from '../../../core/clock.ts';
import { type Cursors, cutPage, pageSizeDefault } from '../../../core/cursors.ts';
import type { Db } from '../../../core/db.ts';
import { type Answer, page } from '../../../core/handlers.ts';
import type { UnitOfWork } from '../../../core/unit-of-work.ts';
import { type ChatCaller, subjectOf, userOf } from '../callers.ts';
import type { Hub } from '../live/hub.ts';
import type { Messages } from '../messages/edit.ts';
import type { Shadow } from '../shadow/shadow.ts';
import { orInShadow } from '../shadow/with-shadow.ts';
import type { Entries } from './entries.ts';
import { findReadState, listReceipts, moveReadMark } from './read-store.ts';

interface ReadDeps {
  db: Db;
  unitOfWork: UnitOfWork;
  entries: Entries;
  hub: Hub;
  messages: Messages;
  shadow: Pick<Shadow, 'find' | 'before'>;
  clock: Clock;
  cursors: Cursors;
}

export type Reads = ReturnType<typeof createReads>;

export function createReads({ db, unitOfWork, entries, hub, messages, shadow, clock, cursors }: ReadDeps) {
  const stateOf = async (conversationUuid: string, userId: string): Promise<ReadState> =>
    (await findReadState(db, conversationUuid, userId)) ?? fail('SVC_NOT_A_MEMBER');

  /** Everything up to this message is read. A mark that would move back stays where it is. */
  async function mark(caller: ChatCaller, asked: string, named?: string): Promise<ReadState> {
    const userId = subjectOf(caller, named);
    const { conversationUuid, conversationId, seq, position, id } = await orInShadow(
      shadow,
      { caller, messageId: asked },
      () => messages.enter(caller, asked, { scope: 'chat:read_state' }),
      // Others see the mark: it is at the message of all that this one stands behind; without one it does not move.
      async (entry) => ({ ...entry, seq: 0, ...(await shadow.before(entry)) }),
    );
    await unitOfWork(caller, async (tx, emit) => {
      const at = iso(clock.now());
      if (!(await moveReadMark(tx, { conversationUuid, userId, messageId: id, seq, position, at }))) return;
      hub.emitRead(emit, { conversationId, userId, messageId: id, seq, at });
    });
    return stateOf(conversationUuid, userId);
  }

  async function state(caller: ChatCaller, reference: string, named?: string): Promise<ReadState> {
    const userId = subjectOf(caller, named);
    const { id } = await entries.enter(caller, reference, { scope: 'chat:read', action: 'read' });
    return stateOf(id, userId);
  }

  async function receipts(
    caller: ChatCaller,
    reference: string,
    { limit = pageSizeDefault, cursor }: { limit?: number; cursor?: string },
  ): Promise<Answer<ReadReceipt[]>> {
    const { id, isSilenced } = await entries.enter(caller, reference, { scope: 'chat:read', action: 'read' });
    // Of two people who are out of touch each sees only themselves.
    const only = isSilenced ? userOf(caller) : null;
    const list = `read-receipts/${id}`;
    const after = cursor === undefined ? null : String(cursors.read(list, cursor)[0]);
    const rows = await listReceipts(db, id, { after, only, limit: limit + 1 });
    const { items, nextCursor } = cutPage(rows, limit, (last) => cursors.write(list, [last.userId]));
    return page(items, nextCursor);
  }

  return { mark, state, receipts };
}
