import type { Project } from '@parley/contract';
import type { Api } from '@parley/server/call';
import { type QueryClient, queryOptions } from '@tanstack/react-query';
import { pollUnlessFed } from '../data/queries.ts';

export const projectKeys = {
  list: ['projects'] as const,
  one: (projectId: string) => ['project', projectId] as const,
  apiKeys: (projectId: string) => ['project', projectId, 'api-keys'] as const,
  signingKeys: (projectId: string) => ['project', projectId, 'signing-keys'] as const,
  members: (projectId: string) => ['project', projectId, 'members'] as const,
};

/** All of the person's projects: few enough to be one list in the switcher. */
export const projectsQuery = (api: Api) =>
  queryOptions({
    queryKey: projectKeys.list,
    queryFn: () => listAllProjects(api),
    refetchInterval: pollUnlessFed,
  });

const pagesMax = 10;

async function listAllProjects(api: Api): Promise<Project[]> {
  const projects: Project[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < pagesMax; page += 1) {
    const { body, headers } = await api.request('listProjects', {
      query: { limit: 200, ...(cursor === undefined ? {} : { cursor }) },
    });
    projects.push(...body);
    cursor = headers.get('x-next-cursor') ?? undefined;
    if (cursor === undefined) break;
  }
  return projects;
}

export const projectQuery = (api: Api, projectId: string) =>
  queryOptions({
    queryKey: projectKeys.one(projectId),
    queryFn: () => api.call('getProject', { projectId }),
    refetchInterval: pollUnlessFed,
  });

/** What the page has loaded already. */
export const knownProjects = (client: QueryClient): Project[] =>
  (client.getQueryData<Project[]>(projectKeys.list) ?? []).filter(({ status }) => status === 'ACTIVE');
