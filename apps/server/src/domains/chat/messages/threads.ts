import { type Cursors, cutPage } from '../../../core/cursors.ts';
import type { Db } from '../../../core/db.ts';
import { RawJson } from '../../../core/handlers.ts';
import { type ChatCaller, userOf } from '../callers.ts';
import type { Shadow } from '../shadow/shadow.ts';
import { listMerged, type ShadowPlace } from '../shadow/shadow-store.ts';
import { orInShadow } from '../shadow/with-shadow.ts';
import type { Messages } from './edit.ts';
import { listThread } from './message-store.ts';

interface ThreadDeps {
  db: Db;
  messages: Messages;
  cursors: Cursors;
  shadow: Pick<Shadow, 'find'>;
}

export type Threads = ReturnType<typeof createThreads>;

const pageDefault = 200;

export function createThreads({ db, messages, cursors, shadow }: ThreadDeps) {
  /** The root first, then its replies, oldest first; a reply's id leads to the same thread. */
  async function page(
    caller: ChatCaller,
    messageId: string,
    { limit = pageDefault, cursor }: { limit?: number; cursor?: string },
  ): Promise<RawJson> {
    const { conversationUuid, threadRootId, id, isMarked } = await orInShadow(
      shadow,
      { caller, messageId },
      () => messages.enter(caller, messageId, { scope: 'chat:read' }),
      async (entry) => ({ ...entry, isMarked: true }),
    );
    const rootId = threadRootId ?? id;
    const list = `thread/${conversationUuid}/${rootId}`;
    const [position, n] = cursor === undefined ? [0] : cursors.read(list, cursor);
    const after = Number(position);
    const viewer = userOf(caller);
    const rows =
      isMarked && viewer !== null
        ? await mergedThread(conversationUuid, viewer, rootId, [after, Number(n ?? 0)], limit + 1)
        : await listThread(db, conversationUuid, rootId, { after, limit: limit + 1, viewer });
    const { items, nextCursor } = cutPage<{ position: number; n?: number; text: string }>(rows, limit, (last) =>
      cursors.write(list, last.n ? [last.position, last.n] : [last.position]),
    );
    const headers: Record<string, string> = nextCursor === null ? {} : { 'x-next-cursor': nextCursor };
    return new RawJson(`[${items.map(({ text }) => text).join(',')}]`, { headers });
  }

  const mergedThread = (conversation: string, user: string, rootId: string, after: ShadowPlace, limit: number) =>
    listMerged(db, conversation, user, {
      after,
      before: null,
      threadRootId: rootId,
      withRoot: true,
      senderId: null,
      includeDeleted: false,
      limit,
    });

  return { page };
}
