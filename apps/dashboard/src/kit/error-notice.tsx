import type { ReactNode } from 'react';
import type { Explained } from '../data/errors.ts';
import { t } from '../i18n/t.ts';
import { Button } from './button.tsx';
import { RequestId } from './request-id.tsx';

/** A failure in the person's words, with what support needs: the code and the request id. */
export function ErrorNotice({
  failure,
  onRetry,
  children,
}: {
  failure: Explained;
  onRetry?: () => void;
  children?: ReactNode;
}) {
  const { kind, title, message, code, requestId, retryAfterSeconds } = failure;
  return (
    <div
      className="notice"
      data-tone={kind === 'permission' || kind === 'rateLimited' ? 'warn' : 'bad'}
      role="alert"
      tabIndex={-1}
    >
      <p className="notice-title">{title}</p>
      <p>{message}</p>
      {children}
      {(code || requestId) && (
        <p className="notice-facts">
          {code && (
            <a className="mono" href={`/docs/guides/errors/${code}`}>
              {code}
            </a>
          )}
          {requestId && (
            <span className="notice-id">
              <RequestId id={requestId} />
            </span>
          )}
        </p>
      )}
      {onRetry && (
        <p>
          <Button onClick={onRetry} waitSeconds={retryAfterSeconds}>
            {t('kit.tryAgain')}
          </Button>
        </p>
      )}
    </div>
  );
}
