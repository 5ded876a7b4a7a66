import type { Session } from '@parley/contract';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useServices } from '../data/services.tsx';
import { useAction } from '../data/use-action.ts';
import { t } from '../i18n/t.ts';
import { Button } from '../kit/button.tsx';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { PasswordField, TextField } from '../kit/field.tsx';
import { useForm } from '../kit/form.ts';
import { askForPasskey, hasPasskeys } from './factors/passkeys.ts';
import { oauthReturn } from './oauth-return.ts';

/** E-mail and password, and the providers of this instance: on the sign-in page and in the dialog over a page. */
export function SignInForm({ email = '', onDone }: { email?: string; onDone: (session: Session) => void }) {
  const { anonymous } = useServices();
  const form = useForm({
    initial: { email, password: '' },
    check: ({ email, password }) => ({
      email: email.trim() === '' ? t('accounts.enterEmail') : undefined,
      password: password === '' ? t('accounts.enterPassword') : undefined,
    }),
    submit: (body) => anonymous.call('login', { body }),
    onDone,
  });
  return (
    <>
      <form className="stack" onSubmit={form.onSubmit} noValidate>
        {form.failure && (
          <ErrorNotice failure={form.failure}>
            {form.failure.code === 'SVC_EMAIL_NOT_VERIFIED' && <ResendVerification email={form.values.email} />}
          </ErrorNotice>
        )}
        <TextField
          label={t('accounts.email')}
          type="email"
          autoComplete="username"
          autoFocus={email === ''}
          {...form.field('email')}
        />
        <PasswordField
          label={t('accounts.password')}
          autoComplete="current-password"
          autoFocus={email !== ''}
          {...form.field('password')}
        />
        <Button type="submit" variant="primary" isBusy={form.isBusy} waitSeconds={form.waitSeconds}>
          {t('accounts.signIn')}
        </Button>
      </form>
      <PasskeySignIn onDone={onDone} />
      <Providers />
    </>
  );
}

/** Where the browser has passkeys: no password, no second step. */
function PasskeySignIn({ onDone }: { onDone: (session: Session) => void }) {
  const { anonymous } = useServices();
  const signIn = useAction(
    async () => {
      const passkey = await askForPasskey(await anonymous.call('startPasskeyLogin'));
      return anonymous.call('loginWithPasskey', { body: { passkey } });
    },
    { onDone },
  );
  if (!hasPasskeys()) return null;
  return (
    <div className="stack">
      {signIn.failure &&
        (signIn.failure.code === null ? (
          <p role="alert">{t('accounts.noPasskeyUsePassword')}</p>
        ) : (
          <ErrorNotice failure={signIn.failure} />
        ))}
      <Button isBusy={signIn.isBusy} onClick={() => void signIn.run(undefined)}>
        {t('accounts.passkeySignIn')}
      </Button>
    </div>
  );
}

export function ResendVerification({ email }: { email: string }) {
  const { anonymous } = useServices();
  const [isSent, setSent] = useState(false);
  const action = useAction(() => anonymous.call('resendVerification', { body: { email } }), {
    onDone: () => setSent(true),
  });
  if (isSent) return <p>{t('accounts.newLinkSent')}</p>;
  return (
    <p>
      <Button
        isBusy={action.isBusy}
        waitSeconds={action.failure?.retryAfterSeconds ?? null}
        onClick={() => action.run(undefined)}
      >
        {t('accounts.sendAgain')}
      </Button>
    </p>
  );
}

function Providers() {
  const { anonymous } = useServices();
  const { data = [] } = useQuery({
    queryKey: ['oauth-providers'],
    queryFn: () => anonymous.call('listOAuthProviders'),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const start = useAction(async (provider: string) => {
    const redirectUri = oauthReturn.addressFor(provider);
    const { authorizationUrl } = await anonymous.call('startOAuth', { provider, body: { redirectUri } });
    oauthReturn.remember(location.pathname + location.search);
    location.assign(authorizationUrl);
  });
  if (data.length === 0) return null;
  return (
    <div className="stack providers">
      <p className="divider">{t('accounts.or')}</p>
      {start.failure && <ErrorNotice failure={start.failure} />}
      {data.map(({ provider, label }) => (
        <Button key={provider} isBusy={start.isBusy} onClick={() => start.run(provider)}>
          {t('accounts.continueWith', { provider: label })}
        </Button>
      ))}
    </div>
  );
}
