import type { ApiKey } from '@parley/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi } from '../data/services.tsx';
import { useAction } from '../data/use-action.ts';
import { useProject } from '../frame/project.tsx';
import { ConfirmDialog } from '../kit/dialog.tsx';
import { Checkbox } from '../kit/field.tsx';
import { Ago } from '../kit/time.tsx';
import { useToast } from '../kit/toast.tsx';
import { projectKeys } from './queries.ts';
import { t, withNodes } from './texts.ts';

const dayMs = 24 * 60 * 60 * 1000;

export function RevokeKeyDialog({ apiKey, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const api = useApi();
  const client = useQueryClient();
  const toast = useToast();
  const { project } = useProject();
  const { name, publicId, lastUsedAt } = apiKey;
  const [revokeTokens, setRevokeTokens] = useState(false);
  const revoke = useAction(
    () => api.call('revokeApiKey', { projectId: project.id, publicId, query: { revokeTokens } }),
    {
      onDone: async () => {
        await client.invalidateQueries({ queryKey: projectKeys.apiKeys(project.id) });
        toast(t('projects.revokedNamed', { name }));
        onClose();
      },
    },
  );
  const isInUse = lastUsedAt !== null && Date.now() - new Date(lastUsedAt).getTime() < dayMs;
  return (
    <ConfirmDialog
      title={t('projects.revokeAsk', { name })}
      action={t('projects.revokeKey')}
      typed={name}
      isBusy={revoke.isBusy}
      failure={revoke.failure}
      onConfirm={() => void revoke.run(undefined)}
      onClose={onClose}
    >
      <p>{t('projects.revokeExplained')}</p>
      <Checkbox
        label={t('projects.endTokens')}
        hint={t('projects.endTokensHint')}
        checked={revokeTokens}
        onChange={(event) => setRevokeTokens(event.target.checked)}
      />
      {isInUse && (
        <p className="notice" data-tone="warn">
          {withNodes('projects.stillUsed', { ago: <Ago at={lastUsedAt} /> })}
        </p>
      )}
    </ConfirmDialog>
  );
}
