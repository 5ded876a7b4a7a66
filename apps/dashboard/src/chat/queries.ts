import type { Environment } from '@parley/contract';
import type { Api } from '@parley/server/call';
import { queryOptions } from '@tanstack/react-query';
import { pollUnlessFed } from '../data/queries.ts';

export const chatKeys = {
  overview: (projectId: string, environment: Environment) =>
    ['project', projectId, 'chat-overview', environment] as const,
  conversations: (projectId: string, environment: Environment, filter: object = {}) =>
    ['project', projectId, 'conversations', environment, filter] as const,
  sessions: (projectId: string, environment: Environment) =>
    ['project', projectId, 'chat-sessions', environment] as const,
  one: (projectId: string, environment: Environment, conversationId: string) =>
    ['project', projectId, 'conversation', environment, conversationId] as const,
};

export const chatOverviewQuery = (api: Api, projectId: string, environment: Environment) =>
  queryOptions({
    queryKey: chatKeys.overview(projectId, environment),
    queryFn: ({ signal }) => api.call('getChatOverview', { projectId, query: { environment } }, { signal }),
    refetchInterval: pollUnlessFed,
  });

export const conversationQuery = (api: Api, projectId: string, environment: Environment, conversationId: string) =>
  queryOptions({
    queryKey: chatKeys.one(projectId, environment, conversationId),
    queryFn: ({ signal }) =>
      api.call('getProjectConversation', { projectId, conversationId, query: { environment } }, { signal }),
    refetchInterval: pollUnlessFed,
  });
