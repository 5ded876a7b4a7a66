import type { InboxEntry } from '@parley/client/inbox';
import { shownName } from './identity.ts';

interface InboxListProps {
  entries: readonly InboxEntry[];
  selected: string | null;
  onSelect: (id: string) => void;
}

/** Conversations by last activity, as the server keeps them. */
export function InboxList({ entries, selected, onSelect }: InboxListProps) {
  return (
    <ul className="inbox-list">
      {entries.map((entry) => {
        const { conversation, unreadCount, unreadMentions } = entry;
        return (
          <li key={conversation.id}>
            <button
              type="button"
              aria-current={conversation.id === selected || undefined}
              onClick={() => onSelect(conversation.id)}
            >
              <strong>{titleOf(entry)}</strong>
              <span className="inbox-preview">{previewOf(entry)}</span>
              {unreadCount > 0 && (
                <span className="parley-badge inbox-badge">
                  {unreadMentions > 0 && '@ '}
                  {unreadCount}
                  <span className="visually-hidden">
                    {' unread'}
                    {unreadMentions > 0 && ', you are mentioned'}
                  </span>
                </span>
              )}
            </button>
          </li>
        );
      })}
    </ul>
  );
}

export function titleOf(entry: InboxEntry | undefined): string {
  const title = entry?.conversation.metadata['title'];
  return typeof title === 'string' ? title : (entry?.conversation.name ?? 'Conversation');
}

function previewOf({ lastMessage }: InboxEntry): string {
  if (!lastMessage) return 'No messages yet.';
  const { deleted, text, senderId } = lastMessage;
  const said = deleted ? 'deleted' : (text ?? 'a file');
  return senderId === null ? said : `${shownName(senderId)}: ${said}`;
}
