import type { Conversation, Message, NewMessage } from '@parley/client/chat';
import { createContext, type ReactNode, useContext } from 'react';

/** Who can be mentioned, and how: of `@parley/react/mentions`. */
export interface ChatMentions {
  /** That may follow an @. */
  readonly names: readonly string[];
  /** What a message with this text says of it. */
  of(text: string): Pick<NewMessage, 'mentions'>;
  /** A text of a message, with those it mentions marked. */
  show(text: string, message: Message): ReactNode;
}

/** What every part of a chat knows. */
export interface ChatScope {
  conversation: Conversation | null;
  userId: string;
  nameOf: (userId: string) => string;
  mayDelete: (message: Message) => boolean;
  attachmentUrl: ((attachmentId: string) => Promise<string>) | undefined;
  mentions: ChatMentions | undefined;
  /** Shows what goes wrong with it. */
  run: (work: Promise<unknown>) => void;
  /** The message that is being edited. */
  editing: string | null;
  setEditing: (key: string | null) => void;
  onReply: (message: Message) => void;
  /** Missing inside of a thread. */
  onThread: ((message: Message) => void) | undefined;
}

export const ChatContext = createContext<ChatScope | null>(null);

export function useChatScope(): ChatScope {
  const scope = useContext(ChatContext);
  if (!scope) throw new Error('This component belongs inside of <Chat>.');
  return scope;
}
