import type { Conversation, Message } from '@parley/client/chat';
import { useMessages } from '@parley/client/react';
import { useEffect, useRef, useState } from 'react';
import { useReadMarks } from '../hooks/chat.ts';
import { useOlderMessages } from '../hooks/history.ts';
import { useLatest } from '../hooks/use-latest.ts';
import { ChevronDownIcon, ChevronUpIcon } from '../icons.tsx';
import { usePanel } from '../shared/panel-scope.ts';
import { useTexts } from '../texts.tsx';
import { useChatScope } from './context.ts';
import { MessageRows, type MessageRowsHandle } from './message-rows.tsx';
import { saidText } from './said.ts';
import type { Seen } from './scroller.ts';
import { useNews } from './use-news.ts';

/** So many rows before the oldest one is seen, the page before it is asked for. */
const AHEAD = 15;
/** So many pages at most are read for one jump. */
const PAGES_MAX = 20;
const NOTHING: Seen = { first: 0, last: -1, isAtEnd: true };

/** The messages of a conversation: older pages as they are scrolled to, what is new, who has read how far. */
export function MessageList() {
  const texts = useTexts();
  const { conversation, userId, nameOf, run } = useChatScope();
  const messages = useMessages(conversation);
  const marks = useReadMarks(conversation);
  const [seen, setSeen] = useState(NOTHING);
  /** The message to show as soon as its page is drawn. */
  const [goal, setGoal] = useState<string | null>(null);
  const rows = useRef<MessageRowsHandle>(null);
  const { hasOlder, isLoading, loadOlder } = useOlderMessages(conversation, (error) => run(Promise.reject(error)));
  const isShown = usePanel()?.isOpen ?? true;
  const news = useNews(conversation, messages, userId, seen.isAtEnd && isShown);
  const { length } = messages;
  useEffect(() => {
    if (hasOlder && length > 0 && seen.first < AHEAD) void loadOlder();
  }, [hasOlder, length, seen.first, loadOlder]);
  useMarkRead(conversation, news.newestOfOthers, news.isLooking && news.isKnown);
  useOwnInView(messages, userId, () => rows.current?.showEnd());

  const { unread, clearUnread } = news;
  const unreadAt = unread ? indexOfId(messages, unread.firstId) : -1;
  const isUnreadSeen = unreadAt >= 0 && seen.last >= 0 && unreadAt >= seen.first;
  useEffect(() => {
    if (isUnreadSeen) clearUnread();
  }, [isUnreadSeen, clearUnread]);
  const toUnread = async (): Promise<void> => {
    if (!conversation || !unread) return;
    const find = (): number => indexOfId(conversation.messages.getSnapshot(), unread.firstId);
    let pages = 0;
    while (find() < 0 && pages++ < PAGES_MAX && (await loadOlder()));
    // Further back than that: to the oldest that was read, and the button stays.
    setGoal(find() < 0 ? (conversation.messages.getSnapshot()[0]?.id ?? null) : unread.firstId);
    if (pages <= PAGES_MAX) clearUnread();
  };
  const goalAt = goal === null ? -1 : indexOfId(messages, goal);
  useEffect(() => {
    if (goalAt < 0) return;
    rows.current?.show(goalAt, 'start');
    setGoal(null);
  }, [goalAt]);
  return (
    <div className="parley-messages">
      {isLoading && seen.first < AHEAD && length > 0 && (
        <p className="parley-pill parley-loading">{texts.loadingOlder}</p>
      )}
      {unread && !isUnreadSeen && length > 0 && (
        <button type="button" className="parley-pill parley-to-unread" onClick={() => run(toUnread())}>
          <ChevronUpIcon />
          {texts.jumpToUnread(unread.count)}
        </button>
      )}
      {length === 0 && !isLoading && conversation && <p className="parley-empty">{texts.noMessages}</p>}
      <MessageRows handle={rows} messages={messages} marks={marks} unreadKey={news.startKey} onSeen={setSeen} />
      {!seen.isAtEnd && (
        <button type="button" className="parley-pill parley-to-newest" onClick={() => rows.current?.showEnd()}>
          <ChevronDownIcon />
          {texts.jumpToNewest(news.count)}
        </button>
      )}
      <p className="parley-hidden" role="status">
        {news.said && saidText(news.said, texts, nameOf)}
      </p>
    </div>
  );
}

const indexOfId = (messages: readonly Message[], id: string): number =>
  messages.findLastIndex((message) => message.id === id);

/** What is looked at is read. */
function useMarkRead(conversation: Conversation | null, newest: string | null, isLooking: boolean): void {
  useEffect(() => {
    // A token may not mark; nobody waits for it here.
    if (newest !== null && isLooking) conversation?.markRead(newest).catch(() => {});
  }, [conversation, newest, isLooking]);
}

/** Who sends something sees it, wherever the list was scrolled to. */
function useOwnInView(messages: readonly Message[], userId: string, showEnd: () => void): void {
  const last = messages.at(-1);
  const sent = last?.id === null && last.senderId === userId ? last.clientMessageId : null;
  const show = useLatest(showEnd);
  useEffect(() => {
    if (sent !== null) show.current();
  }, [sent]);
}
