import type { Environment } from '@parley/contract';
import type { Api } from '@parley/server/call';
import { queryOptions } from '@tanstack/react-query';
import { pollUnlessFed } from '../data/queries.ts';

export const callQuery = (api: Api, projectId: string, environment: Environment, callId: string) =>
  queryOptions({
    queryKey: ['project', projectId, 'call', environment, callId],
    queryFn: ({ signal }) => api.call('getProjectCall', { projectId, callId, query: { environment } }, { signal }),
    refetchInterval: pollUnlessFed,
  });
