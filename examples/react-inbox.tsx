import type { Chat as ChatClient, Conversation } from '@parley/client/chat';
import { Chat, ConversationList, useChat, useChatStore } from '@parley/react';
import { useState } from 'react';

export function Inbox({ client, userId }: { client: ChatClient; userId: string }) {
  useChat(client);
  const store = useChatStore(client);
  const [opened, setOpened] = useState<{ ref: string; conversation: Conversation } | null>(null);
  if (!store) return null;
  const open = async (ref: string) => setOpened({ ref, conversation: await store.open(ref) });
  return (
    <div style={{ display: 'grid', gridTemplateColumns: '20rem 1fr', height: 600 }}>
      <ConversationList store={store} selected={opened?.ref ?? null} onSelect={(ref) => void open(ref)} />
      {opened && (
        <Chat
          key={opened.ref}
          conversation={opened.conversation}
          userId={userId}
          draft={store.drafts.get(opened.ref)}
          onDraft={(text) => store.drafts.set(opened.ref, text)}
        />
      )}
    </div>
  );
}
