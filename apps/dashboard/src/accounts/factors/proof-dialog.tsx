import { useState, useSyncExternalStore } from 'react';
import { useServices } from '../../data/services.tsx';
import { useAction } from '../../data/use-action.ts';
import { t } from '../../i18n/t.ts';
import { Button } from '../../kit/button.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { ErrorNotice } from '../../kit/error-notice.tsx';
import { PasswordField, TextField } from '../../kit/field.tsx';
import { useForm } from '../../kit/form.ts';
import { askForPasskey, hasPasskeys } from './passkeys.ts';
import type { Asked } from './proofs.ts';

/** Over the page while a call waits for a proof: the second step of a sign-in, or a step-up. */
export function ProofDialog() {
  const { proofs } = useServices();
  const asked = useSyncExternalStore(proofs.subscribe, proofs.asked);
  if (!asked) return null;
  return (
    <Dialog title={t(asked.kind === 'signIn' ? 'accounts.secondStep' : 'accounts.isItYou')} onClose={asked.giveUp}>
      <Proof key={asked.challenge.challenge} asked={asked} />
    </Dialog>
  );
}

function Proof({ asked }: { asked: Asked }) {
  const { factors } = asked.challenge;
  const [isRecovering, setRecovering] = useState(false);
  const hasPasskey = factors.includes('PASSKEY') && hasPasskeys();
  return (
    <div className="stack">
      <p>{t(asked.kind === 'signIn' ? 'accounts.useToSignIn' : 'accounts.proveHolds')}</p>
      {hasPasskey && !isRecovering && <ByPasskey asked={asked} />}
      {isRecovering ? (
        <ByText asked={asked} name="recoveryCode" />
      ) : (
        factors.includes('TOTP') && <ByText asked={asked} name="code" />
      )}
      {factors.length === 0 && <ByText asked={asked} name="password" />}
      {factors.includes('RECOVERY_CODE') && (
        <Button variant="quiet" onClick={() => setRecovering(!isRecovering)}>
          {t(isRecovering ? 'accounts.useAnother' : 'accounts.useRecoveryCode')}
        </Button>
      )}
    </div>
  );
}

function ByPasskey({ asked }: { asked: Asked }) {
  const prove = useAction(async () => asked.submit({ passkey: await askForPasskey(asked.challenge) }));
  return (
    <div className="stack">
      {prove.failure &&
        (prove.failure.code === null ? (
          <p role="alert">{t('accounts.noPasskeyUseAnother')}</p>
        ) : (
          <ErrorNotice failure={prove.failure} />
        ))}
      <Button variant="primary" isBusy={prove.isBusy} onClick={() => void prove.run(undefined)}>
        {t('accounts.usePasskey')}
      </Button>
    </div>
  );
}

const texts = {
  code: {
    label: 'accounts.code',
    hint: 'accounts.codeHint',
    missing: 'accounts.enterCode',
    autoComplete: 'one-time-code',
  },
  recoveryCode: {
    label: 'accounts.recoveryCode',
    hint: 'accounts.recoveryCodeHint',
    missing: 'accounts.enterRecoveryCode',
    autoComplete: 'off',
  },
  password: {
    label: 'accounts.yourPassword',
    hint: null,
    missing: 'accounts.enterPassword',
    autoComplete: 'current-password',
  },
} as const;

function ByText({ asked, name }: { asked: Asked; name: keyof typeof texts }) {
  const { label, hint, missing, autoComplete } = texts[name];
  const form = useForm({
    initial: { proof: '' },
    check: ({ proof }) => ({ proof: proof.trim() === '' ? t(missing) : undefined }),
    fieldOf: { SVC_INVALID_SECOND_FACTOR: 'proof', SVC_WRONG_PASSWORD: 'proof' },
    submit: ({ proof }) => asked.submit({ [name]: proof }),
  });
  const field = { label: t(label), autoComplete, autoFocus: true, ...form.field('proof') };
  return (
    <form className="stack" onSubmit={form.onSubmit} noValidate>
      {form.failure && <ErrorNotice failure={form.failure} />}
      {name === 'password' ? (
        <PasswordField {...field} />
      ) : (
        <TextField
          hint={hint ? t(hint) : undefined}
          inputMode={name === 'code' ? 'numeric' : 'text'}
          spellCheck={false}
          {...field}
        />
      )}
      <Button type="submit" variant="primary" isBusy={form.isBusy} waitSeconds={form.waitSeconds}>
        {t('accounts.continue')}
      </Button>
    </form>
  );
}
