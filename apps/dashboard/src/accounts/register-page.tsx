import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useServices } from '../data/services.tsx';
import { t, withNodes } from '../i18n/t.ts';
import { Button } from '../kit/button.tsx';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { PasswordField, TextField } from '../kit/field.tsx';
import { useForm } from '../kit/form.ts';
import { AuthCard } from './auth-card.tsx';
import { devMailPath, emailProblem } from './emails.ts';
import { commonPassword, passwordProblem } from './passwords.ts';
import { registrationQuery } from './registration-query.ts';
import { ResendVerification } from './sign-in-form.tsx';

const SignInInstead = () => <Link href="/login">{t('accounts.signInInstead')}</Link>;

export default function RegisterPage() {
  const { data: policy } = useQuery(registrationQuery(useServices().anonymous));
  if (policy?.policy === 'CLOSED') return <Closed />;
  if (policy?.verificationRequired && !policy.sendsMail) return <NoMail />;
  const domains = policy?.domains ?? [];
  return (
    <RegisterForm
      isByInvitation={policy?.policy === 'INVITE'}
      emailHint={domains.length > 0 ? t('accounts.addressOf', { domains: domains.join(', ') }) : undefined}
    />
  );
}

function Closed() {
  return (
    <AuthCard title={t('accounts.closed')} foot={<SignInInstead />}>
      <p>{t('accounts.closedExplained')}</p>
    </AuthCard>
  );
}

/** What an operator sets to send mail. */
const mailVariable = 'SMTP_URL';

function NoMail() {
  return (
    <AuthCard title={t('accounts.noMail')} foot={<SignInInstead />}>
      <p>{withNodes('accounts.noMailExplained', { variable: <code>{mailVariable}</code> })}</p>
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
    <AuthCard title={t('accounts.createAnAccount')} foot={<SignInInstead />}>
      <form className="stack" onSubmit={form.onSubmit} noValidate>
        {isByInvitation && <p>{t('accounts.byInvitation')}</p>}
        {form.failure && <ErrorNotice failure={form.failure} />}
        <TextField
          label={t('accounts.name')}
          hint={t('words.optional')}
          autoComplete="name"
          maxLength={128}
          autoFocus
          {...form.field('name')}
        />
        <TextField
          label={t('accounts.email')}
          hint={emailHint}
          type="email"
          autoComplete="email"
          {...form.field('email')}
        />
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

function CheckYourMail({ email }: { email: string }) {
  return (
    <AuthCard title={t('accounts.checkMail')} foot={<SignInInstead />}>
      <p>{withNodes('accounts.linkSent', { email: <strong>{email}</strong> })}</p>
      <DevMailHint />
      <ResendVerification email={email} />
    </AuthCard>
  );
}

/** In development nothing leaves the machine. */
export function DevMailHint() {
  const { isDevelopment } = useServices();
  if (!isDevelopment) return null;
  return <p className="muted">{withNodes('accounts.mailHint', { link: <a href={devMailPath}>{devMailPath}</a> })}</p>;
}
