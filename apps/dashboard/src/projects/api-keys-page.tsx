import type { ApiKey, NewApiKey } from '@parley/contract';
import { useState } from 'react';
import { useApi } from '../data/services.tsx';
import { usePaged } from '../data/use-paged.ts';
import { More } from '../frame/more.tsx';
import { Page } from '../frame/page.tsx';
import { askFor, useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { Badge } from '../kit/badge.tsx';
import { Button } from '../kit/button.tsx';
import { CopyId } from '../kit/copy.tsx';
import { EmptyState } from '../kit/empty-state.tsx';
import { PlusIcon } from '../kit/icons.tsx';
import { type Column, Table } from '../kit/table.tsx';
import { Ago, Time } from '../kit/time.tsx';
import { CreateKeyDialog } from './create-key-dialog.tsx';
import { KeyBoundsCell } from './key-bounds.tsx';
import { NewKeyDialog } from './new-key-dialog.tsx';
import { projectKeys } from './queries.ts';
import { RevokeKeyDialog } from './revoke-key-dialog.tsx';
import { SigningKeysPanel } from './signing-keys-panel.tsx';

export default function ApiKeysPage() {
  const api = useApi();
  const { project, environment, may } = useProject();
  const query = usePaged(projectKeys.apiKeys(project.id), (page, signal) =>
    api.request('listApiKeys', { projectId: project.id, query: page }, { signal }),
  );
  const [dialog, setDialog] = useState<{ create: true } | { show: NewApiKey } | { revoke: ApiKey } | null>(null);
  const mayCreate = may('api_key:create') && project.status === 'ACTIVE';
  const mayRevoke = may('api_key:revoke');
  const rows = query.data?.filter((key) => key.environment === environment);
  const close = (): void => setDialog(null);

  const create = (
    <Button
      variant="primary"
      icon={<PlusIcon />}
      disabled={!mayCreate}
      title={mayCreate ? undefined : askFor('api_key:create')}
      onClick={() => setDialog({ create: true })}
    >
      New key
    </Button>
  );
  const table = (keys: readonly ApiKey[] | undefined) => (
    <Table
      caption={`API keys for ${environment.toLowerCase()}`}
      columns={columns({ mayRevoke, onRevoke: (revoke) => setDialog({ revoke }) })}
      rows={keys}
      keyOf={({ id }) => id}
      copyOf={({ publicId }) => publicId}
    />
  );
  return (
    <Page
      title="API keys"
      query={query}
      lead={`For your backend, in ${environment.toLowerCase()}. A key can do everything in its project and environment, unless it has bounds.`}
      actions={rows?.length !== 0 && create}
    >
      <QueryView query={query} skeleton={table(undefined)}>
        {() =>
          rows?.length === 0 ? (
            <EmptyState title={`No API key for ${environment.toLowerCase()} yet`} action={create}>
              <p>Your backend needs one to create rooms and mint tokens.</p>
            </EmptyState>
          ) : (
            table(rows)
          )
        }
      </QueryView>
      <More query={query} />
      <SigningKeysPanel />
      {dialog !== null && 'create' in dialog && (
        <CreateKeyDialog onClose={close} onCreated={(show) => setDialog({ show })} />
      )}
      {dialog !== null && 'show' in dialog && <NewKeyDialog created={dialog.show} onClose={close} />}
      {dialog !== null && 'revoke' in dialog && <RevokeKeyDialog apiKey={dialog.revoke} onClose={close} />}
    </Page>
  );
}

function columns(options: { mayRevoke: boolean; onRevoke: (key: ApiKey) => void }): readonly Column<ApiKey>[] {
  return [
    { head: 'Name', width: '18%', cell: ({ name }) => <strong>{name}</strong> },
    { head: 'Prefix', cell: ({ prefix }) => <CopyId id={prefix} label="Copy prefix" /> },
    {
      head: 'Status',
      cell: ({ status }) =>
        status === 'ACTIVE' ? (
          <Badge tone="ok">Active</Badge>
        ) : (
          <Badge shape="square">{status === 'EXPIRED' ? 'Expired' : 'Revoked'}</Badge>
        ),
    },
    { head: 'Bounds', cell: (key) => <KeyBoundsCell apiKey={key} /> },
    {
      head: 'Last used',
      cell: ({ lastUsedAt, lastUsedFrom }) =>
        lastUsedAt ? (
          <>
            <Ago at={lastUsedAt} />
            {lastUsedFrom && <div className="muted">from {lastUsedFrom}</div>}
          </>
        ) : (
          <span className="no-data">Never</span>
        ),
    },
    {
      // One column: with one more the button would be out of sight on a window of common width.
      head: 'Created',
      cell: ({ createdAt, createdBy }) => (
        <>
          <Time at={createdAt} />
          <div className="muted">by {createdBy ?? 'a removed user'}</div>
        </>
      ),
    },
    {
      head: '',
      align: 'end',
      cell: (key) =>
        key.status !== 'REVOKED' && (
          <Button
            variant="quiet"
            aria-label={`Revoke ${key.name}`}
            disabled={!options.mayRevoke}
            title={options.mayRevoke ? undefined : askFor('api_key:revoke')}
            onClick={() => options.onRevoke(key)}
          >
            Revoke
          </Button>
        ),
    },
  ];
}
