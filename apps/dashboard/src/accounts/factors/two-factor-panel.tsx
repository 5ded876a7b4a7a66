import type { Factors, Passkey } from '@parley/contract';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useApi } from '../../data/services.tsx';
import { useAction } from '../../data/use-action.ts';
import { QueryView } from '../../frame/query-view.tsx';
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
      <h2 id="two-factor">Two-factor sign-in</h2>
      <p className="muted">Who has your password still needs your phone, your key or a recovery code.</p>
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
      <h3>Authenticator app</h3>
      {factors.totp === null ? (
        <div className="row">
          <Button onClick={() => onOpen({ what: 'app' })}>Set up an authenticator app</Button>
        </div>
      ) : (
        <p className="row">
          <Badge tone="ok">On</Badge> since <Time at={factors.totp.createdAt} />
          <Button variant="quiet" onClick={() => onOpen({ what: 'removal' })}>
            Remove the app
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
      <h3>Passkeys</h3>
      {factors.passkeys.length > 0 && (
        <ul className="stack-small" aria-label="Your passkeys">
          {factors.passkeys.map((passkey) => (
            <li key={passkey.id} className="row">
              <strong>{passkey.name}</strong>
              <span className="muted">
                {passkey.lastUsedAt === null ? 'never used' : <Ago at={passkey.lastUsedAt} />}
              </span>
              <Button variant="quiet" onClick={() => onOpen({ what: 'passkey', passkey })}>
                Rename {passkey.name}
              </Button>
              <Button variant="quiet" onClick={() => onOpen({ what: 'removal', passkey })}>
                Remove {passkey.name}
              </Button>
            </li>
          ))}
        </ul>
      )}
      {canAdd ? (
        <div className="row">
          <Button onClick={() => onOpen({ what: 'passkey' })}>Add a passkey</Button>
        </div>
      ) : (
        <p className="muted">This browser, or this address, has no passkeys.</p>
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
      <h3>Recovery codes</h3>
      <p>
        {left} left. They sign you in when the others are lost.{' '}
        {left < 3 && <Badge tone="warn">Make new ones soon</Badge>}
      </p>
      {renew.failure && <ErrorNotice failure={renew.failure} />}
      <div className="row">
        <Button isBusy={renew.isBusy} onClick={() => void renew.run(undefined)}>
          Make new recovery codes
        </Button>
      </div>
    </div>
  );
}

function RemovalDialog(props: { passkey: Passkey | null; onDone: () => Promise<void>; onClose: () => void }) {
  const api = useApi();
  const { passkey } = props;
  const what = passkey?.name ?? 'the authenticator app';
  const remove = useAction(
    () => (passkey ? api.call('removePasskey', { passkeyId: passkey.id }) : api.call('removeTotp')),
    { onDone: props.onDone },
  );
  return (
    <ConfirmDialog
      title={`Remove ${what}?`}
      action="Remove"
      isBusy={remove.isBusy}
      failure={remove.failure}
      onConfirm={() => void remove.run(undefined)}
      onClose={props.onClose}
    >
      <p>It no longer signs you in. Without any factor left your password is enough.</p>
    </ConfirmDialog>
  );
}

function CodesDialog({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  return (
    <SecretDialog
      title="Your recovery codes"
      secret={codes.join('\n')}
      secretLabel="recovery codes"
      copies={[]}
      onClose={onClose}
    >
      <p>Each signs you in once when you have lost your other factors. They are shown only now: keep them safe.</p>
    </SecretDialog>
  );
}
