/** Why a connection ended, or why a participant left. */
export type DisconnectReason =
  | 'client'
  | 'token_expired'
  | 'token_revoked'
  | 'room_closed'
  | 'duplicate_identity'
  | 'removed'
  | 'room_full'
  | 'rate_limited'
  | 'node_lost'
  | 'no_media'
  | 'network'
  | 'forbidden'
  | 'protocol';

export type ErrorKind = 'api' | 'rate_limit' | 'connection' | 'media' | 'permission';

export interface ParleyErrorFields {
  code: string;
  message: string;
  retryable?: boolean | undefined;
  requestId?: string | undefined;
  cause?: unknown;
  /** Address of the service, for `docsUrl`. */
  baseUrl?: string | undefined;
}

/** Found by name in the global registry, so that two copies of this package know each other's errors. */
const BRAND = Symbol.for('parley.SvcError');

/** Every error of this SDK. Switch on `code`; `message` names the cause and the next step. */
export class ParleyError extends Error {
  override name = 'ParleyError';
  readonly kind: ErrorKind = 'api';
  readonly code: string;
  /** The same call may succeed later. */
  readonly retryable: boolean;
  readonly requestId: string | undefined;
  readonly docsUrl: string;
  readonly [BRAND] = true;

  constructor({ code, message, retryable = false, requestId, cause, baseUrl = '' }: ParleyErrorFields) {
    super(message, cause ? { cause } : undefined);
    this.code = code;
    this.retryable = retryable;
    this.requestId = requestId;
    this.docsUrl = `${baseUrl}/docs/guides/${code.startsWith('SVC_') ? `errors/${code}` : 'error-codes'}`;
  }

  /** Also true for errors of another copy of this package. */
  static is(value: unknown): value is ParleyError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}

/** The name of earlier versions. */
export const SvcError = ParleyError;
export type SvcError = ParleyError;

/** The service refused a call. */
export class ApiError extends ParleyError {
  override name = 'ApiError';
}

export class PermissionError extends ParleyError {
  override name = 'PermissionError';
  override readonly kind = 'permission';
}

export class RateLimitError extends ParleyError {
  override name = 'RateLimitError';
  override readonly kind = 'rate_limit';
  readonly retryAfterSeconds: number;

  constructor(fields: ParleyErrorFields, retryAfterSeconds: number) {
    super({ ...fields, retryable: true });
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export class ConnectionError extends ParleyError {
  override name = 'ConnectionError';
  override readonly kind = 'connection';
  readonly reason: DisconnectReason;

  constructor(reason: DisconnectReason, fields: Partial<ParleyErrorFields> = {}) {
    const message = MESSAGES[reason] ?? UNREACHABLE;
    super({ code: reason, message, retryable: RETRYABLE.includes(reason), ...fields });
    this.reason = reason;
  }
}

export class MediaError extends ParleyError {
  override name = 'MediaError';
  override readonly kind = 'media';
}

/** Of both sockets; what only a room can say is in signal/. */
const MESSAGES: Partial<Record<DisconnectReason, string>> = {
  client: 'Closed by this client.',
  token_expired: 'The token expired. Pass `token` as a function that fetches a new one.',
  token_revoked: 'The token was revoked. Mint a new one if the user may return.',
  rate_limited: 'Too many connections.',
  forbidden: "Refused. Check the allowed origins and the token's permissions.",
  protocol: 'Client and server do not match.',
};
const UNREACHABLE = 'The server cannot be reached. Check address and network.';
const RETRYABLE: readonly DisconnectReason[] = ['rate_limited', 'node_lost', 'network'];

/** What an error envelope and an `error` frame have in common. */
export interface WireError {
  code?: string;
  svcCode?: string;
  message?: string;
  retryable?: boolean;
  retryAfterSeconds?: number;
  requestId?: string | undefined;
}

/** What to do next, where the server's own sentence does not say it. */
const NEXT_STEPS: Readonly<Record<string, string>> = {
  SVC_NOT_A_MEMBER: 'Add the user from your backend, then join again.',
  SVC_SCOPE_MISSING: 'Mint the token with it, or without `scopes`.',
  SVC_CONVERSATION_ARCHIVED: 'It is read-only.',
  SVC_ORIGIN_NOT_ALLOWED: 'Add it in the dashboard.',
};

const PERMISSION_CODES = /_(NOT_ALLOWED|FORBIDDEN|DENIED|SCOPE_MISSING|NOT_A_MEMBER|BANNED)$/;

/** A refusal of the server as one of our errors. */
export function errorFrom(wire: WireError, baseUrl?: string): ParleyError {
  const code = wire.svcCode ?? wire.code ?? 'SVC_INTERNAL';
  const message = `${wire.message ?? code} ${NEXT_STEPS[code] ?? ''}`.trim();
  const fields = { code, message, retryable: wire.retryable, requestId: wire.requestId, baseUrl };
  if (wire.retryAfterSeconds !== undefined && /RATE_LIMITED|SLOW_MODE/.test(code))
    return new RateLimitError(fields, wire.retryAfterSeconds);
  return PERMISSION_CODES.test(code) ? new PermissionError(fields) : new ApiError(fields);
}

/** Whatever was thrown, as an error of ours. */
export const asSvcError = (error: unknown): ParleyError =>
  ParleyError.is(error) ? error : new ParleyError({ code: 'unexpected', message: String(error), cause: error });
