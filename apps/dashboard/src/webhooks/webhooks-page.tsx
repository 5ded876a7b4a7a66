import type { NewWebhook, Webhook } from '@parley/contract';
import { useState } from 'react';
import { Link } from 'wouter';
import { useApi } from '../data/services.tsx';
import { usePaged } from '../data/use-paged.ts';
import { More } from '../frame/more.tsx';
import { Page } from '../frame/page.tsx';
import { askFor, type CurrentProject, useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { Button } from '../kit/button.tsx';
import { EmptyState } from '../kit/empty-state.tsx';
import { PlusIcon } from '../kit/icons.tsx';
import { count } from '../kit/numbers.ts';
import { type Column, Table } from '../kit/table.tsx';
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
  const mayCreate = may('webhook:manage') && project.status === 'ACTIVE';
  const create = (
    <Button
      variant="primary"
      icon={<PlusIcon />}
      disabled={!mayCreate}
      title={mayCreate ? undefined : askFor('webhook:manage')}
      onClick={() => setDialog('create')}
    >
      New endpoint
    </Button>
  );
  const table = (rows: readonly Webhook[] | undefined) => (
    <Table
      caption={`Webhook endpoints for ${environment.toLowerCase()}`}
      columns={columns(current)}
      rows={rows}
      keyOf={({ id }) => id}
      copyOf={({ id }) => id}
    />
  );
  return (
    <Page
      title="Webhooks"
      query={query}
      lead="Signed events to your backend, each delivered at least once."
      actions={query.data?.length !== 0 && create}
    >
      <QueryView query={query} skeleton={table(undefined)}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState title={`No endpoint for ${environment.toLowerCase()} yet`} action={create}>
              <p>An endpoint is a URL of yours that receives events: messages, members, streams.</p>
            </EmptyState>
          ) : (
            table(rows)
          )
        }
      </QueryView>
      <More query={query} />
      {dialog === 'create' && <CreateWebhookDialog onClose={() => setDialog(null)} onCreated={setDialog} />}
      {dialog !== null && dialog !== 'create' && (
        <WebhookSecretDialog webhook={dialog} onClose={() => setDialog(null)} />
      )}
    </Page>
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
    { head: 'Status', cell: ({ status }) => <EndpointBadge status={status} /> },
    { head: 'Events', cell: ({ events }) => eventsWords(events) },
    {
      head: 'Failures in a row',
      align: 'end',
      cell: ({ consecutiveFailures }) => count(consecutiveFailures),
    },
    {
      head: 'Last delivery',
      cell: ({ lastDeliveryAt }) =>
        lastDeliveryAt === null ? <span className="no-data">Never</span> : <Ago at={lastDeliveryAt} />,
    },
  ];
}
