import { useQuery } from '@tanstack/react-query';
import { Link, useLocation } from 'wouter';
import { useServices } from '../data/services.tsx';
import { safeNext } from '../frame/url.ts';
import { AuthCard } from './auth-card.tsx';
import { registrationQuery } from './registration-query.ts';
import { SignInForm } from './sign-in-form.tsx';

/** A newcomer's machine: no password has to be looked for. */
function DevelopmentHint() {
  const { isDevelopment } = useServices();
  if (!isDevelopment) return null;
  return (
    <p className="muted">
      Development mode: the terminal prints a link that signs you in. Mail is at <a href="/dev/mail">/dev/mail</a>.
    </p>
  );
}

export default function LoginPage() {
  const { session, anonymous } = useServices();
  const { data: registration } = useQuery(registrationQuery(anonymous));
  const [, navigate] = useLocation();
  const params = new URLSearchParams(location.search);
  return (
    <AuthCard
      title="Sign in"
      foot={
        <>
          <Link href="/forgot-password">Forgot your password?</Link>
          {registration?.policy !== 'CLOSED' && <Link href="/register">Create an account</Link>}
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
