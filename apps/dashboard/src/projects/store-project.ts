import type { Project } from '@parley/contract';
import { useQueryClient } from '@tanstack/react-query';
import { projectKeys } from './queries.ts';

/** Puts a changed project where every page reads it. */
export function useStoreProject(): (project: Project) => void {
  const client = useQueryClient();
  return (project) => {
    client.setQueryData(projectKeys.one(project.id), project);
    void client.invalidateQueries({ queryKey: projectKeys.list });
  };
}
