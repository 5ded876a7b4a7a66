import type { Reply } from '@parley/server/call';
import { type UseInfiniteQueryResult, useInfiniteQuery } from '@tanstack/react-query';
import { itemsOf, nextCursorOf, pollUnlessFed, toPage } from './queries.ts';

interface PageRequest {
  limit: number;
  cursor?: string;
}

const pageSize = 100;

/** A list that can grow: its first pages, kept fresh, and a way to ask for more. */
export function usePaged<T>(
  key: readonly unknown[],
  ask: (page: PageRequest, signal: AbortSignal) => Promise<Reply<T[]>>,
): UseInfiniteQueryResult<T[]> {
  return useInfiniteQuery({
    queryKey: key,
    queryFn: async ({ pageParam, signal }) =>
      toPage(await ask({ limit: pageSize, ...(pageParam === undefined ? {} : { cursor: pageParam }) }, signal)),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: nextCursorOf,
    refetchInterval: pollUnlessFed,
    select: itemsOf,
  });
}
