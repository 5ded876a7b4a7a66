import { type ErrorCode, type ErrorEnvelope, errors, ServiceError } from '@parley/contract';
import { toServiceError } from '../core/faults.ts';
import { ReplayedRefusal, replayedHeader } from './idempotency.ts';

/** Everything a client may see of an error. */
interface ErrorAnswer {
  status: number;
  headers: Record<string, string>;
  body: ErrorEnvelope & { code: ErrorCode } & Record<string, unknown>;
  /** What was thrown is not in the contract: a bug, to be logged. */
  isBug: boolean;
}

/** Errors that Fastify raises itself, by its code. */
const frameworkCodes: Readonly<Record<string, ErrorCode>> = {
  FST_ERR_BAD_URL: 'SVC_BAD_REQUEST',
  // No id is that long.
  FST_ERR_MAX_PARAM_LENGTH: 'SVC_NOT_FOUND',
  FST_ERR_ROUTE_MISSING_HANDLER: 'SVC_NOT_FOUND',
  FST_ERR_CTP_INVALID_MEDIA_TYPE: 'SVC_UNSUPPORTED_MEDIA_TYPE',
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: 'SVC_BAD_REQUEST',
  FST_ERR_ASYNC_CONSTRAINT: 'SVC_BAD_REQUEST',
};

/** Turns anything thrown into the envelope. An unknown error never shows its own message. */
export function toErrorAnswer(thrown: unknown, requestId: string, path: string): ErrorAnswer {
  const frameworkCode = frameworkCodes[codeOf(thrown)];
  const error = frameworkCode ? new ServiceError(frameworkCode) : toServiceError(thrown);
  const row = errors[error.code];
  const headers: Record<string, string> = thrown instanceof ReplayedRefusal ? { ...replayedHeader } : {};
  const wait = error.fields['retryAfterSeconds'];
  if (typeof wait === 'number') headers['retry-after'] = String(wait);
  // RFC 9110 15.5.2: a 401 says how to authenticate.
  if (row.status === 401) headers['www-authenticate'] = 'Bearer';
  return {
    status: row.status,
    headers,
    body: { code: error.code, legacyCode: row.legacy, message: error.message, requestId, path, ...error.fields },
    isBug: error.code === 'SVC_INTERNAL',
  };
}

const codeOf = (thrown: unknown): string =>
  typeof thrown === 'object' && thrown !== null && 'code' in thrown ? String(thrown.code) : '';
