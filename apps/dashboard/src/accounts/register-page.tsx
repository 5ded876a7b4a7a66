import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useServices } from '../data/services.tsx';
import { Button } from '../kit/button.tsx';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { PasswordField, TextField } from '../kit/field.tsx';
import { useForm } from '../kit/form.ts';
import { AuthCard } from './auth-card.tsx';
import { emailProblem } from './emails.ts';
import { commonPassword, passwordProblem } from './passwords.ts';
import { registrationQuery } from './registration-query.ts';
import { ResendVerification } from './sign-in-form.tsx';

const signIn = <Link href="/login">Sign in instead</Link>;

export default function RegisterPage() {
  const { data: policy } = useQuery(registrationQuery(useServices().anonymous));
  if (policy?.policy === 'CLOSED') return <Closed />;
  if (policy?.verificationRequired && !policy.sendsMail) return <NoMail />;
  const domains = policy?.domains ?? [];
  return (
    <RegisterForm
      isByInvitation={policy?.policy === 'INVITE'}
      emailHint={domains.length > 0 ? `An address of ${domains.join(', ')}.` : undefined}
    />
  );
}

function Closed() {
  return (
    <AuthCard title="Registration is closed" foot={signIn}>
      <p>This instance takes no new accounts. Ask whoever runs it for one.</p>
    </AuthCard>
  );
}

function NoMail() {
  return (
    <AuthCard title="No mail is set up" foot={signIn}>
      <p>
        Registering needs a link by mail, and this instance sends none: its operator sets <code>SMTP_URL</code>. The
        first account is made by the link that the server prints at its start.
      </p>
    </AuthCard>
  );
}

function RegisterForm({ isByInvitation, emailHint }: { isByInvitation: boolean; emailHint: string | undefined }) {
  const { anonymous, session } = useServices();
  const [, navigate] = useLocation();
  const [waitingFor, setWaitingFor] = useState<string | null>(null);
  const form = useForm({
    initial: { name: '', email: new URLSearchParams(location.search).get('email') ?? '', password: '' },
    check: ({ email, password }) => ({
      email: emailProblem(email),
      password: passwordProblem(password),
    }),
    fieldOf: commonPassword,
    submit: async (body) => {
      const { verificationRequired } = await anonymous.call('register', { body });
      if (verificationRequired) return null;
      return anonymous.call('login', { body: { email: body.email, password: body.password } });
    },
    onDone: (opened, { email }) => {
      if (!opened) return setWaitingFor(email);
      session.accept(opened);
      navigate('/', { replace: true });
    },
  });
  if (waitingFor !== null) return <CheckYourMail email={waitingFor} />;
  return (
    <AuthCard title="Create an account" foot={signIn}>
      <form className="stack" onSubmit={form.onSubmit} noValidate>
        {isByInvitation && <p>Accounts here are by invitation: use the address that was invited to a project.</p>}
        {form.failure && <ErrorNotice failure={form.failure} />}
        <TextField label="Name" hint="Optional" autoComplete="name" maxLength={128} autoFocus {...form.field('name')} />
        <TextField label="E-mail" hint={emailHint} type="email" autoComplete="email" {...form.field('email')} />
        <PasswordField
          label="Password"
          hint="At least 8 characters."
          autoComplete="new-password"
          {...form.field('password')}
        />
        <Button type="submit" variant="primary" isBusy={form.isBusy} waitSeconds={form.waitSeconds}>
          Create account
        </Button>
      </form>
    </AuthCard>
  );
}

function CheckYourMail({ email }: { email: string }) {
  return (
    <AuthCard title="Check your mail" foot={signIn}>
      <p>
        We sent a link to <strong>{email}</strong>. Open it to confirm that the address is yours and to choose your
        password.
      </p>
      <DevMailHint />
      <ResendVerification email={email} />
    </AuthCard>
  );
}

/** In development nothing leaves the machine. */
export function DevMailHint() {
  const { isDevelopment } = useServices();
  if (!isDevelopment) return null;
  return (
    <p className="muted">
      Development mode: the mail is at <a href="/dev/mail">/dev/mail</a>.
    </p>
  );
}
