import type { Conversation } from '../chat/conversation-types.ts';
import type { Message } from '../chat/records.ts';

export interface Unread {
  readonly count: number;
  /** How many of them, as far as they are loaded, name this user. */
  readonly mentions: number;
  /** Shown as read before the server says so. */
  markRead(seq: number): void;
  /** Asks the server for the read mark: marks set elsewhere while there was no connection are not sent again. */
  refresh(): Promise<void>;
  stop(): void;
}

/** Counts from the messages that are loaded, so that neither a late frame nor a late answer is counted twice. */
export function createUnread(
  conversation: Conversation,
  userId: string,
  isMention: (text: string | null) => boolean,
  onChange: () => void,
): Unread {
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
    older = isReached(readSeq) ? 0 : Math.max(0, state.unreadCount - unreadOf(loaded(), readSeq, userId).unread.length);
    onChange();
  }

  const stop = conversation.on('read', (receipt) => {
    if (receipt.userId === userId) read(receipt.seq);
  });

  return {
    get count() {
      const { unread, isEnd } = unreadOf(loaded(), readSeq, userId);
      return unread.length + (isEnd ? 0 : older);
    },
    get mentions() {
      return unreadOf(loaded(), readSeq, userId).unread.filter(
        (message) => names(message, userId) ?? isMention(message.text),
      ).length;
    },
    markRead: read,
    refresh,
    stop,
  };
}

/** What the sender said; undefined where the message says nothing, and its text has to. */
const names = ({ mentions }: Message, userId: string): boolean | undefined =>
  mentions ? mentions.all || mentions.here || mentions.users.includes(userId) : undefined;

/** From the newest back to the read mark, or to an own message: sending one marks what is before it as read. */
function unreadOf(
  messages: readonly Message[],
  readSeq: number,
  userId: string,
): { unread: readonly Message[]; isEnd: boolean } {
  const unread: Message[] = [];
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at];
    if (!message || message.seq === null) continue;
    const { seq, senderId, deleted } = message;
    if (seq <= readSeq || senderId === userId) return { unread, isEnd: true };
    if (!deleted) unread.push(message);
  }
  return { unread, isEnd: false };
}
