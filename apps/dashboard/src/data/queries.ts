import type { Reply } from '@parley/server/call';
import { QueryClient } from '@tanstack/react-query';
import { isFed } from './change-feed.ts';
import { explain } from './errors.ts';

/** How often a page asks that nobody tells of changes, or whose last try failed. */
const askEveryMs = 30_000;

/**
 * When a query asks again by itself: not while the page is told of changes. A limit that was hit is waited for, and
 * what failed is tried again.
 */
export const pollUnlessFed = ({ state: { error } }: { state: { error: Error | null } }): number | false => {
  if (error === null) return isFed() ? false : askEveryMs;
  return Math.max(askEveryMs, (explain(error).retryAfterSeconds ?? 0) * 1000);
};
/** Whether a limit that was hit is still counted down: until it has passed, nothing is asked for. */
export const isLimited = (
  { error, errorUpdatedAt }: { error: Error | null; errorUpdatedAt: number },
  now = Date.now(),
): boolean => error !== null && now < errorUpdatedAt + (explain(error).retryAfterSeconds ?? 0) * 1000;
/** What nobody tells of, because it is found out by looking. */
export const inTurns = askEveryMs;
/** Data older than this is shown with a warning. */
export const staleAfterMs = 45_000;

export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        // Only what may pass by itself is tried again; a refusal stays a refusal.
        retry: (failures, error) => failures < 1 && ['server', 'offline'].includes(explain(error).kind),
        retryDelay: 400,
        // An answer from the browser's own knowledge of the network is often wrong: ask and see.
        networkMode: 'always',
        staleTime: 2_000,
        refetchOnWindowFocus: true,
      },
      mutations: { networkMode: 'always' },
    },
  });
}

export interface PageOf<T> {
  items: T[];
  nextCursor: string | null;
}

/** One page of a list, with the cursor its header carries. */
export const toPage = <T>({ body, headers }: Reply<T[]>): PageOf<T> => ({
  items: body,
  nextCursor: headers.get('x-next-cursor'),
});

export const nextCursorOf = <T>(page: PageOf<T>): string | undefined => page.nextCursor ?? undefined;
export const itemsOf = <T>(data: { pages: PageOf<T>[] }): T[] => data.pages.flatMap((page) => page.items);
