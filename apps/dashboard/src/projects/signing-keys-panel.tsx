import type { NewSigningKey, SigningKey } from '@parley/contract';
import { useState } from 'react';
import { useApi } from '../data/services.tsx';
import { usePaged } from '../data/use-paged.ts';
import { List } from '../frame/list.tsx';
import { askFor, useProject } from '../frame/project.tsx';
import { environmentName } from '../i18n/names.ts';
import { Badge } from '../kit/badge.tsx';
import { Button } from '../kit/button.tsx';
import { CopyId } from '../kit/copy.tsx';
import { SecretDialog } from '../kit/secret-dialog.tsx';
import type { Column } from '../kit/table.tsx';
import { Ago, Time } from '../kit/time.tsx';
import { CreateSigningKeyDialog } from './create-signing-key-dialog.tsx';
import { projectKeys } from './queries.ts';
import { RevokeSigningKeyDialog } from './revoke-signing-key-dialog.tsx';
import { t } from './texts.ts';

type OpenDialog = { create: true } | { show: NewSigningKey } | { revoke: SigningKey } | null;

/** Keys by which the backend signs tokens by itself. */
export function SigningKeysPanel() {
  const api = useApi();
  const { project, environment, may } = useProject();
  const query = usePaged([...projectKeys.signingKeys(project.id), environment], (page, signal) =>
    api.request('listSigningKeys', { projectId: project.id, query: { environment, ...page } }, { signal }),
  );
  const [dialog, setDialog] = useState<OpenDialog>(null);
  const mayCreate = may('api_key:create') && project.status === 'ACTIVE';
  const close = (): void => setDialog(null);
  return (
    <section className="stack" aria-labelledby="signing-keys">
      <div className="section-head">
        <h2 id="signing-keys">{t('projects.signingKeys')}</h2>
        <Button
          disabled={!mayCreate}
          title={mayCreate ? undefined : askFor('api_key:create')}
          onClick={() => setDialog({ create: true })}
        >
          {t('projects.newSigningKey')}
        </Button>
      </div>
      <p className="muted">{t('projects.signingLead')}</p>
      <List
        query={query}
        caption={t('projects.signingCaption', { environment: environmentName(environment) })}
        columns={columns({ mayRevoke: may('api_key:revoke'), onRevoke: (revoke) => setDialog({ revoke }) })}
        keyOf={({ id }) => id}
        copyOf={({ id }) => id}
        empty={{ title: t('projects.noSigningKey', { environment: environmentName(environment) }) }}
      />
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
      title={t('projects.signingKeyNamed', { name: created.name })}
      secret={secret}
      secretLabel={t('projects.signingKey')}
      onClose={onClose}
      copies={[[t('projects.copyEnv'), `SVC_SIGNING_KEY=${secret}`]]}
    >
      <p>{t('projects.storeSigningNow')}</p>
    </SecretDialog>
  );
}

function columns(options: { mayRevoke: boolean; onRevoke: (key: SigningKey) => void }): readonly Column<SigningKey>[] {
  return [
    { head: t('words.name'), width: '18%', cell: ({ name }) => <strong>{name}</strong> },
    { head: t('words.id'), cell: ({ id }) => <CopyId id={id} label={t('kit.copyId')} /> },
    { head: t('projects.algorithm'), cell: ({ algorithm }) => algorithm },
    {
      head: t('words.status'),
      cell: ({ status }) =>
        status === 'ACTIVE' ? (
          <Badge tone="ok">{t('words.active')}</Badge>
        ) : (
          <Badge shape="square">{t('projects.revoked')}</Badge>
        ),
    },
    {
      head: t('projects.lastUsed'),
      cell: ({ lastUsedAt }) =>
        lastUsedAt ? <Ago at={lastUsedAt} /> : <span className="no-data">{t('words.never')}</span>,
    },
    { head: t('words.created'), cell: ({ createdAt }) => <Time at={createdAt} /> },
    {
      head: '',
      align: 'end',
      cell: (key) =>
        key.status === 'ACTIVE' && (
          <Button
            variant="quiet"
            aria-label={t('projects.revokeSigningNamed', { name: key.name })}
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
