import type { Conversation } from '@parley/client/chat';
import { Chat } from '@parley/react';
import { backend } from './backend.ts';
import { shownName } from './identity.ts';

interface ChatPanelProps {
  conversation: Conversation | null;
  identity: string;
  error: { message: string } | null;
  /** Left out where a panel around it says what this is. */
  title?: string;
}

export function ChatPanel({ conversation, identity, error, title }: ChatPanelProps) {
  return (
    <Chat
      className="chat"
      conversation={conversation}
      userId={identity}
      nameOf={shownName}
      attachmentUrl={backend.downloadUrl}
      error={error}
      title={title ?? null}
    />
  );
}
