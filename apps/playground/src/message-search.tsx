import type { Chat } from '@parley/client/chat';
import { useStore } from '@parley/client/react';
import { createSearch, highlight } from '@parley/client/search';
import { useEffect, useId, useState } from 'react';
import { shownName } from './identity.ts';

interface MessageSearchProps {
  chat: Chat;
  titleOf: (conversationId: string) => string;
  onOpen: (conversationId: string) => void;
  onSearching: (isSearching: boolean) => void;
}

/** Finds messages in all conversations of the user; what matched stands out. */
export function MessageSearch({ chat, titleOf, onOpen, onSearching }: MessageSearchProps) {
  const id = useId();
  const [search] = useState(() => createSearch(chat));
  const [text, setText] = useState('');
  const { results, query, isLoading, hasMore, error } = useStore(search.state);
  useEffect(() => () => search.close(), [search]);
  const find = (next: string): void => {
    setText(next);
    search.find(next);
    onSearching(next.trim() !== '');
  };
  return (
    <search className="inbox-search">
      <label className="visually-hidden" htmlFor={id}>
        Search messages
      </label>
      <input
        id={id}
        className="input"
        type="search"
        placeholder="Search messages"
        value={text}
        maxLength={256}
        onChange={({ target }) => find(target.value)}
        onKeyDown={({ key }) => key === 'Escape' && find('')}
      />
      {text.trim() !== '' && (
        <>
          <ul className="inbox-list" aria-label="Found messages">
            {results.map((result) => (
              <li key={result.message.id}>
                <button type="button" onClick={() => onOpen(result.message.conversationId)}>
                  <strong>{titleOf(result.message.conversationId)}</strong>
                  <span className="inbox-found">
                    {shownName(result.message.senderId ?? 'System')}:{' '}
                    {highlight(result).map((part, at) =>
                      part.isMatch ? (
                        // biome-ignore lint/suspicious/noArrayIndexKey: parts of one text have no other name.
                        <mark key={at}>{part.text}</mark>
                      ) : (
                        part.text
                      ),
                    )}
                  </span>
                </button>
              </li>
            ))}
          </ul>
          <p className="muted" role="status">
            {error ? error.message : isLoading ? 'Searching' : foundText(results.length, query, hasMore)}
          </p>
          {hasMore && (
            <button type="button" className="button self-start" onClick={() => void search.loadMore()}>
              More
            </button>
          )}
        </>
      )}
    </search>
  );
}

function foundText(count: number, query: string, hasMore: boolean): string {
  if (count === 0) return `Nothing with “${query}”`;
  return `${count}${hasMore ? ' and more' : ''} found`;
}
