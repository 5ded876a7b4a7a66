import type { ReactNode } from 'react';
import { t } from '../i18n/t.ts';

export function EmptyState({ title, children, action }: { title: string; children?: ReactNode; action?: ReactNode }) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children}
      {action && <div className="empty-action">{action}</div>}
    </div>
  );
}

/** An unknown value says so; it is never 0 and never a dash. */
export const NoData = () => <span className="no-data">{t('kit.noData')}</span>;
