import type { Message } from '@parley/client/chat';
import { type Ref, useCallback, useMemo } from 'react';
import { useLatest } from '../hooks/use-latest.ts';
import { useTexts } from '../texts.tsx';
import { useChatScope } from './context.ts';
import { MessageRow } from './message-row.tsx';
import { findById, keyOf, readersAt } from './rows.ts';
import type { Seen } from './scroller.ts';
import { VirtualList, type VirtualListHandle } from './virtual-list.tsx';

export type MessageRowsHandle = VirtualListHandle;

interface MessageRowsProps {
  messages: readonly Message[];
  marks: ReadonlyMap<string, number>;
  /** The first message that was not seen. */
  unreadKey: string | null;
  onSeen: (seen: Seen) => void;
  onShow: (message: Message) => void;
  handle?: Ref<MessageRowsHandle>;
}

/** A row with a name and one line of text. */
const ESTIMATE_PX = 56;

export function MessageRows({ messages, marks, unreadKey, onSeen, onShow, handle }: MessageRowsProps) {
  const texts = useTexts();
  const { userId, nameOf } = useChatScope();
  const keys = useMemo(() => messages.map((message) => keyOf(message, userId)), [messages, userId]);
  const current = useLatest(onShow);
  const show = useCallback((message: Message) => current.current(message), []);
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
            answered={findById(messages, message.replyTo)}
            readers={texts.listOf(readers.map(nameOf))}
            isUnreadStart={unreadKey !== null && keys[index] === unreadKey}
            isFocused={isFocused}
            onShow={show}
          />
        );
      }}
    </VirtualList>
  );
}
