import type { Webhook } from '@parley/contract';
import { useQueryClient } from '@tanstack/react-query';
import { webhookKeys } from './queries.ts';

/** Puts a changed endpoint where every page reads it. */
export function useStoreWebhook(): (webhook: Webhook) => void {
  const client = useQueryClient();
  return (webhook) => {
    client.setQueryData(webhookKeys.one(webhook.projectId, webhook.id), webhook);
    void client.invalidateQueries({ queryKey: webhookKeys.list(webhook.projectId, webhook.environment) });
  };
}
