import type { ApiKey } from '@parley/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useApi } from '../data/services.tsx';
import { useAction } from '../data/use-action.ts';
import { useProject } from '../frame/project.tsx';
import { ConfirmDialog } from '../kit/dialog.tsx';
import { Ago } from '../kit/time.tsx';
import { useToast } from '../kit/toast.tsx';
import { projectKeys } from './queries.ts';

const dayMs = 24 * 60 * 60 * 1000;

export function RevokeKeyDialog({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const api = useApi();
  const client = useQueryClient();
  const toast = useToast();
  const { project } = useProject();
  const { name, publicId, lastUsedAt } = apiKey;
  const revoke = useAction(() => api.call('revokeApiKey', { projectId: project.id, publicId }), {
    onDone: async () => {
      await client.invalidateQueries({ queryKey: projectKeys.apiKeys(project.id) });
      toast(`Revoked ${name}`);
      onClose();
    },
  });
  const isInUse = lastUsedAt !== null && Date.now() - new Date(lastUsedAt).getTime() < dayMs;
  return (
    <ConfirmDialog
      title={`Revoke ${name}?`}
      action="Revoke key"
      typed={name}
      isBusy={revoke.isBusy}
      failure={revoke.failure}
      onConfirm={() => void revoke.run(undefined)}
      onClose={onClose}
    >
      <p>Requests with this key are refused from within a second on. This cannot be undone.</p>
      {isInUse && (
        <p className="notice" data-tone="warn">
          It was used <Ago at={lastUsedAt} />: something still depends on it.
        </p>
      )}
    </ConfirmDialog>
  );
}
