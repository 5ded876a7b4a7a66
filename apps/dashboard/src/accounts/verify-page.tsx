import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { explain } from '../data/errors.ts';
import { useServices } from '../data/services.tsx';
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
    <AuthCard title="Confirm your e-mail address" foot={<Link href="/login">Back to sign in</Link>}>
      {link.isPending && <p role="status">One moment.</p>}
      {link.error && (
        <ErrorNotice failure={explain(link.error)}>
          <p>Sign in to have a new link sent.</p>
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
      <p>
        Confirm that <strong>{email}</strong> is yours, and choose your password. Only what you enter here counts,
        whoever registered the address.
      </p>
      <input type="hidden" name="username" autoComplete="username" value={email} />
      <TextField label="Name" hint="Optional" autoComplete="name" maxLength={128} {...form.field('name')} />
      <PasswordField
        label="Password"
        hint="At least 8 characters."
        autoComplete="new-password"
        autoFocus
        {...form.field('password')}
      />
      <Button type="submit" variant="primary" isBusy={form.isBusy} waitSeconds={form.waitSeconds}>
        Confirm and sign in
      </Button>
    </form>
  );
}
