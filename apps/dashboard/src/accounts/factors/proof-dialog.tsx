import { useState, useSyncExternalStore } from 'react';
import { useServices } from '../../data/services.tsx';
import { useAction } from '../../data/use-action.ts';
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
    <Dialog title={asked.kind === 'signIn' ? 'Second step' : 'Is it you?'} onClose={asked.giveUp}>
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
      <p>
        {asked.kind === 'signIn'
          ? 'Your account has a second factor. Use it to sign in.'
          : 'This needs a proof that you are there. It holds for ten minutes.'}
      </p>
      {hasPasskey && !isRecovering && <ByPasskey asked={asked} />}
      {isRecovering ? (
        <ByText asked={asked} name="recoveryCode" />
      ) : (
        factors.includes('TOTP') && <ByText asked={asked} name="code" />
      )}
      {factors.length === 0 && <ByText asked={asked} name="password" />}
      {factors.includes('RECOVERY_CODE') && (
        <Button variant="quiet" onClick={() => setRecovering(!isRecovering)}>
          {isRecovering ? 'Use another factor' : 'Use a recovery code'}
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
          <p role="alert">No passkey was given. Try again, or use another factor.</p>
        ) : (
          <ErrorNotice failure={prove.failure} />
        ))}
      <Button variant="primary" isBusy={prove.isBusy} onClick={() => void prove.run(undefined)}>
        Use a passkey
      </Button>
    </div>
  );
}

const texts = {
  code: { label: 'Code', hint: 'Six digits of your authenticator app.', autoComplete: 'one-time-code' },
  recoveryCode: { label: 'Recovery code', hint: 'Each works once.', autoComplete: 'off' },
  password: { label: 'Your password', hint: undefined, autoComplete: 'current-password' },
} as const;

function ByText({ asked, name }: { asked: Asked; name: keyof typeof texts }) {
  const { label, hint, autoComplete } = texts[name];
  const form = useForm({
    initial: { proof: '' },
    check: ({ proof }) => ({ proof: proof.trim() === '' ? `Enter ${label.toLowerCase()}.` : undefined }),
    fieldOf: { SVC_INVALID_SECOND_FACTOR: 'proof', SVC_WRONG_PASSWORD: 'proof' },
    submit: ({ proof }) => asked.submit({ [name]: proof }),
  });
  const field = { label, autoComplete, autoFocus: true, ...form.field('proof') };
  return (
    <form className="stack" onSubmit={form.onSubmit} noValidate>
      {form.failure && <ErrorNotice failure={form.failure} />}
      {name === 'password' ? (
        <PasswordField {...field} />
      ) : (
        <TextField hint={hint} inputMode={name === 'code' ? 'numeric' : 'text'} spellCheck={false} {...field} />
      )}
      <Button type="submit" variant="primary" isBusy={form.isBusy} waitSeconds={form.waitSeconds}>
        Continue
      </Button>
    </form>
  );
}
