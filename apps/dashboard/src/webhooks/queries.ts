import type { Environment } from '@parley/contract';
import type { Api } from '@parley/server/call';
import { queryOptions } from '@tanstack/react-query';
import { pollUnlessFed } from '../data/queries.ts';

export const webhookKeys = {
  list: (projectId: string, environment: Environment) => ['project', projectId, 'webhooks', environment] as const,
  one: (projectId: string, webhookId: string) => ['project', projectId, 'webhook', webhookId] as const,
  deliveries: (projectId: string, webhookId: string) =>
    ['project', projectId, 'webhook', webhookId, 'deliveries'] as const,
};

export const webhookQuery = (api: Api, projectId: string, webhookId: string) =>
  queryOptions({
    queryKey: webhookKeys.one(projectId, webhookId),
    queryFn: ({ signal }) => api.call('getWebhook', { projectId, webhookId }, { signal }),
    refetchInterval: pollUnlessFed,
  });

export const eventTypesQuery = (api: Api) =>
  queryOptions({
    queryKey: ['webhook-event-types'],
    queryFn: ({ signal }) => api.call('listWebhookEventTypes', undefined, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
