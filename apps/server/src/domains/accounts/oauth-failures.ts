import { fail } from '@parley/contract';
import * as client from 'openid-client';
import type { Log } from '../../core/log.ts';

/** The provider, or the way to it, is broken: the same sign-in may work later. */
const brokenCodes = new Set([
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_PARSE_ERROR',
  'OAUTH_HTTP_REQUEST_FORBIDDEN',
]);
const brokenErrors = new Set(['server_error', 'temporarily_unavailable', 'invalid_client', 'unauthorized_client']);

const retryAfterSeconds = 5;

/** Says what a failed call to a provider means to the caller; the cause goes to the log only. */
export function failedAt(provider: string, error: unknown, log: Log): never {
  log.warn({ provider, error }, 'sign-in with a provider failed');
  if (isBroken(error)) {
    return fail('SVC_SERVICE_UNAVAILABLE', {
      retryAfterSeconds,
      message: 'The sign-in provider cannot be reached now.',
    });
  }
  return fail('SVC_INVALID_CREDENTIALS', { message: 'The provider did not confirm this sign-in. Start again.' });
}

function isBroken(error: unknown): boolean {
  if (error instanceof client.ResponseBodyError) return error.status >= 500 || brokenErrors.has(error.error);
  if (error instanceof client.ClientError) return brokenCodes.has(error.code ?? '');
  // fetch says TypeError for everything from a refused connection to a name that does not resolve.
  return error instanceof TypeError || error instanceof SyntaxError || error instanceof DOMException;
}
