import type { Environment, ReportStatus, SanctionKind } from '@parley/contract';
import type { Api } from '@parley/server/call';
import { queryOptions, useQueryClient } from '@tanstack/react-query';
import { pollUnlessFed } from '../data/queries.ts';
import { useProject } from '../frame/project.tsx';
import { useToast } from '../kit/toast.tsx';
import { userKeys } from '../users/queries.ts';

export const moderationKeys = {
  all: (projectId: string) => ['project', projectId, 'moderation'] as const,
  settings: (projectId: string, environment: Environment) =>
    ['project', projectId, 'moderation', environment, 'settings'] as const,
  reports: (projectId: string, environment: Environment, status: ReportStatus) =>
    ['project', projectId, 'moderation', environment, 'reports', status] as const,
  sanctions: (projectId: string, environment: Environment, kind: SanctionKind) =>
    ['project', projectId, 'moderation', environment, kind] as const,
  deletions: (projectId: string, environment: Environment) =>
    ['project', projectId, 'moderation', environment, 'deletions'] as const,
  inConversation: (projectId: string, environment: Environment, conversationId: string) =>
    ['project', projectId, 'moderation', environment, 'in', conversationId] as const,
};

export const moderationQuery = (api: Api, projectId: string, environment: Environment) =>
  queryOptions({
    queryKey: moderationKeys.settings(projectId, environment),
    queryFn: ({ signal }) => api.call('getProjectModeration', { projectId, query: { environment } }, { signal }),
    refetchInterval: pollUnlessFed,
  });

/** After a change: everything is read again, and what was done is said. */
export function useDone(): (says: string) => Promise<void> {
  const client = useQueryClient();
  const toast = useToast();
  const { project } = useProject();
  return async (says) => {
    await Promise.all(
      [moderationKeys, userKeys].map((keys) => client.invalidateQueries({ queryKey: keys.all(project.id) })),
    );
    toast(says);
  };
}
