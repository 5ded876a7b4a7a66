import type { Conversation } from '@parley/client/chat';
import { Chat } from '@parley/react';
import { useMentions } from '@parley/react/mentions';
import { backend } from './backend.ts';
import { shownName } from './identity.ts';

interface ChatPanelProps {
  conversation: Conversation | null;
  identity: string;
  error?: { message: string } | null;
  title?: string;
}

/** The kit's chat with the playground's names and files. */
export function ChatPanel({ conversation, identity, error = null, title }: ChatPanelProps) {
  const mentions = useMentions(conversation, { userId: identity, nameOf: shownName });
  return (
    <Chat
      className="chat"
      conversation={conversation}
      userId={identity}
      nameOf={shownName}
      attachmentUrl={backend.downloadUrl}
      error={error}
      mentions={mentions}
      {...(title === undefined ? {} : { title })}
    />
  );
}
