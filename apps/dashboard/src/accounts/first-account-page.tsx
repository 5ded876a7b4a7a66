import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useServices } from '../data/services.tsx';
import { t } from '../i18n/t.ts';
import { Button } from '../kit/button.tsx';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { PasswordField, TextField } from '../kit/field.tsx';
import { useForm } from '../kit/form.ts';
import { AuthCard } from './auth-card.tsx';
import { emailProblem } from './emails.ts';
import { takeToken } from './link-token.ts';
import { commonPassword, passwordProblem } from './passwords.ts';

/** The link that a server without accounts prints at its start. */
export default function FirstAccountPage() {
  const { anonymous, session } = useServices();
  const [, navigate] = useLocation();
  const [token] = useState(takeToken);
  const form = useForm({
    initial: { name: '', email: '', password: '' },
    check: ({ email, password }) => ({ email: emailProblem(email), password: passwordProblem(password) }),
    fieldOf: commonPassword,
    submit: (given) => anonymous.call('createFirstAccount', { body: { token, ...given } }),
    onDone: (opened) => {
      session.accept(opened);
      navigate('/', { replace: true });
    },
  });
  return (
    <AuthCard title={t('accounts.createFirst')} foot={<Link href="/login">{t('accounts.signInInstead')}</Link>}>
      <form className="stack" onSubmit={form.onSubmit} noValidate>
        {form.failure && <ErrorNotice failure={form.failure} />}
        <p>{t('accounts.firstOperates')}</p>
        <TextField
          label={t('accounts.name')}
          hint={t('words.optional')}
          autoComplete="name"
          maxLength={128}
          autoFocus
          {...form.field('name')}
        />
        <TextField label={t('accounts.email')} type="email" autoComplete="username" {...form.field('email')} />
        <PasswordField
          label={t('accounts.password')}
          hint={t('accounts.lengthHint')}
          autoComplete="new-password"
          {...form.field('password')}
        />
        <Button type="submit" variant="primary" isBusy={form.isBusy} waitSeconds={form.waitSeconds}>
          {t('accounts.createAccount')}
        </Button>
      </form>
    </AuthCard>
  );
}
