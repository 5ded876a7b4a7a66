import type { Conversation } from '../chat/conversation-types.ts';
import type { Message } from '../chat/records.ts';
import type { SearchOptions, SearchResult } from './types.ts';

const PAGE_SIZE = 100;

/** Case and accents do not matter. */
const fold = (text: string): string => text.normalize('NFD').replaceAll(/\p{M}/gu, '').toLowerCase();

/** Every word, anywhere in the text or in the name of what is attached. */
function matcherOf(text: string): (message: Message) => boolean {
  const words = fold(text).split(/\s+/).filter(Boolean);
  return (message) => {
    if (words.length === 0 || message.deleted) return false;
    const content = fold(`${message.text ?? ''} ${message.attachment?.filename ?? ''}`);
    return words.every((word) => content.includes(word));
  };
}

/** Loaded messages, then page after page from the newest; those do not become part of what is shown. */
export async function search(
  conversations: readonly Conversation[],
  text: string,
  { pagesMax = 1, signal }: SearchOptions,
): Promise<SearchResult> {
  const isMatch = matcherOf(text);
  const found = new Map<string, Message>();
  const seen = new Set<string>();
  let isComplete = true;
  const look = (messages: readonly Message[]): void => {
    for (const message of messages) {
      if (message.id === null || seen.has(message.id)) continue;
      seen.add(message.id);
      if (isMatch(message)) found.set(message.id, message);
    }
  };
  for (const conversation of conversations) {
    look(conversation.messages.getSnapshot());
    let before: string | null | undefined;
    for (let page = 0; page < pagesMax && before !== null; page++) {
      signal?.throwIfAborted();
      const { items, nextCursor } = await conversation.history({ limit: PAGE_SIZE, before, isDetached: true });
      look(items);
      before = nextCursor;
    }
    isComplete &&= before === null;
  }
  const newestFirst = [...found.values()].sort(
    (a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt) || (b.seq ?? 0) - (a.seq ?? 0),
  );
  return Object.assign(newestFirst, { isComplete, searched: seen.size });
}
