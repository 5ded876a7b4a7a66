import { Chat as ChatClient } from '@parley/client/chat';
import { Chat, useChat, useConversation } from '@parley/react';
import { useState } from 'react';
import { fetchChatToken } from './page.ts';
import '@parley/react/styles.css';

export function Support({ userId }: { userId: string }) {
  const [client] = useState(() => new ChatClient({ url: 'https://rtc.example.com', token: fetchChatToken }));
  useChat(client);
  const { conversation, error } = useConversation(client, 'support');
  return (
    <div style={{ height: 600 }}>
      <Chat conversation={conversation} error={error} userId={userId} />
    </div>
  );
}
