import { type Cursors, cutPage } from '../../../core/cursors.ts';
import type { Db } from '../../../core/db.ts';
import { RawJson } from '../../../core/handlers.ts';
import { type ChatCaller, userOf } from '../callers.ts';
import type { Messages } from './edit.ts';
import { listThread } from './message-store.ts';

interface ThreadDeps {
  db: Db;
  messages: Messages;
  cursors: Cursors;
}

export type Threads = ReturnType<typeof createThreads>;

const pageDefault = 200;

export function createThreads({ db, messages, cursors }: ThreadDeps) {
  /** The root first, then its replies, oldest first; a reply's id leads to the same thread. */
  async function page(
    caller: ChatCaller,
    messageId: string,
    { limit = pageDefault, cursor }: { limit?: number; cursor?: string },
  ): Promise<RawJson> {
    const entry = await messages.enter(caller, messageId, { scope: 'chat:read' });
    const rootId = entry.threadRootId ?? entry.id;
    const list = `thread/${entry.conversationUuid}/${rootId}`;
    const after = cursor === undefined ? 0 : Number(cursors.read(list, cursor)[0]);
    const viewer = userOf(caller);
    const rows = await listThread(db, entry.conversationUuid, rootId, { after, limit: limit + 1, viewer });
    const { items, nextCursor } = cutPage(rows, limit, (last) => cursors.write(list, [last.position]));
    const headers: Record<string, string> = nextCursor === null ? {} : { 'x-next-cursor': nextCursor };
    return new RawJson(`[${items.map(({ text }) => text).join(',')}]`, { headers });
  }

  return { page };
}
