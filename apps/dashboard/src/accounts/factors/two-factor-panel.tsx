import type { Factors, Passkey } from '@parley/contract';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi } from '../../data/services.tsx';
import { useAction } from '../../data/use-action.ts';
import { QueryView } from '../../frame/query-view.tsx';
import { t, withNodes } from '../../i18n/t.ts';
import { Badge } from '../../kit/badge.tsx';
import { Button } from '../../kit/button.tsx';
import { ConfirmDialog } from '../../kit/dialog.tsx';
import { ErrorNotice } from '../../kit/error-notice.tsx';
import { SecretDialog } from '../../kit/secret-dialog.tsx';
import { Ago, Time } from '../../kit/time.tsx';
import { AppDialog } from './app-dialog.tsx';
import { factorsKey, factorsQuery, hasFactor } from './factors-query.ts';
import { PasskeyDialog } from './passkey-dialog.tsx';
import { hasPasskeys } from './passkeys.ts';

type Open = { what: 'app' } | { what: 'passkey'; passkey?: Passkey } | { what: 'removal'; passkey?: Passkey };

/** The second factors of the account. */
export function TwoFactorPanel() {
  const query = useQuery(factorsQuery(useApi()));
  const client = useQueryClient();
  const [open, setOpen] = useState<Open | null>(null);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const done = async (recoveryCodes: readonly string[] | null = null): Promise<void> => {
    setOpen(null);
    setCodes(recoveryCodes);
    await client.invalidateQueries({ queryKey: factorsKey });
  };
  return (
    <section className="panel stack" aria-labelledby="two-factor">
      <h2 id="two-factor">{t('accounts.twoFactor')}</h2>
      <p className="muted">{t('accounts.twoFactorLead')}</p>
      <QueryView query={query}>
        {(factors) => (
          <>
            <App factors={factors} onOpen={setOpen} />
            <PasskeyList factors={factors} onOpen={setOpen} />
            {hasFactor(factors) && <RecoveryCodes left={factors.recoveryCodesLeft} onMade={done} />}
          </>
        )}
      </QueryView>
      {open?.what === 'app' && <AppDialog onDone={done} onClose={() => setOpen(null)} />}
      {open?.what === 'passkey' && (
        <PasskeyDialog passkey={open.passkey ?? null} onDone={done} onClose={() => setOpen(null)} />
      )}
      {open?.what === 'removal' && (
        <RemovalDialog passkey={open.passkey ?? null} onDone={done} onClose={() => setOpen(null)} />
      )}
      {codes && <CodesDialog codes={codes} onClose={() => setCodes(null)} />}
    </section>
  );
}

function App({ factors, onOpen }: { factors: Factors; onOpen: (open: Open) => void }) {
  return (
    <div className="stack-small">
      <h3>{t('accounts.app')}</h3>
      {factors.totp === null ? (
        <div className="row">
          <Button onClick={() => onOpen({ what: 'app' })}>{t('accounts.setUpApp')}</Button>
        </div>
      ) : (
        <p className="row">
          {withNodes('accounts.onSince', {
            on: <Badge tone="ok">{t('accounts.on')}</Badge>,
            time: <Time at={factors.totp.createdAt} />,
          })}
          <Button variant="quiet" onClick={() => onOpen({ what: 'removal' })}>
            {t('accounts.removeApp')}
          </Button>
        </p>
      )}
    </div>
  );
}

function PasskeyList({ factors, onOpen }: { factors: Factors; onOpen: (open: Open) => void }) {
  const canAdd = factors.passkeysAvailable && hasPasskeys();
  return (
    <div className="stack-small">
      <h3>{t('accounts.passkeys')}</h3>
      {factors.passkeys.length > 0 && (
        <ul className="stack-small" aria-label={t('accounts.yourPasskeys')}>
          {factors.passkeys.map((passkey) => (
            <li key={passkey.id} className="row">
              <strong>{passkey.name}</strong>
              <span className="muted">
                {passkey.lastUsedAt === null ? t('accounts.neverUsed') : <Ago at={passkey.lastUsedAt} />}
              </span>
              <Button variant="quiet" onClick={() => onOpen({ what: 'passkey', passkey })}>
                {t('accounts.renameNamed', { name: passkey.name })}
              </Button>
              <Button variant="quiet" onClick={() => onOpen({ what: 'removal', passkey })}>
                {t('accounts.removeNamed', { name: passkey.name })}
              </Button>
            </li>
          ))}
        </ul>
      )}
      {canAdd ? (
        <div className="row">
          <Button onClick={() => onOpen({ what: 'passkey' })}>{t('accounts.addAPasskey')}</Button>
        </div>
      ) : (
        <p className="muted">{t('accounts.noPasskeys')}</p>
      )}
    </div>
  );
}

function RecoveryCodes({ left, onMade }: { left: number; onMade: (codes: readonly string[]) => void }) {
  const api = useApi();
  const renew = useAction(() => api.call('renewRecoveryCodes'), {
    onDone: ({ recoveryCodes }) => onMade(recoveryCodes),
  });
  return (
    <div className="stack-small">
      <h3>{t('accounts.recoveryCodes')}</h3>
      <p>
        {t('accounts.codesLeft', { left })} {left < 3 && <Badge tone="warn">{t('accounts.makeSoon')}</Badge>}
      </p>
      {renew.failure && <ErrorNotice failure={renew.failure} />}
      <div className="row">
        <Button isBusy={renew.isBusy} onClick={() => void renew.run(undefined)}>
          {t('accounts.makeCodes')}
        </Button>
      </div>
    </div>
  );
}

function RemovalDialog(props: { passkey: Passkey | null; onDone: () => Promise<void>; onClose: () => void }) {
  const api = useApi();
  const { passkey } = props;
  const remove = useAction(
    () => (passkey ? api.call('removePasskey', { passkeyId: passkey.id }) : api.call('removeTotp')),
    { onDone: props.onDone },
  );
  return (
    <ConfirmDialog
      title={passkey ? t('accounts.removeAsk', { name: passkey.name }) : t('accounts.removeAppAsk')}
      action={t('words.remove')}
      isBusy={remove.isBusy}
      failure={remove.failure}
      onConfirm={() => void remove.run(undefined)}
      onClose={props.onClose}
    >
      <p>{t('accounts.removeExplained')}</p>
    </ConfirmDialog>
  );
}

function CodesDialog({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  return (
    <SecretDialog
      title={t('accounts.yourCodes')}
      secret={codes.join('\n')}
      secretLabel={t('accounts.codesWord')}
      copies={[]}
      onClose={onClose}
    >
      <p>{t('accounts.codesExplained')}</p>
    </SecretDialog>
  );
}
