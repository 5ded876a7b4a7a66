import { useEffect, useRef } from 'react';
import { Link, useLocation } from 'wouter';
import { useServices } from '../data/services.tsx';
import { useAction } from '../data/use-action.ts';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { AuthCard } from './auth-card.tsx';
import { takeToken } from './link-token.ts';

/** The link of the verification mail: proves the address and signs in. */
export default function VerifyPage() {
  const { anonymous, session } = useServices();
  const [, navigate] = useLocation();
  const isStarted = useRef(false);
  const verify = useAction((token: string) => anonymous.call('verifyEmail', { body: { token } }), {
    onDone: (opened) => {
      session.accept(opened);
      navigate('/', { replace: true });
    },
  });
  useEffect(() => {
    // The link works once: it must not be used twice when the page is drawn twice.
    if (isStarted.current) return;
    isStarted.current = true;
    void verify.run(takeToken());
  });
  return (
    <AuthCard title="Confirm your e-mail address" foot={<Link href="/login">Back to sign in</Link>}>
      {verify.isBusy && <p role="status">One moment.</p>}
      {verify.failure && (
        <ErrorNotice failure={verify.failure}>
          <p>Sign in to have a new link sent.</p>
        </ErrorNotice>
      )}
    </AuthCard>
  );
}
