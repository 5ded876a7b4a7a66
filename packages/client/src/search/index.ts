import type { SearchPage, SearchResult } from '@parley/contract/types.gen';
import type { Chat } from '../chat/index.ts';
import { createPart } from '../chat/part.ts';
import { SvcError } from '../errors.ts';
import { createDerivedStore, type Store } from '../store.ts';

export type { SearchResult, TextRange } from '@parley/contract/types.gen';
export type { Store } from '../store.ts';

export interface SearchFilter {
  /** By id or name; without it all conversations of the user. */
  conversation?: string;
  senderId?: string;
  /** Sent at or after, and before. */
  from?: string;
  to?: string;
  hasAttachment?: boolean;
  /** Default `best`. */
  sort?: 'best' | 'newest';
}

export interface SearchState {
  /** What was asked for last. */
  readonly query: string;
  readonly results: readonly SearchResult[];
  readonly isLoading: boolean;
  readonly hasMore: boolean;
  /** False while older messages are still being indexed. */
  readonly isComplete: boolean;
  readonly error: SvcError | null;
}

export interface SearchOptions {
  /** How long a query rests before it is asked for. Default 250 ms. */
  delayMs?: number;
  /** Results at once. Default 20, at most 100. */
  pageSize?: number;
}

/** A search box: the last query counts, whatever order the answers come in. */
export interface Search {
  /** Fits React's `useSyncExternalStore`. */
  readonly state: Store<SearchState>;
  /** Call it with every key press; an empty query clears. */
  find(query: string, filter?: SearchFilter): void;
  loadMore(): Promise<void>;
  close(): void;
}

const NOTHING: SearchState = {
  query: '',
  results: [],
  isLoading: false,
  hasMore: false,
  isComplete: true,
  error: null,
};

export function createSearch(chat: Chat, { delayMs = 250, pageSize = 20 }: SearchOptions = {}): Search {
  const { http } = createPart(chat, () => {});
  let shown = NOTHING;
  let asked: { q: string; filter: SearchFilter; cursor: string | null } | null = null;
  let running: AbortController | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const state = createDerivedStore(() => shown);
  const show = (change: Partial<SearchState>): void => {
    shown = { ...shown, ...change };
    state.invalidate();
  };

  function stop(): void {
    clearTimeout(timer);
    running?.abort();
    running = null;
  }

  async function read(isFirst: boolean): Promise<void> {
    if (!asked) return;
    const { q, filter, cursor } = asked;
    const mine = new AbortController();
    running = mine;
    show({ isLoading: true });
    try {
      const from = isFirst || cursor === null ? {} : { cursor };
      const query = { q, limit: pageSize, ...filter, ...from };
      const page = (await http.call('GET', '/v1/chat/search', { query, signal: mine.signal })) as SearchPage;
      if (running !== mine) return;
      asked.cursor = page.nextCursor;
      const results = isFirst ? page.results : [...shown.results, ...page.results];
      show({ query: q, results, hasMore: page.nextCursor !== null, isComplete: page.complete, error: null });
    } catch (error) {
      if (running !== mine) return;
      if (!SvcError.is(error)) throw error;
      show({ error });
    } finally {
      if (running === mine) {
        running = null;
        show({ isLoading: false });
      }
    }
  }

  return {
    state,
    find(query, filter = {}) {
      stop();
      const q = query.trim();
      if (q === '') {
        asked = null;
        show(NOTHING);
        return;
      }
      asked = { q, filter, cursor: null };
      show({ isLoading: true });
      timer = setTimeout(() => void read(true), delayMs);
    },
    loadMore: async () => {
      if (shown.hasMore && !shown.isLoading) await read(false);
    },
    close: stop,
  };
}

/** A text in parts that matched and parts that did not, to be shown: `isMatch` of each says which. */
export function highlight({ message: { text }, ranges }: SearchResult): { text: string; isMatch: boolean }[] {
  const parts: { text: string; isMatch: boolean }[] = [];
  const whole = text ?? '';
  let at = 0;
  const add = (end: number, isMatch: boolean): void => {
    if (end > at) parts.push({ text: whole.slice(at, end), isMatch });
    at = Math.max(at, end);
  };
  for (const { start, end } of ranges) {
    add(start, false);
    add(end, true);
  }
  add(whole.length, false);
  return parts;
}
