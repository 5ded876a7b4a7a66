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
        toast(`Revoked ${name}`);
        onClose();
      },
    },
  );
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
      <Checkbox
        label="End every token and session it gave out, too"
        hint="Otherwise calls and chats go on until their tokens end; nothing is refreshed."
        checked={revokeTokens}
        onChange={(event) => setRevokeTokens(event.target.checked)}
      />
      {isInUse && (
        <p className="notice" data-tone="warn">
          It was used <Ago at={lastUsedAt} />: something still depends on it.
        </p>
      )}
    </ConfirmDialog>
  );
}
