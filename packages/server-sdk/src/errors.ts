import type { ErrorEnvelope } from '@parley/contract/types.gen';

export type ErrorKind = 'api' | 'rate_limit' | 'permission' | 'connection';

/** Found by name in the global registry, so that two copies of this package, and the client SDK, know each other's. */
const BRAND = Symbol.for('parley.SvcError');

/** Every error of this SDK. Switch on `code`; `message` names the cause and the next step. No secret is ever in one. */
export class ParleyError extends Error {
  override name = 'ParleyError';
  readonly kind: ErrorKind = 'api';
  readonly code: string;
  /** The same call may succeed later. */
  readonly retryable: boolean;
  /** Of the answer, else the one that was sent along: both are in the service's logs. */
  readonly requestId: string;
  readonly docsUrl: string;
  readonly [BRAND] = true;

  constructor(fields: {
    code: string;
    message: string;
    retryable?: boolean;
    requestId?: string;
    baseUrl?: string;
    cause?: unknown;
  }) {
    super(fields.message, fields.cause === undefined ? undefined : { cause: fields.cause });
    this.code = fields.code;
    this.retryable = fields.retryable ?? false;
    this.requestId = fields.requestId ?? '';
    this.docsUrl = `${fields.baseUrl ?? ''}/docs/guides/${fields.code.startsWith('SVC_') ? `errors/${fields.code}` : 'error-codes'}`;
  }

  /** Also true for errors of another copy of this package. */
  static is(value: unknown): value is ParleyError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}

export const isParleyError = ParleyError.is;

/** The name of earlier versions. */
export const SvcError = ParleyError;
export type SvcError = ParleyError;
export const isSvcError = isParleyError;

/** The service answered with an error. */
export class ApiError extends ParleyError {
  override name = 'ApiError';
  readonly status: number;
  readonly body: ErrorEnvelope;
  readonly headers: Headers;

  constructor(status: number, body: ErrorEnvelope, headers: Headers, baseUrl = '') {
    const retryable = status === 429 || status >= 500 || body.code === 'SVC_IDEMPOTENCY_IN_PROGRESS';
    super({ code: body.code, message: body.message, requestId: body.requestId, retryable, baseUrl });
    this.status = status;
    this.body = body;
    this.headers = headers;
  }

  /** When the service wants to be asked again; null when it did not say. */
  get retryAfterSeconds(): number | null {
    const header = Number(this.headers.get('retry-after') ?? Number.NaN);
    return this.body.retryAfterSeconds ?? (Number.isFinite(header) ? header : null);
  }
}

export class RateLimitError extends ApiError {
  override name = 'RateLimitError';
  override readonly kind = 'rate_limit';
}

/** 401 and 403: another key, or another permission, is needed. */
export class PermissionError extends ApiError {
  override name = 'PermissionError';
  override readonly kind = 'permission';
}

/** No answer came, or none that could be read. */
export class ConnectionError extends ParleyError {
  override name = 'ConnectionError';
  override readonly kind = 'connection';
}

/** The answer as an error; a proxy's page in place of our envelope still becomes one. */
export function errorOf(
  status: number,
  text: string,
  headers: Headers,
  baseUrl: string,
  /** Of the request, for an answer that names none. */
  requestId = '',
): ApiError {
  const given = parseObject(text);
  const body: ErrorEnvelope = {
    code: 'SVC_UNREADABLE_ANSWER',
    legacyCode: 'INTERNAL_ERROR',
    message: `The answer ${status} does not come from the service: something between it and here gave it.`,
    requestId: headers.get('x-request-id') ?? requestId,
    path: '',
    ...(typeof given?.['code'] === 'string' ? given : {}),
  };
  const Kind = status === 429 ? RateLimitError : status === 401 || status === 403 ? PermissionError : ApiError;
  return new Kind(status, body, headers, baseUrl);
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
