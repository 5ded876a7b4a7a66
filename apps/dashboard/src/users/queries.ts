import type { Environment } from '@parley/contract';
import type { Api } from '@parley/server/call';
import { queryOptions } from '@tanstack/react-query';
import { pollUnlessFed } from '../data/queries.ts';

export const userKeys = {
  all: (projectId: string) => ['project', projectId, 'users'] as const,
  list: (projectId: string, environment: Environment, userId: string) =>
    ['project', projectId, 'users', environment, 'list', userId] as const,
  one: (projectId: string, environment: Environment, userId: string) =>
    ['project', projectId, 'users', environment, 'one', userId] as const,
  conversations: (projectId: string, environment: Environment, userId: string) =>
    ['project', projectId, 'users', environment, 'conversations', userId] as const,
};

export const userQuery = (api: Api, projectId: string, environment: Environment, userId: string) =>
  queryOptions({
    queryKey: userKeys.one(projectId, environment, userId),
    queryFn: ({ signal }) => api.call('getProjectChatUser', { projectId, userId, query: { environment } }, { signal }),
    refetchInterval: pollUnlessFed,
  });
