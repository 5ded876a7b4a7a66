import { type ReactNode, useEffect, useRef } from 'react';
import { useLocation } from 'wouter';
import { staleAfterMs } from '../data/queries.ts';
import { useIsFed } from '../data/use-changes.ts';
import { t } from '../i18n/t.ts';
import { duration, useNow } from '../kit/time.tsx';

/** The parts of a query that its freshness depends on. */
export interface Refreshed {
  dataUpdatedAt: number;
  isFetching: boolean;
  isError: boolean;
}

interface PageProps {
  title: string;
  /** Beside the title: a state, an id. */
  aside?: ReactNode;
  /** One line under the title. */
  lead?: ReactNode;
  actions?: ReactNode;
  query?: Refreshed;
  children: ReactNode;
}

/** A page's head and body. Moving to another page moves the focus to its title. */
export function Page({ title, aside, lead, actions, query, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const [path] = useLocation();
  useEffect(() => {
    document.title = `${title} · Parley`;
  }, [title]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the path is what moves the focus.
  useEffect(() => {
    if (isFirstPage) isFirstPage = false;
    else heading.current?.focus({ preventScroll: true });
  }, [path]);
  return (
    <div className="page">
      <header className="page-header">
        <div className="page-title">
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {aside}
        </div>
        <div className="page-actions">
          {query && <Freshness query={query} />}
          {actions}
        </div>
        {lead && <p className="page-lead">{lead}</p>}
        {query && <span className="progress-line" data-busy={query.isFetching} aria-hidden="true" />}
      </header>
      {children}
    </div>
  );
}

/** The browser puts the focus itself when the document loads. */
let isFirstPage = true;

function Freshness({ query: { dataUpdatedAt, isError } }: { query: Refreshed }) {
  const now = useNow();
  const isTold = useIsFed();
  if (dataUpdatedAt === 0) return null;
  const age = Math.max(0, now - dataUpdatedAt);
  if (isTold && !isError) {
    return (
      <span className="freshness" title={t('frame.liveHint')}>
        {t('frame.live')}
      </span>
    );
  }
  const isOld = age > staleAfterMs || isError;
  return (
    <span className="freshness" data-old={isOld}>
      {age < 1_000
        ? t(isOld ? 'frame.staleNow' : 'frame.updatedNow')
        : t(isOld ? 'frame.staleAgo' : 'frame.updatedAgo', { duration: duration(age / 1000) })}
    </span>
  );
}
