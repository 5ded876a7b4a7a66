import { Component, type ReactNode } from 'react';
import { t } from '../i18n/t.ts';
import { Button } from '../kit/button.tsx';

/** What a part of a page says when it was asked of a server that has another version by now. */
const isMissingPart = (error: unknown): boolean =>
  error instanceof Error && /dynamically imported module|module script|preload/i.test(error.message);

/** A page that cannot be shown says so and offers to load anew; the frame around it stays. */
export class PageBoundary extends Component<{ children: ReactNode }, { error: unknown }> {
  override state = { error: null as unknown };

  static getDerivedStateFromError(error: unknown): { error: unknown } {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === null) return this.props.children;
    return (
      <div className="notice" data-tone="bad" role="alert">
        <p className="notice-title">{t('frame.pageFailed')}</p>
        <p>{isMissingPart(error) ? t('frame.pagePartMissing') : t('frame.pageBroke')}</p>
        <Button onClick={() => location.reload()}>{t('frame.reload')}</Button>
      </div>
    );
  }
}
