import { type ReactNode, useEffect, useState } from 'react';
import { t } from '../i18n/t.ts';

const delayMs = 150;

/** Shown only when the wait is long enough to be noticed: a quick answer does not flicker. */
export function Delayed({ children }: { children: ReactNode }) {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), delayMs);
    return () => clearTimeout(timer);
  }, []);
  return isLate ? children : null;
}

export function SkeletonLines({ count = 4 }: { count?: number }) {
  return (
    <Delayed>
      <div className="skeleton-lines" aria-busy="true">
        <span className="visually-hidden">{t('kit.loading')}</span>
        {Array.from({ length: count }, (_, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines are all alike.
          <span key={index} className="skeleton" />
        ))}
      </div>
    </Delayed>
  );
}
