import type { Environment } from '@parley/contract';
import type { Api } from '@parley/server/call';
import { queryOptions } from '@tanstack/react-query';
import { inTurns, pollUnlessFed } from '../data/queries.ts';

export const metricsQuery = (api: Api, projectId: string, environment: Environment) =>
  queryOptions({
    queryKey: ['project', projectId, 'metrics', environment],
    queryFn: ({ signal }) => api.call('getProjectMetrics', { projectId, query: { environment } }, { signal }),
    refetchInterval: pollUnlessFed,
  });

export const diagnosticsQuery = (api: Api, projectId: string, environment: Environment) =>
  queryOptions({
    queryKey: ['project', projectId, 'diagnostics', environment],
    queryFn: ({ signal }) => api.call('getProjectDiagnostics', { projectId, query: { environment } }, { signal }),
    // Looking is what finds out; nothing is stored that could change.
    refetchInterval: inTurns,
  });
