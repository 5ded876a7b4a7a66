import type { Conversation, Message } from '@parley/client/chat';
import { useCallback, useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { keyOf } from './rows.ts';

const visibility = {
  subscribe(listener: () => void): () => void {
    document.addEventListener('visibilitychange', listener);
    return () => document.removeEventListener('visibilitychange', listener);
  },
  isVisible: () => document.visibilityState === 'visible',
  onServer: () => true,
};

interface Unread {
  count: number;
  firstId: string;
}

interface News {
  /** The window shows the end of the list. */
  isLooking: boolean;
  /** What was unread when the conversation was opened is known: from now on, what is seen may be marked as read. */
  isKnown: boolean;
  /** Unread when it was opened, until the first of them was seen. */
  unread: Unread | null;
  clearUnread: () => void;
  /** The first message that was new; the mark stays until there are other news. */
  startKey: string | null;
  /** Messages of others since the end was last seen. */
  count: number;
  newestOfOthers: string | null;
  /** The newest message of another user, for those who do not see it. */
  said: Message | null;
}

/** What of a conversation is new to the user. */
export function useNews(
  conversation: Conversation | null,
  messages: readonly Message[],
  userId: string,
  isAtEnd: boolean,
): News {
  const isVisible = useSyncExternalStore(visibility.subscribe, visibility.isVisible, visibility.onServer);
  const isLooking = isAtEnd && isVisible;
  const newest = messages.findLast(({ senderId, id }) => id !== null && senderId !== userId) ?? null;
  const newestSeq = newest?.seq ?? 0;
  const { unread, isKnown, clearUnread } = useUnread(conversation);
  const [seenSeq, setSeenSeq] = useState<number | null>(null);
  const [startKey, setStartKey] = useState<string | null>(null);
  const said = useSaid(messages.length > 0, newest);

  useEffect(() => {
    // What was there when the list opened is not new.
    if (newestSeq > 0) setSeenSeq((before) => (isLooking || before === null ? newestSeq : before));
  }, [newestSeq, isLooking]);
  const isNew = ({ seq, senderId }: Message): boolean =>
    seq !== null && seenSeq !== null && seq > seenSeq && senderId !== userId;
  const firstNew = isLooking || newestSeq <= (seenSeq ?? newestSeq) ? undefined : messages.find(isNew);
  const nextKey = firstNew ? keyOf(firstNew, userId) : (unread?.firstId ?? null);
  useEffect(() => {
    if (nextKey !== null) setStartKey(nextKey);
  }, [nextKey]);

  return {
    isLooking,
    isKnown,
    unread,
    clearUnread,
    startKey,
    count: firstNew ? messages.filter(isNew).length : 0,
    newestOfOthers: newest?.id ?? null,
    said,
  };
}

/** What the server says was unread when the conversation was opened. */
function useUnread(conversation: Conversation | null): Pick<News, 'unread' | 'isKnown' | 'clearUnread'> {
  const [state, setState] = useState<{ unread: Unread | null; isKnown: boolean }>({ unread: null, isKnown: false });
  useEffect(() => {
    let isCurrent = true;
    const know = (unread: Unread | null): void => void (isCurrent && setState({ unread, isKnown: true }));
    void conversation?.readState().then(
      ({ unreadCount: count, firstUnreadMessageId: firstId }) => know(firstId === null ? null : { count, firstId }),
      // A token that may not read it: nothing is marked as unread then.
      () => know(null),
    );
    return () => {
      isCurrent = false;
    };
  }, [conversation]);
  const clearUnread = useCallback(() => setState({ unread: null, isKnown: true }), []);
  return { ...state, clearUnread };
}

/** The newest message of another user that came while the list was shown. */
function useSaid(isLoaded: boolean, newest: Message | null): Message | null {
  const known = useRef<number | null>(null);
  const [said, setSaid] = useState<Message | null>(null);
  useEffect(() => {
    if (!isLoaded) return;
    const seq = newest?.seq ?? 0;
    if (known.current !== null && seq > known.current) setSaid(newest);
    known.current = Math.max(known.current ?? 0, seq);
  }, [isLoaded, newest]);
  return said;
}
