import type { Conversation } from '../chat/conversation-types.ts';
import type { HeldConversation } from '../chat/held-join.ts';
import type { Message } from '../chat/records.ts';
import { watchPresence } from '../chat/watch-presence.ts';
import type { ParleyError } from '../errors.ts';
import { createUnread } from './unread.ts';

/** A joined conversation, as a list shows it. */
export interface Tracked {
  readonly conversation: Conversation;
  readonly unread: number;
  readonly mentions: number;
  readonly lastMessage: Message | null;
  readonly present: readonly string[];
  readonly typing: readonly string[];
  markRead(): Promise<void>;
  /** Releasing it frees no place. */
  readonly isHeldElsewhere: boolean;
  /** Releases the conversation. */
  stop(): void;
}

interface TrackOptions {
  userId: string;
  isMention(text: string | null): boolean;
  onChange(): void;
  onLost(error: ParleyError): void;
}

/** Enough to count what is unread in most conversations, and to show the newest at once. */
const PAGE_SIZE = 30;

export function track(
  { conversation, release, isHeldElsewhere }: HeldConversation,
  { userId, isMention, onChange, onLost }: TrackOptions,
): Tracked {
  let present: readonly string[] = [];
  const unread = createUnread(conversation, userId, isMention, onChange);
  const stops = [
    unread.stop,
    conversation.messages.subscribe(onChange),
    conversation.typing.subscribe(onChange),
    conversation.on('error', (error) => {
      if (/_NOT_A_MEMBER$|_CONVERSATION_NOT_FOUND$/.test(error.code)) onLost(error);
    }),
    conversation.on('connectionStateChanged', (state) => state === 'connected' && void unread.refresh()),
    watchPresence(conversation, (users) => {
      present = [...users.keys()].filter((user) => user !== userId).sort();
      onChange();
    }),
  ];
  const lastStored = (): Message | undefined =>
    conversation.messages.getSnapshot().findLast((message) => message.id !== null);

  async function load(): Promise<void> {
    // What comes live is shown either way.
    await Promise.resolve(conversation.history({ limit: PAGE_SIZE })).catch(() => {});
    await unread.refresh();
  }
  void load();

  return {
    conversation,
    get isHeldElsewhere() {
      return isHeldElsewhere();
    },
    get unread() {
      return unread.count;
    },
    get mentions() {
      return unread.mentions;
    },
    get lastMessage() {
      return conversation.messages.getSnapshot().at(-1) ?? null;
    },
    get present() {
      return present;
    },
    get typing() {
      return conversation.typing.getSnapshot();
    },
    async markRead() {
      const last = lastStored();
      if (!last?.id) return;
      unread.markRead(last.seq ?? 0);
      await conversation.markRead(last.id);
    },
    stop() {
      for (const stop of stops) stop();
      release();
    },
  };
}
