import type { Environment, UpdatePushSettings } from '@parley/contract';
import type { Api } from '@parley/server/call';
import { queryOptions, useQueryClient } from '@tanstack/react-query';
import { pollUnlessFed } from '../data/queries.ts';
import { useApi } from '../data/services.tsx';
import { useProject } from '../frame/project.tsx';
import { useToast } from '../kit/toast.tsx';

const keyOf = (projectId: string, environment: Environment) => ['project', projectId, 'push', environment] as const;

export const pushQuery = (api: Api, projectId: string, environment: Environment) =>
  queryOptions({
    queryKey: keyOf(projectId, environment),
    queryFn: ({ signal }) => api.call('getProjectPush', { projectId, query: { environment } }, { signal }),
    refetchInterval: pollUnlessFed,
  });

/** Changes some of the settings, and then says so. */
export function useUpdatePush() {
  const api = useApi();
  const client = useQueryClient();
  const toast = useToast();
  const { project, environment } = useProject();
  return {
    update: (body: UpdatePushSettings) =>
      api.call('updateProjectPush', { projectId: project.id, query: { environment }, body }),
    async done(says: string): Promise<void> {
      await client.invalidateQueries({ queryKey: keyOf(project.id, environment) });
      toast(says);
    },
  };
}
