import type { Conversation, Message } from '@parley/client/chat';
import { usePresence } from '@parley/client/react';
import { type ReactNode, useEffect, useMemo, useState } from 'react';
import { useTyping } from '../hooks/chat.ts';
import { useLatest } from '../hooks/use-latest.ts';
import { sameName } from '../shared/names.ts';
import { usePanel } from '../shared/panel-scope.ts';
import { ProblemLine } from '../shared/problem-line.tsx';
import { useTexts } from '../texts.tsx';
import { Composer } from './composer.tsx';
import { ChatContext, type ChatMentions, type ChatScope } from './context.ts';
import { MessageList } from './message-list.tsx';
import { keyOf } from './rows.ts';
import { Thread } from './thread.tsx';

export interface ChatProps {
  /** Null while it is being joined. */
  conversation: Conversation | null;
  /** This user. */
  userId: string;
  /** Default: the id itself. */
  nameOf?: (userId: string) => string;
  /** Whose messages may be deleted; default one's own. */
  mayDelete?: (message: Message) => boolean;
  /** An address from your backend that downloads the file. Without it files have names only. */
  attachmentUrl?: (attachmentId: string) => Promise<string>;
  /** Of `useMentions`. Without it only the names of those who are here can be written out. */
  mentions?: ChatMentions;
  /** What was written before and not sent, as a chat store keeps it. */
  draft?: string;
  onDraft?: (text: string) => void;
  /** Default "Chat", and none in a panel of a call. Null where the page around it says what this is. */
  title?: ReactNode;
  /** Why the conversation could not be joined. */
  error?: { message: string } | null;
  className?: string;
}

/** A whole conversation: messages, threads, and a field to write in. As high as the element around it. */
export function Chat(props: ChatProps) {
  const { conversation, userId, nameOf = sameName, mayDelete, attachmentUrl, draft, onDraft, mentions } = props;
  const texts = useTexts();
  const panel = usePanel();
  const { title = panel ? null : texts.chat } = props;
  const [problem, setProblem] = useState<unknown>(null);
  const [replyTo, setReplyTo] = useState<Message | null>(null);
  const [thread, setThread] = useState<Message | null>(null);
  const [editing, setEditing] = useState<string | null>(null);
  const present = usePresence(conversation);
  const others = [...present.keys()].filter((id) => id !== userId).map(nameOf);
  const editLast = useEditLast(conversation, userId, setEditing);

  useEffect(() => {
    setReplyTo(null);
    setThread(null);
    setEditing(null);
    return conversation?.on('error', setProblem);
  }, [conversation]);
  useEffect(
    () =>
      panel?.isOpen === false
        ? conversation?.on('message', ({ senderId }) => senderId !== userId && panel.notify())
        : undefined,
    [conversation, userId, panel],
  );
  const given = useLatest({ nameOf, mayDelete, attachmentUrl });
  const hasUrls = attachmentUrl !== undefined;
  const scope = useMemo<ChatScope>(
    () => ({
      conversation,
      userId,
      // Through the reference: functions that are new at every rendering must not draw every message again.
      nameOf: (id) => given.current.nameOf(id),
      mayDelete: (message) => given.current.mayDelete?.(message) ?? message.senderId === userId,
      attachmentUrl: hasUrls
        ? (id) => given.current.attachmentUrl?.(id) ?? Promise.reject(new Error('no attachmentUrl'))
        : undefined,
      run: (work) => void work.then(() => setProblem(null), setProblem),
      mentions,
      editing,
      setEditing,
      onReply: setReplyTo,
      onThread: setThread,
    }),
    [conversation, userId, hasUrls, editing, mentions],
  );
  const Root = title === null ? 'div' : 'section';
  return (
    <ChatContext.Provider value={scope}>
      <Root
        className={`parley parley-chat ${props.className ?? ''}`}
        aria-label={title === null ? undefined : texts.chat}
      >
        <div className="parley-chat-main">
          <header className="parley-chat-head">
            {title !== null && <h2>{title}</h2>}
            {/* This user is among them: an empty list was not read. */}
            <p>{present.size > 0 && (others.length === 0 ? texts.nobodyHere : texts.here(texts.listOf(others)))}</p>
          </header>
          {/* Keys that differ: of two siblings with one key React leaves the old one in the page. */}
          <MessageList key={`list ${conversation?.id}`} />
          <Typing conversation={conversation} nameOf={nameOf} />
          <ProblemLine error={props.error ?? problem} />
          <Composer
            key={`field ${conversation?.id}`}
            names={others}
            replyTo={replyTo}
            onCancelReply={cancelReply}
            onEditLast={editLast}
            draft={draft}
            onDraft={onDraft}
          />
        </div>
        {thread && <Thread key={thread.id} root={thread} names={others} onClose={() => setThread(null)} />}
      </Root>
    </ChatContext.Provider>
  );

  function cancelReply(): void {
    setReplyTo(null);
  }
}

function useEditLast(conversation: Conversation | null, userId: string, setEditing: (key: string) => void): () => void {
  return () => {
    const last = conversation?.messages
      .getSnapshot()
      .findLast(({ senderId, id, deleted, text }) => senderId === userId && id !== null && !deleted && text !== null);
    if (last) setEditing(keyOf(last, userId));
  };
}

function Typing({ conversation, nameOf }: { conversation: Conversation | null; nameOf: (userId: string) => string }) {
  const texts = useTexts();
  const typing = useTyping(conversation);
  return (
    <p className="parley-typing" aria-live="polite">
      {typing.length > 0 && texts.typing(texts.listOf(typing.map(nameOf)), typing.length)}
    </p>
  );
}
