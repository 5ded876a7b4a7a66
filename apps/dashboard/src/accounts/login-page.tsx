import { useQuery } from '@tanstack/react-query';
import { Link, useLocation } from 'wouter';
import { useServices } from '../data/services.tsx';
import { safeNext } from '../frame/url.ts';
import { t, withNodes } from '../i18n/t.ts';
import { AuthCard } from './auth-card.tsx';
import { devMailPath } from './emails.ts';
import { registrationQuery } from './registration-query.ts';
import { SignInForm } from './sign-in-form.tsx';

/** A newcomer's machine: no password has to be looked for. */
function DevelopmentHint() {
  const { isDevelopment } = useServices();
  if (!isDevelopment) return null;
  return (
    <p className="muted">{withNodes('accounts.developmentHint', { link: <a href={devMailPath}>{devMailPath}</a> })}</p>
  );
}

export default function LoginPage() {
  const { session, anonymous } = useServices();
  const { data: registration } = useQuery(registrationQuery(anonymous));
  const [, navigate] = useLocation();
  const params = new URLSearchParams(location.search);
  return (
    <AuthCard
      title={t('accounts.signIn')}
      foot={
        <>
          <Link href="/forgot-password">{t('accounts.forgot')}</Link>
          {registration?.policy !== 'CLOSED' && <Link href="/register">{t('accounts.createAnAccount')}</Link>}
        </>
      }
    >
      <SignInForm
        onDone={(opened) => {
          session.accept(opened);
          navigate(safeNext(params.get('next')), { replace: true });
        }}
      />
      <DevelopmentHint />
    </AuthCard>
  );
}
