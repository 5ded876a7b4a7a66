import { type ChatScope, fail, type SendMessage } from '@parley/contract';
import { type Clock, iso } from '../../../core/clock.ts';
import type { Db } from '../../../core/db.ts';
import type { Ids } from '../../../core/ids.ts';
import { ownerOf, type Quotas } from '../../../core/quotas.ts';
import { refuse } from '../../../core/validation.ts';
import { createStorageQuota } from '../attachments/storage-quota.ts';
import { assertScope, type ChatCaller, userOf } from '../callers.ts';
import { createKeyedQueue } from '../conversations/keyed-queue.ts';
import type { SendOutcome } from '../messages/send-store.ts';
import type { Target } from '../targets.ts';
import { findEarlier, findSource, holdFiles, insertCopies, releaseCopies, type Source } from './forward-store.ts';

export type { Source } from './forward-store.ts';

interface ForwardDeps {
  db: Db;
  clock: Clock;
  ids: Ids;
  quotas: Quotas;
  /** Fails for a message that the caller may not read. */
  messages: { enter(caller: ChatCaller, messageId: string, needs: { scope: ChatScope }): Promise<unknown> };
}

/** Until a message takes them. */
const copyMs = 10 * 60 * 1000;

export type Forwards = ReturnType<typeof createForwards>;

/** What is passed on comes from the store, never from the client. */
export function createForwards({ db, clock, ids, quotas, messages }: ForwardDeps) {
  const storage = createStorageQuota(quotas);
  const inOrder = createKeyedQueue();

  /** Rows of the sender's own for its files, in the conversation they go to. The files themselves are shared. */
  async function copyFiles(
    caller: ChatCaller,
    source: Source,
    to: { conversationUuid: string; uploaderId: string | null },
  ): Promise<string[]> {
    if (source.attachmentIds.length === 0) return [];
    const copies = source.attachmentIds.map((of) => ({ of, id: ids.newId('attachment') }));
    const now = clock.now();
    await inOrder(ownerOf(caller), () =>
      db.transaction(async (tx) => {
        const held = await holdFiles(tx, source);
        if (held.length < copies.length) fail('SVC_ATTACHMENT_NOT_FOUND');
        await insertCopies(tx, { ids: copies, ...to, at: iso(now), expiresAt: iso(now + copyMs) });
        for (const { size } of held) await storage.take(tx, { ...caller, uploaderId: to.uploaderId, size });
      }),
    );
    return copies.map(({ id }) => id);
  }

  /** A message that the caller may read, and may say elsewhere. */
  async function read(caller: ChatCaller, messageId: string): Promise<Source> {
    await messages.enter(caller, messageId, { scope: 'chat:read' });
    const source = (await findSource(db, messageId)) ?? fail('SVC_MESSAGE_NOT_FOUND');
    if (source.attachmentIds.length > 0) assertScope(caller, 'chat:attach');
    else if (source.text === null) {
      refuse([{ field: 'forward.messageId', rule: 'content', message: 'This message has neither text nor files.' }]);
    }
    return source;
  }

  /** Sends with rows of its own for the files; what is not stored takes none. */
  async function passOn(
    caller: ChatCaller,
    { id: conversationUuid }: Target,
    draft: SendMessage,
    source: Source,
    add: (draft: SendMessage) => Promise<SendOutcome>,
  ): Promise<SendOutcome> {
    const uploaderId = userOf(caller) ?? draft.senderId ?? null;
    const { clientMessageId } = draft;
    const position =
      clientMessageId === undefined ? undefined : await findEarlier(db, conversationUuid, uploaderId, clientMessageId);
    if (position !== undefined) return { is: 'repeated', position };
    const copies = await copyFiles(caller, source, { conversationUuid, uploaderId });
    const files = copies.length > 1 ? { attachmentIds: copies } : { attachmentId: copies[0] };
    let outcome: SendOutcome | undefined;
    try {
      outcome = await add(copies.length === 0 ? draft : { ...draft, ...files });
      return outcome;
    } finally {
      if (outcome?.is !== 'stored' && copies.length > 0) await releaseCopies(db, copies, iso(clock.now() - 1));
    }
  }

  return { read, passOn };
}
