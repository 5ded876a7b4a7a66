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
import { DevMailHint } from './register-page.tsx';

const BackToSignIn = () => <Link href="/login">{t('accounts.backToSignIn')}</Link>;

/** Requests a reset link. The answer is the same for an unknown address. */
export function ForgotPasswordPage() {
  const { anonymous } = useServices();
  const [isSent, setSent] = useState(false);
  const form = useForm({
    initial: { email: '' },
    check: ({ email }) => ({ email: emailProblem(email) }),
    submit: (body) => anonymous.call('requestPasswordReset', { body }),
    onDone: () => setSent(true),
  });
  if (isSent) {
    return (
      <AuthCard title={t('accounts.checkMail')} foot={<BackToSignIn />}>
        <p role="status">{t('accounts.resetSent')}</p>
        <DevMailHint />
      </AuthCard>
    );
  }
  return (
    <AuthCard title={t('accounts.resetPassword')} foot={<BackToSignIn />}>
      <form className="stack" onSubmit={form.onSubmit} noValidate>
        {form.failure && <ErrorNotice failure={form.failure} />}
        <TextField
          label={t('accounts.email')}
          type="email"
          autoComplete="username"
          autoFocus
          {...form.field('email')}
        />
        <Button type="submit" variant="primary" isBusy={form.isBusy} waitSeconds={form.waitSeconds}>
          {t('accounts.sendLink')}
        </Button>
      </form>
    </AuthCard>
  );
}

/** The link of the reset mail: a new password, and every other session ends. */
export function ResetPasswordPage() {
  const { anonymous, session } = useServices();
  const [, navigate] = useLocation();
  const [token] = useState(takeToken);
  const form = useForm({
    initial: { password: '' },
    check: ({ password }) => ({ password: passwordProblem(password) }),
    fieldOf: commonPassword,
    submit: ({ password }) => anonymous.call('confirmPasswordReset', { body: { token, password } }),
    onDone: (opened) => {
      session.accept(opened);
      navigate('/', { replace: true });
    },
  });
  return (
    <AuthCard title={t('accounts.setNewPassword')} foot={<BackToSignIn />}>
      <form className="stack" onSubmit={form.onSubmit} noValidate>
        {form.failure && (
          <ErrorNotice failure={form.failure}>
            {form.failure.code === 'SVC_INVALID_TOKEN_LINK' && (
              <p>
                <Link href="/forgot-password">{t('accounts.askNewLink')}</Link>
              </p>
            )}
          </ErrorNotice>
        )}
        <PasswordField
          label={t('accounts.newPassword')}
          hint={t('accounts.newPasswordHint')}
          autoComplete="new-password"
          autoFocus
          {...form.field('password')}
        />
        <Button type="submit" variant="primary" isBusy={form.isBusy} waitSeconds={form.waitSeconds}>
          {t('accounts.setPassword')}
        </Button>
      </form>
    </AuthCard>
  );
}
