import { SvcError } from '@parley/client';
import { ApiError } from '@parley/server/call';
import { explain } from '../../data/errors.ts';
import { ErrorNotice } from '../../kit/error-notice.tsx';
import { t } from './texts.ts';

/** Why there is no call, in the SDK's own words: they say what to do. */
export function CallFailure({ error }: { error: unknown }) {
  // A token that could not be minted is a refused call of the API.
  const cause = SvcError.is(error) && error.cause instanceof Error ? error.cause : error;
  if (cause instanceof ApiError || !SvcError.is(error)) return <ErrorNotice failure={explain(cause)} />;
  return (
    <div className="notice" data-tone="bad" role="alert">
      <p className="notice-title">{t('test-call.failed')}</p>
      <p>{error.message}</p>
      <p className="notice-facts">
        <span className="mono">{error.code}</span>
        {error.requestId && <span className="mono">{error.requestId}</span>}
      </p>
    </div>
  );
}
