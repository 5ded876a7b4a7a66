import type { Environment } from '@parley/contract';
import type { Api } from '@parley/server/call';
import { queryOptions } from '@tanstack/react-query';
import { pollUnlessFed } from '../data/queries.ts';

export const alertKeys = {
  all: (projectId: string) => ['project', projectId, 'alerts'] as const,
  list: (projectId: string, environment: Environment, state: string) =>
    ['project', projectId, 'alerts', environment, state] as const,
  one: (projectId: string, alertId: string) => ['project', projectId, 'alert', alertId] as const,
  history: (projectId: string, alertId: string) => ['project', projectId, 'alert', alertId, 'history'] as const,
};

export const alertQuery = (api: Api, projectId: string, environment: Environment, alertId: string) =>
  queryOptions({
    queryKey: alertKeys.one(projectId, alertId),
    queryFn: ({ signal }) => api.call('getProjectAlert', { projectId, alertId, query: { environment } }, { signal }),
    refetchInterval: pollUnlessFed,
  });
