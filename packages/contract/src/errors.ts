import { type Static, type TObject, type TProperties, Type } from 'typebox';
import { FactorChallenge } from './accounts/factor-schemas.ts';

/** One row per error code: everything about it stands here and nowhere else. */
export interface ErrorRow {
  status: number;
  legacy: string;
  message: string;
  /** What the envelope carries beside the common fields; `fail` asks for them. */
  fields?: TProperties;
  /** The same call may succeed later. */
  isRetryable?: boolean;
}

/** One thing wrong with one field of the request. */
export const ErrorDetail = Type.Object({ field: Type.String(), rule: Type.String(), message: Type.String() });
export type ErrorDetail = Static<typeof ErrorDetail>;

const retryAfterSeconds = Type.Integer({ minimum: 1 });
const withDetails = { details: Type.Array(ErrorDetail) };
const withSize = { limit: Type.Integer(), actual: Type.Integer() };
const withWait = { retryAfterSeconds };
/** Until when, null for good; why; where, null for the whole environment. */
const withSanction = {
  until: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
  reason: Type.Union([Type.String(), Type.Null()]),
  conversationId: Type.Union([Type.String(), Type.Null()]),
};

const badRequest = (message: string) => ({ status: 400, legacy: 'BAD_REQUEST', message });
const invalid = (message: string) => ({ status: 400, legacy: 'VALIDATION_ERROR', message });
const unauthorized = (message: string) => ({ status: 401, legacy: 'UNAUTHORIZED', message });
const forbidden = (message: string) => ({ status: 403, legacy: 'FORBIDDEN', message });
const notFound = (message: string) => ({ status: 404, legacy: 'NOT_FOUND', message });
const conflict = (message: string) => ({ status: 409, legacy: 'CONFLICT', message });
const tooLarge = (message: string) => ({ status: 413, legacy: 'PAYLOAD_TOO_LARGE', message });
const tooMany = (message: string) => ({
  status: 429,
  legacy: 'RATE_LIMITED',
  message,
  isRetryable: true,
  fields: withWait,
});
const unavailable = (status: 502 | 503 | 504, message: string) => ({
  status,
  legacy: 'SERVICE_UNAVAILABLE',
  message,
  isRetryable: true,
  fields: withWait,
});

export const errors = {
  SVC_BAD_REQUEST: badRequest('The request could not be understood.'),
  SVC_INVALID_JSON: badRequest('The body is not valid JSON.'),
  SVC_INVALID_CURSOR: badRequest('The cursor cannot be read. Start again without one.'),
  SVC_INVALID_IDEMPOTENCY_KEY: badRequest('Idempotency-Key must be 1 to 255 printable ASCII characters.'),
  SVC_INVALID_ENVIRONMENT: badRequest('environment must be DEVELOPMENT or PRODUCTION.'),
  SVC_USER_REQUIRED: badRequest('An API key acts for a user here: give userId.'),
  SVC_UNKNOWN_FRAME: badRequest('There is no frame of this type.'),

  SVC_VALIDATION_FAILED: { ...invalid('The request is not valid.'), fields: withDetails },
  SVC_UNKNOWN_FIELD: { ...invalid('The body has a field that is not known.'), fields: withDetails },
  SVC_INVALID_ACTION_FILTER: invalid('action is not one of the recorded actions.'),
  SVC_INVALID_EVENT_TYPE: invalid('That event type does not exist. GET /v1/webhook-event-types lists them.'),
  SVC_INVALID_SCOPE: invalid('That chat scope does not exist.'),
  SVC_TEXT_TOO_LONG: { ...invalid('The message text is too long.'), fields: withSize },
  SVC_METADATA_TOO_LARGE: { ...invalid('metadata is too large.'), fields: withSize },
  SVC_INVALID_TTL: invalid('ttlSeconds is out of range.'),
  SVC_INVALID_WEBHOOK_URL: invalid('This URL cannot receive webhooks.'),
  SVC_INVALID_REPLY_TARGET: invalid('replyTo is not a message of this conversation.'),
  SVC_INVALID_EMOJI: invalid('emoji must be an emoji or a short name of 1 to 64 characters.'),
  SVC_INVALID_TOKEN_LINK: invalid('This link is not valid any more. Ask for a new one.'),
  SVC_CHALLENGE_EXPIRED: invalid('This took too long, or was used already. Start again.'),
  SVC_PASSWORD_TOO_COMMON: invalid('This password is among the first that attackers try. Choose another.'),

  SVC_UNAUTHENTICATED: unauthorized('Send a credential: Authorization: Bearer <credential>.'),
  SVC_INVALID_API_KEY: unauthorized('This API key is not valid.'),
  SVC_API_KEY_REVOKED: unauthorized('This API key was revoked.'),
  SVC_API_KEY_EXPIRED: unauthorized('This API key has expired.'),
  SVC_INVALID_TOKEN: unauthorized('This token is not valid.'),
  SVC_TOKEN_EXPIRED: unauthorized('This token has expired. Mint a new one.'),
  SVC_TOKEN_LIFETIME: unauthorized('This token was signed for a shorter or longer life than tokens may have.'),
  SVC_TOKEN_REVOKED: unauthorized('This token was revoked.'),
  SVC_INVALID_CREDENTIALS: unauthorized('E-mail or password is wrong.'),
  SVC_SESSION_EXPIRED: unauthorized('This session has ended. Sign in again.'),
  SVC_INVALID_SFU_SECRET: unauthorized('The SFU registration secret is wrong.'),

  SVC_FORBIDDEN: forbidden('This is not allowed.'),
  SVC_PERMISSION_DENIED: {
    ...forbidden(
      'Your role does not have the permission this needs. An owner or admin of the project can change your role.',
    ),
    fields: { permission: Type.String() },
  },
  SVC_SCOPE_MISSING: { ...forbidden('This chat token lacks the scope this needs.'), fields: { scope: Type.String() } },
  SVC_NOT_A_MEMBER: forbidden('The user is not a member of this conversation.'),
  SVC_ORIGIN_NOT_ALLOWED: forbidden("This browser origin is not on the project's list of allowed origins."),
  SVC_NETWORK_NOT_ALLOWED: forbidden('This API key may not be used from this network.'),
  SVC_WRONG_CREDENTIAL_TYPE: forbidden('This kind of credential is not accepted here.'),
  SVC_ENVIRONMENT_MISMATCH: forbidden('The credential belongs to the other environment.'),
  SVC_MESSAGE_TYPE_FORBIDDEN: forbidden('Only a server may send this type of message.'),
  SVC_EMAIL_NOT_VERIFIED: forbidden('Verify the e-mail address first: follow the link that was mailed to it.'),
  SVC_REGISTRATION_CLOSED: forbidden('This instance takes no new accounts. Ask its operator for one.'),
  SVC_EMAIL_DOMAIN_NOT_ALLOWED: forbidden('This instance takes accounts of certain e-mail domains only.'),
  SVC_SECOND_FACTOR_REQUIRED: {
    ...forbidden('This account has a second factor: end the sign-in with it.'),
    fields: FactorChallenge.properties,
  },
  SVC_INVALID_SECOND_FACTOR: forbidden('This code or passkey is not right, or was used already.'),
  SVC_STEP_UP_REQUIRED: forbidden('Prove again that it is you: this needs a proof from the last ten minutes.'),
  SVC_PROJECT_REQUIRES_SECOND_FACTOR: forbidden(
    'This project is open only to sessions with a second factor. Set one up in your account and prove it.',
  ),
  SVC_WRONG_PASSWORD: forbidden('The current password is wrong. An account without one gets it by a password reset.'),
  SVC_PUBLISH_NOT_ALLOWED: forbidden(
    'This RTC token does not allow publishing. Mint it with permissions: { publish: true }.',
  ),
  SVC_SUBSCRIBE_NOT_ALLOWED: forbidden('This RTC token does not allow subscribing.'),
  SVC_DATA_NOT_ALLOWED: forbidden(
    'This RTC token does not allow data messages. Mint it with permissions: { publishData: true }.',
  ),
  SVC_METADATA_NOT_ALLOWED: forbidden(
    'This RTC token does not allow changing metadata. Mint it with permissions: { updateMetadata: true }.',
  ),
  SVC_JOIN_NOT_ALLOWED: forbidden('This RTC token does not allow joining.'),
  SVC_USER_BANNED: forbidden('The user is banned.'),
  SVC_CHAT_BANNED: { ...forbidden('The user is banned from this conversation, or from chat.'), fields: withSanction },
  SVC_CHAT_MUTED: { ...forbidden('The user is muted in this conversation, or in chat.'), fields: withSanction },
  SVC_CHAT_BLOCKED: forbidden('Messages between these two users are not possible.'),
  SVC_QUOTA_EXCEEDED: {
    ...forbidden('A quota is used up.'),
    fields: {
      quota: Type.Optional(Type.String()),
      limit: Type.Optional(Type.Number()),
      limitMinutes: Type.Optional(Type.Number()),
      usedMinutes: Type.Optional(Type.Number()),
    },
  },

  SVC_NOT_FOUND: notFound('There is no such route.'),
  SVC_ROOM_NOT_FOUND: notFound('Room not found.'),
  SVC_TOKEN_NOT_FOUND: notFound('Token not found.'),
  SVC_PARTICIPANT_NOT_FOUND: notFound('Participant not found.'),
  SVC_TRACK_NOT_FOUND: notFound('Track not found.'),
  SVC_SERVER_NOT_FOUND: notFound('Media server not found. A node that gets this registers again.'),
  SVC_CONVERSATION_NOT_FOUND: notFound('Conversation not found.'),
  SVC_MEMBER_NOT_FOUND: notFound('Member not found.'),
  SVC_MESSAGE_NOT_FOUND: notFound('Message not found.'),
  SVC_DELETION_NOT_FOUND: notFound('Deletion not found.'),
  SVC_HOOK_NOT_FOUND: notFound('There is no such hook.'),
  SVC_REPORT_NOT_FOUND: notFound('Report not found.'),
  SVC_DRAFT_NOT_FOUND: notFound('There is no draft.'),
  SVC_SCHEDULED_NOT_FOUND: notFound('Scheduled message not found.'),
  SVC_POLL_NOT_FOUND: notFound('This message has no poll.'),
  SVC_REACTION_NOT_FOUND: notFound('Reaction not found.'),
  SVC_ATTACHMENT_NOT_FOUND: notFound('Attachment not found.'),
  SVC_STREAM_NOT_FOUND: notFound('Live stream not found.'),
  SVC_HOST_NOT_FOUND: notFound('Host not found.'),
  SVC_CONNECTION_NOT_FOUND: notFound('Connection not found.'),
  SVC_CALL_NOT_FOUND: notFound('Call not found.'),
  SVC_REQUEST_NOT_FOUND: notFound('Request not found.'),
  SVC_ERROR_NOT_FOUND: notFound('Error not found.'),
  SVC_PROJECT_NOT_FOUND: notFound('Project not found.'),
  SVC_API_KEY_NOT_FOUND: notFound('API key not found.'),
  SVC_SIGNING_KEY_NOT_FOUND: notFound('Signing key not found.'),
  SVC_SESSION_NOT_FOUND: notFound('Session not found.'),
  SVC_WEBHOOK_NOT_FOUND: notFound('Webhook not found.'),
  SVC_DELIVERY_NOT_FOUND: notFound('Delivery not found.'),
  SVC_DEVICE_NOT_FOUND: notFound('There is no such device of this user.'),
  SVC_ALERT_NOT_FOUND: notFound('Alert not found.'),
  SVC_DATA_JOB_NOT_FOUND: notFound('Data job not found.'),
  SVC_USER_NOT_FOUND: notFound('User not found.'),
  SVC_FACTOR_NOT_FOUND: notFound('The account has no such factor.'),
  SVC_PROVIDER_NOT_FOUND: notFound('This sign-in provider is not configured.'),

  SVC_METHOD_NOT_ALLOWED: {
    status: 405,
    legacy: 'METHOD_NOT_ALLOWED',
    message: 'This path does not take that method.',
  },

  SVC_REPORT_RESOLVED: conflict('The report was resolved already.'),
  SVC_ROOM_NAME_TAKEN: conflict('An open room with this name exists.'),
  SVC_CONVERSATION_NAME_TAKEN: conflict('A conversation with this name exists.'),
  SVC_ROOM_ALREADY_ATTACHED: conflict('This room already has a conversation.'),
  SVC_ROOM_CLOSED: conflict('This room is closed.'),
  SVC_ROOM_FULL: conflict('This room is full.'),
  SVC_CONVERSATION_ARCHIVED: conflict('This conversation is archived.'),
  SVC_DIRECT_MEMBERS_FIXED: conflict('A direct conversation is of the people it was opened for.'),
  SVC_MESSAGE_DELETED: conflict('This message was deleted.'),
  SVC_PIN_LIMIT: conflict('This conversation has as many pinned messages as it can hold.'),
  SVC_POLL_CLOSED: conflict('This poll is closed.'),
  SVC_REACTION_LIMIT: conflict('This message has as many reactions as it can hold.'),
  SVC_ATTACHMENT_NOT_UPLOADED: conflict('Nothing was uploaded for this attachment yet.'),
  SVC_ATTACHMENT_NOT_READY: conflict('Complete the attachment before sending it.'),
  SVC_ATTACHMENT_ALREADY_USED: conflict('This attachment belongs to another message.'),
  SVC_ATTACHMENT_NOT_SCANNED: conflict('This attachment waits for its scan.'),
  SVC_ATTACHMENT_REJECTED: conflict('The scan of this attachment found something.'),
  SVC_ATTACHMENT_SIZE_MISMATCH: conflict('The uploaded bytes differ from the declared size.'),
  SVC_INVALID_STATE_TRANSITION: {
    ...conflict('The state does not allow this.'),
    fields: { from: Type.String(), to: Type.String() },
  },
  SVC_STREAM_ENDED: conflict('This stream has ended.'),
  SVC_STREAM_NOT_LIVE: conflict('This stream is not live.'),
  SVC_HOST_NOT_REMOVABLE: conflict('The host of a stream cannot be removed, only co-hosts.'),
  SVC_HOST_EXISTS: conflict('This stream has a host with another identity, or the identity is a host.'),
  SVC_FACTOR_EXISTS: conflict('The account has this factor already, or as many as it can have.'),
  SVC_EMAIL_TAKEN: conflict('This e-mail address is taken.'),
  SVC_SERVER_NAME_TAKEN: conflict('A live media server at another address has this name.'),
  SVC_LAST_OWNER: conflict('A project keeps at least one owner.'),
  SVC_PROJECT_ARCHIVED: conflict('This project is archived.'),
  SVC_WEBHOOK_DISABLED: conflict('This webhook is disabled.'),
  SVC_DUPLICATE_IDENTITY: conflict('Another participant has this identity.'),
  SVC_SUBSCRIPTION_LIMIT: conflict('This connection cannot subscribe to more conversations.'),
  SVC_IDEMPOTENCY_IN_PROGRESS: {
    ...conflict('A request with this Idempotency-Key is still running.'),
    isRetryable: true,
  },

  SVC_PAYLOAD_TOO_LARGE: {
    ...tooLarge('The body is too large.'),
    // A body in chunks does not say how long it would have been.
    fields: { limit: Type.Integer(), actual: Type.Optional(Type.Integer()) },
  },
  SVC_ATTACHMENT_TOO_LARGE: { ...tooLarge('The attachment is too large.'), fields: withSize },
  SVC_FRAME_TOO_LARGE: { ...tooLarge('The frame is too large.'), fields: { limit: Type.Integer() } },
  SVC_URI_TOO_LONG: { status: 414, legacy: 'BAD_REQUEST', message: 'The address is too long.' },
  SVC_UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    legacy: 'UNSUPPORTED_MEDIA_TYPE',
    message: 'Send the body as application/json.',
  },
  SVC_IDEMPOTENCY_MISMATCH: {
    status: 422,
    legacy: 'UNPROCESSABLE',
    message: 'This Idempotency-Key was used with another body.',
  },
  SVC_ICE_RESTART_UNSUPPORTED: {
    status: 422,
    legacy: 'UNPROCESSABLE',
    message: 'A plain WebRTC session cannot restart ICE: end it and send a new offer.',
  },
  SVC_MESSAGE_REJECTED: {
    status: 422,
    legacy: 'UNPROCESSABLE',
    message: 'The message was rejected.',
    fields: {
      /** Which rule of the environment it broke. */
      by: Type.Enum(['words', 'links', 'hook']),
      reason: Type.Union([Type.String(), Type.Null()]),
    },
  },
  SVC_RATE_LIMITED: tooMany('Too many requests. Try again later.'),
  SVC_SLOW_MODE: tooMany('This conversation is in slow mode.'),
  SVC_HEADERS_TOO_LARGE: { status: 431, legacy: 'BAD_REQUEST', message: 'The headers are too large.' },

  SVC_INTERNAL: {
    status: 500,
    legacy: 'INTERNAL_ERROR',
    message: 'Something went wrong on our side. Quote the request id.',
    isRetryable: true,
  },
  SVC_FEATURE_DISABLED: {
    status: 501,
    legacy: 'NOT_IMPLEMENTED',
    message: 'This feature is switched off on this instance.',
  },
  SVC_MAIL_NOT_CONFIGURED: {
    status: 501,
    legacy: 'NOT_IMPLEMENTED',
    message:
      'This instance sends no mail, which this needs. Its operator sets SMTP_URL; the first account is made by the link that the server prints at its start.',
  },
  SVC_MEDIA_ERROR: unavailable(502, 'The media server could not do this.'),
  SVC_NO_MEDIA_SERVER: unavailable(503, 'No media server can take this room now.'),
  SVC_MEDIA_UNAVAILABLE: unavailable(503, 'The media server of this room cannot be reached.'),
  SVC_STORAGE_UNAVAILABLE: unavailable(503, 'File storage cannot be reached.'),
  SVC_DRAINING: unavailable(503, 'This server is shutting down. Try again.'),
  SVC_SERVICE_UNAVAILABLE: unavailable(503, 'The service cannot answer now. Try again.'),
  SVC_MEDIA_TIMEOUT: unavailable(504, 'The media server did not answer in time.'),
} satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof errors;

export const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(errors, code);

type RowFields<C extends ErrorCode> = (typeof errors)[C] extends { fields: infer F extends TProperties }
  ? Static<TObject<F>>
  : never;

/** What `fail(code, …)` needs: the row's fields, where it has any, and a sharper message where one helps. */
export type FailArguments<C extends ErrorCode> = [RowFields<C>] extends [never]
  ? [fields?: { message?: string }]
  : [fields: RowFields<C> & { message?: string }];

/** A promise of the contract that could not be kept, by its code. Everything else that is thrown is a bug. */
export class ServiceError extends Error {
  override name = 'ServiceError';
  readonly code: ErrorCode;
  readonly fields: Readonly<Record<string, unknown>>;

  constructor(code: ErrorCode, fields: Record<string, unknown> & { message?: string } = {}) {
    const { message, ...rest } = fields;
    super(message ?? errors[code].message);
    this.code = code;
    this.fields = rest;
  }
}

/** Throws the row: `fail('SVC_RATE_LIMITED', { retryAfterSeconds: 12 })` does not compile without its fields. */
export function fail<C extends ErrorCode>(code: C, ...[fields]: FailArguments<C>): never {
  throw new ServiceError(code, fields);
}

export const isServiceError = (error: unknown, code?: ErrorCode): error is ServiceError =>
  error instanceof ServiceError && (code === undefined || error.code === code);

/** The body of every error. */
export const ErrorEnvelope = Type.Object({
  code: Type.String(),
  legacyCode: Type.String(),
  message: Type.String(),
  requestId: Type.String(),
  path: Type.String(),
  details: Type.Optional(Type.Array(ErrorDetail)),
  retryAfterSeconds: Type.Optional(retryAfterSeconds),
});
export type ErrorEnvelope = Static<typeof ErrorEnvelope>;
