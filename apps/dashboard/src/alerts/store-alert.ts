import type { Alert } from '@parley/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useProject } from '../frame/project.tsx';
import { useToast } from '../kit/toast.tsx';
import { alertKeys } from './queries.ts';

/** Shows an alert as the service has just stored it, and says so. */
export function useStoreAlert(): (alert: Alert, says: string) => Promise<void> {
  const client = useQueryClient();
  const toast = useToast();
  const { project } = useProject();
  return async (alert, says) => {
    client.setQueryData(alertKeys.one(project.id, alert.id), alert);
    await Promise.all([
      client.invalidateQueries({ queryKey: alertKeys.all(project.id) }),
      client.invalidateQueries({ queryKey: alertKeys.history(project.id, alert.id) }),
    ]);
    toast(says);
  };
}
