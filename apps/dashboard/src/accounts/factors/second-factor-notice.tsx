import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { Explained } from '../../data/errors.ts';
import { useApi, useServices } from '../../data/services.tsx';
import { useAction } from '../../data/use-action.ts';
import { t, withNodes } from '../../i18n/t.ts';
import { Button } from '../../kit/button.tsx';
import { ErrorNotice } from '../../kit/error-notice.tsx';
import { factorsQuery, hasFactor } from './factors-query.ts';

/** In the place of a project that is open only with a second factor: what to do. */
export function SecondFactorNotice({ failure, onRetry }: { failure: Explained; onRetry: () => void }) {
  const api = useApi();
  const { proofs } = useServices();
  const { data: factors } = useQuery(factorsQuery(api));
  const prove = useAction(() => proofs.stepUp(api), { onDone: onRetry });
  return (
    <ErrorNotice failure={failure}>
      {factors && hasFactor(factors) ? (
        <p>
          <Button isBusy={prove.isBusy} onClick={() => void prove.run(undefined)}>
            {t('accounts.useSecondFactor')}
          </Button>
        </p>
      ) : (
        <p>{withNodes('accounts.setUpFirst', { link: <Link href="/account">{t('accounts.setUpInAccount')}</Link> })}</p>
      )}
    </ErrorNotice>
  );
}
