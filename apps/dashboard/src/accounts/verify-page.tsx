import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { explain } from '../data/errors.ts';
import { useServices } from '../data/services.tsx';
import { t, withNodes } from '../i18n/t.ts';
import { Button } from '../kit/button.tsx';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { PasswordField, TextField } from '../kit/field.tsx';
import { useForm } from '../kit/form.ts';
import { AuthCard } from './auth-card.tsx';
import { takeToken } from './link-token.ts';
import { commonPassword, passwordProblem } from './passwords.ts';

/** The link of the verification mail. Loading it proves nothing: mail filters and previews load links too. */
export default function VerifyPage() {
  const { anonymous } = useServices();
  const [token] = useState(takeToken);
  const link = useQuery({
    queryKey: ['verification-link', token],
    queryFn: () => anonymous.call('readVerificationLink', { body: { token } }),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <AuthCard title={t('accounts.confirmEmail')} foot={<Link href="/login">{t('accounts.backToSignIn')}</Link>}>
      {link.isPending && <p role="status">{t('accounts.oneMoment')}</p>}
      {link.error && (
        <ErrorNotice failure={explain(link.error)}>
          <p>{t('accounts.signInForLink')}</p>
        </ErrorNotice>
      )}
      {link.data && <ConfirmForm token={token} email={link.data.email} />}
    </AuthCard>
  );
}

function ConfirmForm({ token, email }: { token: string; email: string }) {
  const { anonymous, session } = useServices();
  const [, navigate] = useLocation();
  const form = useForm({
    initial: { name: '', password: '' },
    check: ({ password }) => ({ password: passwordProblem(password) }),
    fieldOf: commonPassword,
    submit: (given) => anonymous.call('verifyEmail', { body: { token, ...given } }),
    onDone: (opened) => {
      session.accept(opened);
      navigate('/', { replace: true });
    },
  });
  return (
    <form className="stack" onSubmit={form.onSubmit} noValidate>
      {form.failure && <ErrorNotice failure={form.failure} />}
      <p>{withNodes('accounts.confirmYours', { email: <strong>{email}</strong> })}</p>
      <input type="hidden" name="username" autoComplete="username" value={email} />
      <TextField
        label={t('accounts.name')}
        hint={t('words.optional')}
        autoComplete="name"
        maxLength={128}
        {...form.field('name')}
      />
      <PasswordField
        label={t('accounts.password')}
        hint={t('accounts.lengthHint')}
        autoComplete="new-password"
        autoFocus
        {...form.field('password')}
      />
      <Button type="submit" variant="primary" isBusy={form.isBusy} waitSeconds={form.waitSeconds}>
        {t('accounts.confirmAndSignIn')}
      </Button>
    </form>
  );
}
