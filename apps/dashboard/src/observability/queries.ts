import type { Environment } from '@parley/contract';
import type { Api } from '@parley/server/call';
import { queryOptions } from '@tanstack/react-query';
import { asList } from '../data/queries.ts';

export const metricsQuery = (api: Api, projectId: string, environment: Environment) =>
  queryOptions({
    queryKey: ['project', projectId, 'metrics', environment],
    queryFn: ({ signal }) => api.call('getProjectMetrics', { projectId, query: { environment } }, { signal }),
    refetchInterval: asList,
  });

export const diagnosticsQuery = (api: Api, projectId: string, environment: Environment) =>
  queryOptions({
    queryKey: ['project', projectId, 'diagnostics', environment],
    queryFn: ({ signal }) => api.call('getProjectDiagnostics', { projectId, query: { environment } }, { signal }),
    refetchInterval: asList,
  });

export const limits = ['50', '100', '200'] as const;

/** How many rows a list asks for, from its filter in the address. */
export const limitOf = (text: string): number => Number(limits.find((limit) => limit === text) ?? limits[0]);
