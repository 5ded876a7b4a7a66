import type { Conversation } from '@parley/client/chat';
import { Chat } from '@parley/react';
import { useMentions } from '@parley/react/mentions';

export function Team({ conversation, userId }: { conversation: Conversation | null; userId: string }) {
  const mentions = useMentions(conversation, { userId });
  return <Chat conversation={conversation} userId={userId} mentions={mentions} />;
}
