import type { Webhook } from '@parley/contract';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { useApi } from '../data/services.tsx';
import { useAction } from '../data/use-action.ts';
import { useProject } from '../frame/project.tsx';
import { t, withNodes } from '../i18n/t.ts';
import { Button } from '../kit/button.tsx';
import { ConfirmDialog } from '../kit/dialog.tsx';
import { useToast } from '../kit/toast.tsx';
import { webhookKeys } from './queries.ts';

export function DeleteEndpoint({ webhook }: { webhook: Webhook }) {
  const api = useApi();
  const client = useQueryClient();
  const toast = useToast();
  const [, navigate] = useLocation();
  const { project, to } = useProject();
  const [isAsking, setAsking] = useState(false);
  const remove = useAction(
    () =>
      api.call('deleteWebhook', {
        projectId: project.id,
        webhookId: webhook.id,
      }),
    {
      onDone: async () => {
        toast(t('webhooks.deleted'));
        navigate(to('webhooks'));
        client.removeQueries({ queryKey: webhookKeys.one(project.id, webhook.id) });
        await client.invalidateQueries({ queryKey: webhookKeys.list(project.id, webhook.environment) });
      },
    },
  );
  return (
    <>
      <Button variant="danger" onClick={() => setAsking(true)}>
        {t('webhooks.delete')}
      </Button>
      {isAsking && (
        <ConfirmDialog
          title={t('webhooks.deleteAsk')}
          action={t('webhooks.delete')}
          isBusy={remove.isBusy}
          failure={remove.failure}
          onConfirm={() => void remove.run(undefined)}
          onClose={() => setAsking(false)}
        >
          <p>{withNodes('webhooks.deleteExplained', { url: <strong className="url">{webhook.url}</strong> })}</p>
        </ConfirmDialog>
      )}
    </>
  );
}
