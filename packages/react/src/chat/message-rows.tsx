import type { Message } from '@parley/client/chat';
import { memo, type RefObject, useCallback, useMemo } from 'react';
import { useLatest } from '../hooks/use-latest.ts';
import { useTexts } from '../texts.tsx';
import { useChatScope } from './context.ts';
import { MessageRow } from './message-row.tsx';
import { finderOf, keyOf, readersAt } from './rows.ts';
import type { Seen } from './scroller.ts';
import { VirtualList, type VirtualListHandle } from './virtual-list.tsx';

export type MessageRowsHandle = VirtualListHandle;

interface MessageRowsProps {
  messages: readonly Message[];
  marks: ReadonlyMap<string, number>;
  /** The first message that was not seen. */
  unreadKey: string | null;
  onSeen: (seen: Seen) => void;
  handle: RefObject<MessageRowsHandle | null>;
}

/** A row with a name and one line of text. */
const ESTIMATE_PX = 56;

/** Drawn anew for messages and scrolling, not for what those around it make of what is seen. */
export const MessageRows = /* @__PURE__ */ memo(function MessageRows({
  messages,
  marks,
  unreadKey,
  onSeen,
  handle,
}: MessageRowsProps) {
  const texts = useTexts();
  const { userId, nameOf } = useChatScope();
  const keys = useMemo(() => messages.map((message) => keyOf(message, userId)), [messages, userId]);
  const find = useMemo(() => finderOf(messages), [messages]);
  const latest = useLatest(messages);
  const show = useCallback(
    (message: Message) => handle.current?.show(latest.current.indexOf(message), 'center'),
    [handle],
  );
  return (
    <VirtualList keys={keys} label={texts.messages} estimate={ESTIMATE_PX} onSeen={onSeen} handle={handle}>
      {(index, isFocused) => {
        const message = messages[index];
        if (!message) return null;
        const readers = readersAt(marks, message, messages[index + 1]).filter((reader) => reader !== userId);
        return (
          <MessageRow
            message={message}
            previous={messages[index - 1]}
            answered={find(message.replyTo)}
            readers={texts.listOf(readers.map(nameOf))}
            isUnreadStart={unreadKey !== null && keys[index] === unreadKey}
            isFocused={isFocused}
            onShow={show}
          />
        );
      }}
    </VirtualList>
  );
});
