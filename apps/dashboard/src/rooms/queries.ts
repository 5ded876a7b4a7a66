import type { Environment } from '@parley/contract';
import type { Api } from '@parley/server/call';
import { queryOptions } from '@tanstack/react-query';
import { pollUnlessFed } from '../data/queries.ts';

export const roomKeys = {
  list: (projectId: string, environment: Environment, filter: object = {}) =>
    ['project', projectId, 'rooms', environment, ...(Object.keys(filter).length === 0 ? [] : [filter])] as const,
  one: (projectId: string, environment: Environment, roomId: string) =>
    ['project', projectId, 'room', environment, roomId] as const,
};

export const roomQuery = (api: Api, projectId: string, environment: Environment, roomId: string) =>
  queryOptions({
    queryKey: roomKeys.one(projectId, environment, roomId),
    queryFn: ({ signal }) => api.call('getProjectRoom', { projectId, roomId, query: { environment } }, { signal }),
    refetchInterval: pollUnlessFed,
  });
