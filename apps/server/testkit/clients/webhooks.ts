import type {
  CreateWebhook,
  Delivery,
  Environment,
  EventType,
  NewWebhook,
  RecordedData,
  Webhook,
} from '@parley/contract';
import type { TestProject } from '../kit/people.ts';
import type { TestService } from '../kit/service.ts';

/** Resolves when what is recorded is queued and what is due was attempted; disabling an endpoint records an event too. */
export async function settle(...services: Pick<TestService, 'service'>[]): Promise<void> {
  for (let round = 0; round < 2; round++) {
    await Promise.all(services.map(({ service }) => service.dispatcher.settled()));
    await Promise.all(services.map(({ service }) => service.webhooks.settled()));
  }
}

/** Puts facts on record as a domain would; resolves when the attempts that are due were made. */
export async function emit<T extends EventType>(
  at: Pick<TestService, 'service'>,
  project: Pick<TestProject, 'id'>,
  events: readonly { type: T; data: RecordedData<T> }[],
  environment: Environment = 'DEVELOPMENT',
): Promise<void> {
  await record(at, project, events, environment);
  await settle(at);
}

/** Only puts them on record. */
export async function record<T extends EventType>(
  at: Pick<TestService, 'service'>,
  project: Pick<TestProject, 'id'>,
  events: readonly { type: T; data: RecordedData<T> }[],
  environment: Environment = 'DEVELOPMENT',
): Promise<void> {
  await at.service.unitOfWork({ projectId: project.id, environment }, async (_tx, emit) => {
    for (const event of events) emit(event);
  });
}

/** So many events of one type, distinguished by their stream. */
export const streamEvents = (count: number, prefix = 'stream_') =>
  Array.from({ length: count }, (_, index) => ({
    type: 'live_stream.started' as const,
    data: { streamId: `${prefix}${index}`, startedAt: new Date(0).toISOString() },
  }));

export const addWebhook = ({ owner, id }: TestProject, body: CreateWebhook): Promise<NewWebhook> =>
  owner.api.call('createWebhook', { projectId: id, body });

export const readWebhook = ({ owner, id }: TestProject, webhookId: string): Promise<Webhook> =>
  owner.api.call('getWebhook', { projectId: id, webhookId });

export const readDeliveries = ({ owner, id }: TestProject, webhookId: string): Promise<Delivery[]> =>
  owner.api.call('listDeliveries', { projectId: id, webhookId, query: { limit: 200 } });
