import type { Http } from '../http.ts';
import type { Message, MessageRecord, Page } from './records.ts';

export interface HistoryOptions {
  /** How many messages in all. Left out: a page of 50 when awaited, everything when iterated. */
  limit?: number;
  /** A `nextCursor`: continue toward older messages. */
  before?: string;
  /** A cursor: toward newer messages, nearest first in pages, newest first within one. */
  after?: string;
  threadRootId?: string;
  senderId?: string;
  includeDeleted?: boolean;
}

export interface MessagePage extends Page<Message> {
  /** Where the newest message is, for `after`. */
  latestCursor: string | null;
}

export type History = AsyncIterable<Message> & PromiseLike<MessagePage>;

const PAGE_MAX = 100;
const PAGE_DEFAULT = 50;

interface Answer {
  messages: MessageRecord[];
  nextCursor: string | null;
  latestCursor: string | null;
}

/** One page when awaited, page after page when iterated. Nothing is read before one of the two. */
export function createHistory(
  http: Http,
  conversationId: string,
  options: HistoryOptions,
  take: (records: readonly MessageRecord[], isFiltered: boolean) => readonly Message[],
): History {
  const { limit, before, after, ...filters } = options;
  const isFiltered = filters.threadRootId !== undefined || filters.senderId !== undefined;

  async function read(size: number, cursor: string | undefined): Promise<MessagePage> {
    const query = { ...filters, limit: size, ...(after === undefined ? { before: cursor } : { after: cursor }) };
    const path = `/v1/chat/conversations/${encodeURIComponent(conversationId)}/messages`;
    // The answer of our own route.
    const answer = (await http.call('GET', path, { query })) as Answer;
    const { messages, nextCursor, latestCursor } = answer;
    return { items: take(messages, isFiltered), nextCursor, latestCursor };
  }

  return {
    // biome-ignore lint/suspicious/noThenProperty: `await conversation.history()` gives one page.
    then: (onPage, onError) => read(Math.min(limit ?? PAGE_DEFAULT, PAGE_MAX), after ?? before).then(onPage, onError),
    async *[Symbol.asyncIterator]() {
      let cursor = after ?? before;
      for (let left = limit ?? Number.POSITIVE_INFINITY; left > 0; ) {
        const page = await read(Math.min(left, PAGE_MAX), cursor);
        yield* page.items;
        left -= page.items.length;
        if (page.nextCursor === null || page.items.length === 0) return;
        cursor = page.nextCursor;
      }
    },
  };
}
