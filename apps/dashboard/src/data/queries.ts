import type { Reply } from '@parley/server/call';
import { QueryClient } from '@tanstack/react-query';
import { explain } from './errors.ts';

/** Asks again after this long while the tab is visible, but not before a limit that was hit allows it. */
const every =
  (ms: number) =>
  ({ state: { error } }: { state: { error: Error | null } }): number =>
    Math.max(ms, error === null ? 0 : (explain(error).retryAfterSeconds ?? 0) * 1000);

/** How often a list asks. */
export const asList = every(5_000);
/** The same on pages that watch one thing live. */
export const asDetail = every(2_000);
/** What hardly changes. */
export const asSetting = every(30_000);
/** Data older than this is shown with a warning. */
export const staleAfterMs = 30_000;

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
