import { Chat } from '@parley/client/chat';
import { createInbox, type Inbox } from '@parley/client/inbox';
import { useChat, useConversation, useStore } from '@parley/client/react';
import { useEffect, useState } from 'react';
import { backend } from './backend.ts';
import { ChatPanel } from './chat-panel.tsx';
import { identityOf, storedName } from './identity.ts';
import { InboxList, titleOf } from './inbox-list.tsx';
import { MessageSearch } from './message-search.tsx';
import { usePageTitle } from './use-page-title.ts';

/** The first screen of a chat: conversations with what is unread, a search over all of them, and one that is open. */
export function InboxPage() {
  usePageTitle('Chat');
  const [identity] = useState(() => identityOf(storedName()));
  const [chat] = useState(() => new Chat({ url: location.origin, token: () => backend.inboxToken(identity) }));
  useChat(chat);
  const [inbox, setInbox] = useState<Inbox | null>(null);
  useEffect(() => {
    const made = createInbox(chat);
    setInbox(made);
    return () => made.close();
  }, [chat]);
  return (
    <>
      <h1 className="visually-hidden">Chat</h1>
      {inbox && <Opened chat={chat} inbox={inbox} identity={identity} />}
    </>
  );
}

function Opened({ chat, inbox, identity }: { chat: Chat; inbox: Inbox; identity: string }) {
  const { entries, badge, isLoading } = useStore(inbox.state);
  const [selected, select] = useState<string | null>(null);
  const [isSearching, setSearching] = useState(false);
  const open = entries.find(({ conversation }) => conversation.id === selected);
  return (
    <div className="inbox" data-open={selected !== null || undefined}>
      <section className="inbox-side" aria-label="Conversations">
        <MessageSearch
          chat={chat}
          titleOf={(id) => titleOf(entries.find(({ conversation }) => conversation.id === id))}
          onOpen={select}
          onSearching={setSearching}
        />
        {!isSearching && <InboxList entries={entries} selected={selected} onSelect={select} />}
        <p className="inbox-total muted" role="status">
          {isLoading && entries.length === 0 ? 'Loading' : totalOf(badge?.unreadMessages ?? 0)}
        </p>
      </section>
      <div className="inbox-main">
        {selected === null ? (
          <p className="inbox-none muted">Open a conversation. Everybody in the playground is in these.</p>
        ) : (
          <>
            <button type="button" className="button inbox-back" onClick={() => select(null)}>
              All conversations
            </button>
            <Talk key={selected} chat={chat} id={selected} title={titleOf(open)} identity={identity} />
          </>
        )}
      </div>
    </div>
  );
}

function Talk({ chat, id, title, identity }: { chat: Chat; id: string; title: string; identity: string }) {
  const { conversation, error } = useConversation(chat, id);
  return <ChatPanel conversation={conversation} identity={identity} error={error} title={title} />;
}

function totalOf(unread: number): string {
  if (unread === 0) return 'Nothing unread';
  return unread === 1 ? '1 unread message' : `${unread} unread messages`;
}
