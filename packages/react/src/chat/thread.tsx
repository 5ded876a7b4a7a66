import type { Conversation, Message } from '@parley/client/chat';
import { useMessages } from '@parley/client/react';
import { useEffect, useMemo, useRef, useState } from 'react';
import { useLatest } from '../hooks/use-latest.ts';
import { CloseIcon } from '../icons.tsx';
import { IconButton } from '../shared/icon-button.tsx';
import { useTexts } from '../texts.tsx';
import { Composer, type ComposerProps } from './composer.tsx';
import { ChatContext, useChatScope } from './context.ts';
import { MessageRows, type MessageRowsHandle } from './message-rows.tsx';
import { threadOf } from './rows.ts';

interface ThreadProps extends Pick<ComposerProps, 'names'> {
  root: Message;
  onClose: () => void;
}

const NO_MARKS: ReadonlyMap<string, number> = new Map();

/** A message and its replies, beside the list; what is written here answers it. */
export function Thread({ root, onClose, names }: ThreadProps) {
  const texts = useTexts();
  const scope = useChatScope();
  const { conversation, run } = scope;
  const loaded = useMessages(conversation);
  const read = useReplies(conversation, root, (error) => run(Promise.reject(error)));
  const messages = useMemo(() => threadOf(root, loaded, read), [root, loaded, read]);
  const rows = useRef<MessageRowsHandle>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  const inside = useMemo(() => ({ ...scope, onThread: undefined, onReply: () => {} }), [scope]);
  return (
    <ChatContext.Provider value={inside}>
      <section
        className="parley-thread"
        aria-label={texts.thread}
        onKeyDown={({ key, target }) => {
          const isField = target instanceof Element && target.closest('textarea') !== null;
          if (key === 'Escape' && !isField) onClose();
        }}
      >
        <header className="parley-chat-head">
          <h3 ref={heading} tabIndex={-1}>
            {texts.thread}
          </h3>
          <IconButton label={texts.close} onClick={onClose}>
            <CloseIcon />
          </IconButton>
        </header>
        <div className="parley-messages">
          <MessageRows handle={rows} messages={messages} marks={NO_MARKS} unreadKey={null} onSeen={() => {}} />
        </div>
        <Composer replyTo={root} names={names} />
      </section>
    </ChatContext.Provider>
  );
}

/** The replies that the server has. */
function useReplies(
  conversation: Conversation | null,
  { id }: Message,
  onError: (error: unknown) => void,
): readonly Message[] {
  const [replies, setReplies] = useState<readonly Message[]>([]);
  const report = useLatest(onError);
  useEffect(() => {
    if (!conversation || id === null) return;
    const ending = new AbortController();
    // Loaded with the first thread: few open one.
    import('./watch-replies.ts')
      .then(({ watchReplies }) => watchReplies(conversation, id, setReplies, ending.signal))
      .catch((error) => report.current(error));
    return () => ending.abort();
  }, [conversation, id]);
  return replies;
}
