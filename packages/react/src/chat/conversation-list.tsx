import type { ChatStore, ConversationEntry } from '@parley/client/chat-store';
import { useStore } from '@parley/client/react';
import { useConversations } from '../hooks/chat.ts';
import { Avatar } from '../shared/avatar.tsx';
import { sameName } from '../shared/names.ts';
import { ProblemLine } from '../shared/problem-line.tsx';
import { useTexts } from '../texts.tsx';
import { saidText } from './said.ts';

export interface ConversationListProps {
  store: ChatStore;
  /** The one that is open. */
  selected?: string | null;
  onSelect: (conversationRef: string) => void;
  nameOf?: (userId: string) => string;
  className?: string;
}

/** The user's conversations with what is unread, the last message and the draft. */
export function ConversationList({ store, selected, onSelect, nameOf = sameName, className }: ConversationListProps) {
  const texts = useTexts();
  const entries = useConversations(store);
  const { isLoading, error } = useStore(store.state);
  return (
    <nav
      className={`parley parley-conversations ${className ?? ''}`}
      aria-label={texts.conversations}
      aria-busy={isLoading}
    >
      <ProblemLine error={error} />
      {entries.length === 0 && !error && !isLoading && <p className="parley-empty">{texts.noConversations}</p>}
      <ul>
        {entries.map((entry) => (
          <li key={entry.conversationRef}>
            <button
              type="button"
              aria-current={entry.conversationRef === selected ? 'true' : undefined}
              onClick={() => onSelect(entry.conversationRef)}
            >
              <Entry entry={entry} nameOf={nameOf} />
            </button>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function Entry({ entry, nameOf }: { entry: ConversationEntry; nameOf: (userId: string) => string }) {
  const texts = useTexts();
  const { title, unread, mentions, lastMessage, lastActivityAt, isPresent, draft } = entry;
  return (
    <>
      <span className="parley-conversation-face" data-present={isPresent || undefined}>
        <Avatar identity={entry.conversationRef} name={title} />
      </span>
      <strong className="parley-conversation-title">{title}</strong>
      {lastActivityAt && <time dateTime={new Date(lastActivityAt).toISOString()}>{whenText(lastActivityAt)}</time>}
      <span className="parley-conversation-last">
        {draft !== '' ? (
          <>
            <em>{texts.draft}</em> {draft}
          </>
        ) : (
          lastMessage && saidText(lastMessage, texts, nameOf)
        )}
      </span>
      {unread > 0 && (
        <span className="parley-badge">
          <span aria-hidden="true">
            {mentions > 0 && '@ '}
            {unread > 99 ? '99+' : unread}
          </span>
          <span className="parley-hidden">
            {texts.unread(unread)}
            {mentions > 0 && `, ${texts.mentions(mentions)}`}
          </span>
        </span>
      )}
    </>
  );

  /** The time of today, the day of any other. */
  function whenText(ms: number): string {
    const at = new Date(ms);
    return at.toDateString() === new Date().toDateString() ? texts.formatTime(at) : texts.formatShortDay(at);
  }
}
