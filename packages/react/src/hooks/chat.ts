import type { Conversation } from '@parley/client/chat';
import type { ChatStore, ConversationEntry } from '@parley/client/chat-store';
import { useStore } from '@parley/client/react';
import { useEffect, useState } from 'react';
import { constantStore } from '../shared/constant-store.ts';

export { useChat, useChatStore, useConversation, useMessages, usePresence } from '@parley/client/react';

const nobody = /* @__PURE__ */ constantStore<readonly string[]>([]);

/** The ids of those who type now, without this user. */
export function useTyping(conversation: Conversation | null): readonly string[] {
  return useStore(conversation?.typing ?? nobody);
}

/** The user's conversations, as a chat store keeps them. */
export function useConversations(store: ChatStore): readonly ConversationEntry[] {
  return useStore(store.conversations);
}

const NO_MARKS: ReadonlyMap<string, number> = new Map();

/** How far each member has read (`seq`): as it was when the conversation was opened, and what was heard since. */
export function useReadMarks(conversation: Conversation | null): ReadonlyMap<string, number> {
  const [marks, setMarks] = useState(NO_MARKS);
  useEffect(() => {
    setMarks(NO_MARKS);
    if (!conversation) return;
    let isCurrent = true;
    const mark = (userId: string, seq: number): void =>
      setMarks((before) => ((before.get(userId) ?? 0) < seq ? new Map(before).set(userId, seq) : before));
    const stop = conversation.on('read', ({ userId, seq }) => mark(userId, seq));
    // A token that may not read them: what changes is heard all the same.
    void conversation.readReceipts().then(
      ({ items }) => {
        if (isCurrent) for (const { userId, lastReadSeq } of items) mark(userId, lastReadSeq ?? 0);
      },
      () => {},
    );
    return () => {
      isCurrent = false;
      stop();
    };
  }, [conversation]);
  return marks;
}
