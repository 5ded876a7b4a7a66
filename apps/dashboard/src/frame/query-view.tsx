import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { SecondFactorNotice } from '../accounts/factors/second-factor-notice.tsx';
import { explain } from '../data/errors.ts';
import { t, withNodes } from '../i18n/t.ts';
import { ErrorNotice } from '../kit/error-notice.tsx';
import { SkeletonLines } from '../kit/skeleton.tsx';

interface Queried<T> {
  data: T | undefined;
  error: unknown;
  refetch: () => unknown;
}

/** What a query has to show: its data, a skeleton, or why there is none. Old data stays while a refresh fails. */
export function QueryView<T>({
  query,
  children,
  skeleton = <SkeletonLines />,
}: {
  query: Queried<T>;
  children: (data: T) => ReactNode;
  skeleton?: ReactNode;
}) {
  const { data, error } = query;
  if (data === undefined && !error) return skeleton;
  return (
    <>
      {error !== null && error !== undefined && <Failure error={error} onRetry={() => void query.refetch()} />}
      {data !== undefined && children(data)}
    </>
  );
}

/** A failed read, in the form its cause asks for. */
export function Failure({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const failure = explain(error);
  if (failure.code === 'SVC_PROJECT_REQUIRES_SECOND_FACTOR')
    return <SecondFactorNotice failure={failure} onRetry={onRetry} />;
  if (failure.kind === 'permission') {
    return (
      <ErrorNotice failure={failure}>
        <p>
          {failure.permission ? (
            <>
              {withNodes('frame.needsPermission', {
                permission: <span className="mono">{failure.permission}</span>,
              })}{' '}
            </>
          ) : null}
          {t('frame.askOwner')}
        </p>
      </ErrorNotice>
    );
  }
  if (failure.kind === 'notFound') {
    return (
      <ErrorNotice failure={failure}>
        <p>
          {t('frame.maybeRemoved')} <Link href="/projects">{t('frame.allProjects')}</Link>
        </p>
      </ErrorNotice>
    );
  }
  return <ErrorNotice failure={failure} onRetry={onRetry} />;
}
