import type { Api } from '@parley/server/call';
import { queryOptions } from '@tanstack/react-query';
import { pollUnlessFed } from '../data/queries.ts';

/** Over all projects the person owns. */
export const usageQuery = (api: Api) =>
  queryOptions({
    queryKey: ['usage'],
    queryFn: ({ signal }) => api.call('getUsage', undefined, { signal }),
    refetchInterval: pollUnlessFed,
  });
