import type { ApiKey, NewApiKey } from '@parley/contract';
import { useState } from 'react';
import { useApi } from '../data/services.tsx';
import { usePaged } from '../data/use-paged.ts';
import { ListPage } from '../frame/list-page.tsx';
import { askFor, useProject } from '../frame/project.tsx';
import { environmentName } from '../i18n/names.ts';
import { Badge } from '../kit/badge.tsx';
import { Button } from '../kit/button.tsx';
import { CopyId } from '../kit/copy.tsx';
import type { Column } from '../kit/table.tsx';
import { Ago, Time } from '../kit/time.tsx';
import { CreateKeyDialog } from './create-key-dialog.tsx';
import { KeyBoundsCell } from './key-bounds.tsx';
import { NewKeyDialog } from './new-key-dialog.tsx';
import { projectKeys } from './queries.ts';
import { RevokeKeyDialog } from './revoke-key-dialog.tsx';
import { SigningKeysPanel } from './signing-keys-panel.tsx';
import { t } from './texts.ts';

export default function ApiKeysPage() {
  const api = useApi();
  const { project, environment, may } = useProject();
  const query = usePaged([...projectKeys.apiKeys(project.id), environment], (page, signal) =>
    api.request('listApiKeys', { projectId: project.id, query: { environment, ...page } }, { signal }),
  );
  const [dialog, setDialog] = useState<{ create: true } | { show: NewApiKey } | { revoke: ApiKey } | null>(null);
  const close = (): void => setDialog(null);
  return (
    <ListPage
      title={t('page.api-keys')}
      query={query}
      lead={t('projects.keysLead', { environment: environmentName(environment) })}
      create={{
        label: t('projects.newKey'),
        isAllowed: may('api_key:create') && project.status === 'ACTIVE',
        permission: 'api_key:create',
        onClick: () => setDialog({ create: true }),
      }}
      caption={t('projects.keysCaption', { environment: environmentName(environment) })}
      columns={columns({ mayRevoke: may('api_key:revoke'), onRevoke: (revoke) => setDialog({ revoke }) })}
      keyOf={({ id }) => id}
      copyOf={({ publicId }) => publicId}
      empty={{
        title: t('projects.noKey', { environment: environmentName(environment) }),
        children: <p>{t('projects.keyNeeded')}</p>,
      }}
    >
      <SigningKeysPanel />
      {dialog !== null && 'create' in dialog && (
        <CreateKeyDialog onClose={close} onCreated={(show) => setDialog({ show })} />
      )}
      {dialog !== null && 'show' in dialog && <NewKeyDialog created={dialog.show} onClose={close} />}
      {dialog !== null && 'revoke' in dialog && <RevokeKeyDialog apiKey={dialog.revoke} onClose={close} />}
    </ListPage>
  );
}

function columns(options: { mayRevoke: boolean; onRevoke: (key: ApiKey) => void }): readonly Column<ApiKey>[] {
  return [
    { head: t('words.name'), width: '18%', cell: ({ name }) => <strong>{name}</strong> },
    { head: t('projects.prefix'), cell: ({ prefix }) => <CopyId id={prefix} label={t('projects.copyPrefix')} /> },
    {
      head: t('words.status'),
      cell: ({ status }) =>
        status === 'ACTIVE' ? (
          <Badge tone="ok">{t('words.active')}</Badge>
        ) : (
          <Badge shape="square">{t(status === 'EXPIRED' ? 'projects.expired' : 'projects.revoked')}</Badge>
        ),
    },
    { head: t('projects.bounds'), cell: (key) => <KeyBoundsCell apiKey={key} /> },
    {
      head: t('projects.lastUsed'),
      cell: ({ lastUsedAt, lastUsedFrom }) =>
        lastUsedAt ? (
          <>
            <Ago at={lastUsedAt} />
            {lastUsedFrom && <div className="muted">{t('projects.fromWhere', { address: lastUsedFrom })}</div>}
          </>
        ) : (
          <span className="no-data">{t('words.never')}</span>
        ),
    },
    {
      // One column: with one more the button would be out of sight on a window of common width.
      head: t('words.created'),
      cell: ({ createdAt, createdBy }) => (
        <>
          <Time at={createdAt} />
          <div className="muted">{t('projects.createdBy', { who: createdBy ?? t('projects.removedUser') })}</div>
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
            aria-label={t('projects.revokeNamed', { name: key.name })}
            disabled={!options.mayRevoke}
            title={options.mayRevoke ? undefined : askFor('api_key:revoke')}
            onClick={() => options.onRevoke(key)}
          >
            {t('projects.revoke')}
          </Button>
        ),
    },
  ];
}
