import { asSvcError } from '../errors.ts';
import { type Http, pathOf } from '../http.ts';
import type { Message, MessageRecord, Page } from './records.ts';

export interface HistoryOptions {
  /** How many messages in all. Left out: one page when awaited, everything when iterated. */
  limit?: number;
  /** A `nextCursor`: continue toward older messages. */
  before?: string;
  /** A cursor: toward newer messages, nearest first in pages, newest first within one. */
  after?: string;
  threadRootId?: string;
  senderId?: string;
  includeDeleted?: boolean;
  /** Leaves `messages` as they are: for reading around without growing what is shown. */
  isDetached?: boolean;
}

export interface MessagePage extends Page<Message> {
  /** Where the newest message is, for `after`. */
  latestCursor: string | null;
}

export type History = AsyncIterable<Message> & PromiseLike<MessagePage>;

/** What servers usually allow; one that allows less says so. */
const PAGE_MAX = 100;

interface Answer {
  messages: MessageRecord[];
  nextCursor: string | null;
  latestCursor: string | null;
}

/** One page when awaited, page after page when iterated. Nothing is read before one of the two. */
export function createHistory(
  http: Pick<Http, 'call'>,
  conversationId: string,
  options: HistoryOptions,
  take: (records: readonly MessageRecord[], isDetached: boolean, asOf: number) => readonly Message[],
  /** The last change that is known when a page is asked for. */
  now: () => number,
): History {
  const { limit, before, after, isDetached, ...filters } = options;
  // A filtered page would tear holes into the list.
  const isApart = isDetached || filters.threadRootId !== undefined || filters.senderId !== undefined;

  let sizeMax = PAGE_MAX;

  async function ask(size: number | undefined, cursor: string | undefined): Promise<Answer> {
    const query = { ...filters, limit: size, ...(after === undefined ? { before: cursor } : { after: cursor }) };
    // The answer of our own route.
    return (await http.call('GET', `${pathOf(conversationId)}/messages`, { query })) as Answer;
  }

  /** Without a size the server chooses one that it allows. */
  async function read(size: number | undefined, cursor: string | undefined): Promise<MessagePage> {
    const asOf = now();
    const { messages, nextCursor, latestCursor } = await ask(size && Math.min(size, sizeMax), cursor).catch(
      async (error) => {
        if (!size || asSvcError(error).code !== 'SVC_VALIDATION_FAILED') throw error;
        const answer = await ask(undefined, cursor);
        sizeMax = answer.messages.length || PAGE_MAX;
        return answer;
      },
    );
    return { items: take(messages, isApart, asOf), nextCursor, latestCursor };
  }

  return {
    // biome-ignore lint/suspicious/noThenProperty: `await conversation.history()` gives one page.
    then: (onPage, onError) => read(limit, after ?? before).then(onPage, onError),
    async *[Symbol.asyncIterator]() {
      let cursor = after ?? before;
      for (let left = limit ?? Number.POSITIVE_INFINITY; left > 0; ) {
        const page = await read(left, cursor);
        yield* page.items;
        left -= page.items.length;
        if (page.nextCursor === null || page.items.length === 0) return;
        cursor = page.nextCursor;
      }
    },
  };
}
