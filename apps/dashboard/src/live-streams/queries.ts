import type { Environment } from '@parley/contract';
import type { Api } from '@parley/server/call';
import { queryOptions } from '@tanstack/react-query';
import { pollUnlessFed } from '../data/queries.ts';

export const streamKeys = {
  list: (projectId: string, environment: Environment, filter: object = {}) =>
    ['project', projectId, 'streams', environment, filter] as const,
  one: (projectId: string, environment: Environment, streamId: string) =>
    ['project', projectId, 'stream', environment, streamId] as const,
};

export const streamQuery = (api: Api, projectId: string, environment: Environment, streamId: string) =>
  queryOptions({
    queryKey: streamKeys.one(projectId, environment, streamId),
    queryFn: ({ signal }) =>
      api.call('getProjectLiveStream', { projectId, streamId, query: { environment } }, { signal }),
    refetchInterval: pollUnlessFed,
  });
