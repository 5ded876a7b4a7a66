import type { SigningKey } from '@parley/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useApi } from '../data/services.tsx';
import { useAction } from '../data/use-action.ts';
import { useProject } from '../frame/project.tsx';
import { ConfirmDialog } from '../kit/dialog.tsx';
import { useToast } from '../kit/toast.tsx';
import { projectKeys } from './queries.ts';
import { t } from './texts.ts';

export function RevokeSigningKeyDialog({ signingKey, onClose }: { signingKey: SigningKey; onClose: () => void }) {
  const api = useApi();
  const client = useQueryClient();
  const toast = useToast();
  const { project } = useProject();
  const { id: signingKeyId, name } = signingKey;
  const revoke = useAction(() => api.call('revokeSigningKey', { projectId: project.id, signingKeyId }), {
    onDone: async () => {
      await client.invalidateQueries({ queryKey: projectKeys.signingKeys(project.id) });
      toast(t('projects.revokedNamed', { name }));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={t('projects.revokeAsk', { name })}
      action={t('projects.revokeSigningKey')}
      typed={name}
      isBusy={revoke.isBusy}
      failure={revoke.failure}
      onConfirm={() => void revoke.run(undefined)}
      onClose={onClose}
    >
      <p>{t('projects.revokeSigningExplained')}</p>
    </ConfirmDialog>
  );
}
