import type { NewSigningKey, SigningKey } from '@parley/contract';
import { useState } from 'react';
import { useApi } from '../data/services.tsx';
import { usePaged } from '../data/use-paged.ts';
import { More } from '../frame/more.tsx';
import { askFor, useProject } from '../frame/project.tsx';
import { QueryView } from '../frame/query-view.tsx';
import { Badge } from '../kit/badge.tsx';
import { Button } from '../kit/button.tsx';
import { CopyId } from '../kit/copy.tsx';
import { SecretDialog } from '../kit/secret-dialog.tsx';
import { type Column, Table } from '../kit/table.tsx';
import { Ago, Time } from '../kit/time.tsx';
import { CreateSigningKeyDialog } from './create-signing-key-dialog.tsx';
import { projectKeys } from './queries.ts';
import { RevokeSigningKeyDialog } from './revoke-signing-key-dialog.tsx';

type OpenDialog = { create: true } | { show: NewSigningKey } | { revoke: SigningKey } | null;

/** Keys by which the backend signs tokens by itself. */
export function SigningKeysPanel() {
  const api = useApi();
  const { project, environment, may } = useProject();
  const query = usePaged(projectKeys.signingKeys(project.id), (page, signal) =>
    api.request('listSigningKeys', { projectId: project.id, query: page }, { signal }),
  );
  const [dialog, setDialog] = useState<OpenDialog>(null);
  const mayCreate = may('api_key:create') && project.status === 'ACTIVE';
  const rows = query.data?.filter((key) => key.environment === environment);
  const close = (): void => setDialog(null);
  const table = (keys: readonly SigningKey[] | undefined) => (
    <Table
      caption={`Signing keys for ${environment.toLowerCase()}`}
      columns={columns({ mayRevoke: may('api_key:revoke'), onRevoke: (revoke) => setDialog({ revoke }) })}
      rows={keys}
      keyOf={({ id }) => id}
      copyOf={({ id }) => id}
    />
  );
  return (
    <section className="stack" aria-labelledby="signing-keys">
      <div className="section-head">
        <h2 id="signing-keys">Signing keys</h2>
        <Button
          disabled={!mayCreate}
          title={mayCreate ? undefined : askFor('api_key:create')}
          onClick={() => setDialog({ create: true })}
        >
          New signing key
        </Button>
      </div>
      <p className="muted">Your backend signs RTC and chat tokens with one by itself, without a call.</p>
      <QueryView query={query} skeleton={table(undefined)}>
        {() => (rows?.length === 0 ? <p className="no-data">None for {environment.toLowerCase()}.</p> : table(rows))}
      </QueryView>
      <More query={query} />
      {dialog !== null && 'create' in dialog && (
        <CreateSigningKeyDialog
          onClose={close}
          onCreated={(created) => setDialog(created.key === null ? null : { show: created })}
        />
      )}
      {dialog !== null && 'show' in dialog && <NewSigningKeyDialog created={dialog.show} onClose={close} />}
      {dialog !== null && 'revoke' in dialog && <RevokeSigningKeyDialog signingKey={dialog.revoke} onClose={close} />}
    </section>
  );
}

/** The only sight of a new secret. */
function NewSigningKeyDialog({ created, onClose }: { created: NewSigningKey; onClose: () => void }) {
  const secret = created.key ?? '';
  return (
    <SecretDialog
      title={`Signing key ${created.name}`}
      secret={secret}
      secretLabel="signing key"
      onClose={onClose}
      copies={[['Copy .env line', `SVC_SIGNING_KEY=${secret}`]]}
    >
      <p>Store it now: it is not shown again. Whoever has it signs tokens in the name of this project.</p>
    </SecretDialog>
  );
}

function columns(options: { mayRevoke: boolean; onRevoke: (key: SigningKey) => void }): readonly Column<SigningKey>[] {
  return [
    { head: 'Name', width: '18%', cell: ({ name }) => <strong>{name}</strong> },
    { head: 'Id', cell: ({ id }) => <CopyId id={id} label="Copy id" /> },
    { head: 'Algorithm', cell: ({ algorithm }) => algorithm },
    {
      head: 'Status',
      cell: ({ status }) =>
        status === 'ACTIVE' ? <Badge tone="ok">Active</Badge> : <Badge shape="square">Revoked</Badge>,
    },
    {
      head: 'Last used',
      cell: ({ lastUsedAt }) => (lastUsedAt ? <Ago at={lastUsedAt} /> : <span className="no-data">Never</span>),
    },
    { head: 'Created', cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      head: '',
      align: 'end',
      cell: (key) =>
        key.status === 'ACTIVE' && (
          <Button
            variant="quiet"
            aria-label={`Revoke signing key ${key.name}`}
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
