import type { Conversation } from '../chat/conversation-types.ts';
import type { Message } from '../chat/records.ts';

export interface Unread {
  readonly count: number;
  /** Shown as read before the server says so. */
  markRead(seq: number): void;
  /** Asks the server for the read mark: marks set elsewhere while there was no connection are not sent again. */
  refresh(): Promise<void>;
  stop(): void;
}

/** Counts from the messages that are loaded, so that neither a late frame nor a late answer is counted twice. */
export function createUnread(conversation: Conversation, userId: string, onChange: () => void): Unread {
  let readSeq = 0;
  /** Unread messages that are older than what is loaded. */
  let older = 0;
  let turn = 0;

  const loaded = (): readonly Message[] => conversation.messages.getSnapshot();
  const isReached = (seq: number): boolean => (loaded().find((message) => message.seq !== null)?.seq ?? 0) <= seq + 1;

  function read(seq: number): void {
    if (seq <= readSeq) return;
    readSeq = seq;
    if (isReached(seq)) older = 0;
    else void refresh();
    onChange();
  }

  async function refresh(): Promise<void> {
    const asked = ++turn;
    const state = await conversation.readState().catch(() => null);
    // A token that may not read it, or a later answer: what is counted live stands.
    if (!state || asked !== turn) return;
    readSeq = state.lastReadSeq ?? 0;
    older = isReached(readSeq) ? 0 : Math.max(0, state.unreadCount - countLoaded(loaded(), readSeq, userId).count);
    onChange();
  }

  const stop = conversation.on('read', (receipt) => {
    if (receipt.userId === userId) read(receipt.seq);
  });

  return {
    get count() {
      const { count, isEnd } = countLoaded(loaded(), readSeq, userId);
      return isEnd ? count : count + older;
    },
    markRead: read,
    refresh,
    stop,
  };
}

/** From the newest back to the read mark, or to an own message: sending one marks what is before it as read. */
function countLoaded(messages: readonly Message[], readSeq: number, userId: string): { count: number; isEnd: boolean } {
  let count = 0;
  for (let at = messages.length - 1; at >= 0; at--) {
    const { seq = null, senderId, deleted } = messages[at] ?? {};
    if (seq === null) continue;
    if (seq <= readSeq || senderId === userId) return { count, isEnd: true };
    if (!deleted) count++;
  }
  return { count, isEnd: false };
}
