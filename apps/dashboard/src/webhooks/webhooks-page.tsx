import type { NewWebhook, Webhook } from '@parley/contract';
import { useState } from 'react';
import { Link } from 'wouter';
import { useApi } from '../data/services.tsx';
import { usePaged } from '../data/use-paged.ts';
import { ListPage } from '../frame/list-page.tsx';
import { type CurrentProject, useProject } from '../frame/project.tsx';
import { environmentName } from '../i18n/names.ts';
import { t } from '../i18n/t.ts';
import { count } from '../kit/numbers.ts';
import type { Column } from '../kit/table.tsx';
import { Ago } from '../kit/time.tsx';
import { CreateWebhookDialog } from './create-webhook.tsx';
import { webhookKeys } from './queries.ts';
import { WebhookSecretDialog } from './secret-dialog.tsx';
import { EndpointBadge, eventsWords } from './words.tsx';

export default function WebhooksPage() {
  const api = useApi();
  const current = useProject();
  const { project, environment, may } = current;
  const [dialog, setDialog] = useState<'create' | NewWebhook | null>(null);
  const query = usePaged(webhookKeys.list(project.id, environment), (page, signal) =>
    api.request('listWebhooks', { projectId: project.id, query: { environment, ...page } }, { signal }),
  );
  return (
    <ListPage
      title={t('page.webhooks')}
      query={query}
      lead={t('webhooks.lead')}
      create={{
        label: t('webhooks.new'),
        isAllowed: may('webhook:manage') && project.status === 'ACTIVE',
        permission: 'webhook:manage',
        onClick: () => setDialog('create'),
      }}
      caption={t('webhooks.caption', { environment: environmentName(environment) })}
      columns={columns(current)}
      keyOf={({ id }) => id}
      copyOf={({ id }) => id}
      empty={{
        title: t('webhooks.none', { environment: environmentName(environment) }),
        children: <p>{t('webhooks.whatIs')}</p>,
      }}
    >
      {dialog === 'create' && <CreateWebhookDialog onClose={() => setDialog(null)} onCreated={setDialog} />}
      {dialog !== null && dialog !== 'create' && (
        <WebhookSecretDialog webhook={dialog} onClose={() => setDialog(null)} />
      )}
    </ListPage>
  );
}

function columns({ to }: CurrentProject): readonly Column<Webhook>[] {
  return [
    {
      head: 'URL',
      width: '40%',
      cell: ({ id, url, description }) => (
        <span className="two-lines">
          <Link className="row-link url" href={to(`webhooks/${id}`)}>
            {url}
          </Link>
          {description && <span className="muted">{description}</span>}
        </span>
      ),
    },
    { head: t('words.status'), cell: ({ status }) => <EndpointBadge status={status} /> },
    { head: t('webhooks.events'), cell: ({ events }) => eventsWords(events) },
    {
      head: t('webhooks.failuresInARow'),
      align: 'end',
      cell: ({ consecutiveFailures }) => count(consecutiveFailures),
    },
    {
      head: t('webhooks.lastDelivery'),
      cell: ({ lastDeliveryAt }) =>
        lastDeliveryAt === null ? <span className="no-data">{t('words.never')}</span> : <Ago at={lastDeliveryAt} />,
    },
  ];
}
