import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useServices } from '../data/services.tsx';
import { Button } from '../kit/button.tsx';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { PasswordField, TextField } from '../kit/field.tsx';
import { useForm } from '../kit/form.ts';
import { AuthCard } from './auth-card.tsx';
import { emailProblem } from './emails.ts';
import { takeToken } from './link-token.ts';
import { commonPassword, passwordProblem } from './passwords.ts';
import { DevMailHint } from './register-page.tsx';

const backToSignIn = <Link href="/login">Back to sign in</Link>;

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
      <AuthCard title="Check your mail" foot={backToSignIn}>
        <p role="status">
          If the address has an account, a link to set a new password is on its way. It works for one hour.
        </p>
        <DevMailHint />
      </AuthCard>
    );
  }
  return (
    <AuthCard title="Reset your password" foot={backToSignIn}>
      <form className="stack" onSubmit={form.onSubmit} noValidate>
        {form.failure && <ErrorNotice failure={form.failure} />}
        <TextField label="E-mail" type="email" autoComplete="username" autoFocus {...form.field('email')} />
        <Button type="submit" variant="primary" isBusy={form.isBusy} waitSeconds={form.waitSeconds}>
          Send the link
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
    <AuthCard title="Set a new password" foot={backToSignIn}>
      <form className="stack" onSubmit={form.onSubmit} noValidate>
        {form.failure && (
          <ErrorNotice failure={form.failure}>
            {form.failure.code === 'SVC_INVALID_TOKEN_LINK' && (
              <p>
                <Link href="/forgot-password">Ask for a new link</Link>
              </p>
            )}
          </ErrorNotice>
        )}
        <PasswordField
          label="New password"
          hint="At least 8 characters. Every other session is signed out."
          autoComplete="new-password"
          autoFocus
          {...form.field('password')}
        />
        <Button type="submit" variant="primary" isBusy={form.isBusy} waitSeconds={form.waitSeconds}>
          Set password
        </Button>
      </form>
    </AuthCard>
  );
}
