import { useEffect, useRef } from 'react';
import { Link, useLocation, useParams } from 'wouter';
import { useServices } from '../data/services.tsx';
import { useAction } from '../data/use-action.ts';
import { t } from '../i18n/t.ts';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { AuthCard } from './auth-card.tsx';
import { oauthReturn } from './oauth-return.ts';

/** The provider's answer, traded for a session. */
export default function OAuthPage() {
  const { provider = '' } = useParams<{ provider: string }>();
  const { anonymous, session } = useServices();
  const [, navigate] = useLocation();
  const isStarted = useRef(false);
  const params = new URLSearchParams(location.search);
  const refusal = params.get('error');
  const exchange = useAction(
    () =>
      anonymous.call('exchangeOAuth', {
        provider,
        body: {
          code: params.get('code') ?? '',
          state: params.get('state') ?? '',
          redirectUri: oauthReturn.addressFor(provider),
          ...(params.has('iss') ? { iss: params.get('iss') ?? '' } : {}),
        },
      }),
    {
      onDone: (opened) => {
        session.accept(opened);
        navigate(oauthReturn.recall(), { replace: true });
      },
    },
  );

  useEffect(() => {
    // A code works once: it must not be sent twice when the page is drawn twice.
    if (isStarted.current || refusal !== null) return;
    isStarted.current = true;
    void exchange.run(undefined);
  });

  return (
    <AuthCard title={t('accounts.signingIn')} foot={<Link href="/login">{t('accounts.backToSignIn')}</Link>}>
      {refusal !== null && <p role="alert">{t('accounts.providerRefused')}</p>}
      {exchange.failure && <ErrorNotice failure={exchange.failure} />}
      {exchange.isBusy && <p role="status">{t('accounts.oneMoment')}</p>}
    </AuthCard>
  );
}
