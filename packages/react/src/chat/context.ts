import type { Conversation, Message } from '@parley/client/chat';
import { createContext, useContext } from 'react';

/** What every part of a chat knows. */
export interface ChatScope {
  conversation: Conversation | null;
  userId: string;
  nameOf: (userId: string) => string;
  mayDelete: (message: Message) => boolean;
  attachmentUrl: ((attachmentId: string) => Promise<string>) | undefined;
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
