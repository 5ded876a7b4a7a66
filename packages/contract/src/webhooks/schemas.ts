import { type Static, Type } from 'typebox';
import { Environment } from '../enums.ts';
import { permissions } from '../permissions.ts';
import { Line, Nullable, Strict, Timestamp, Uuid } from '../schema.ts';

/** AUTO_DISABLED: by too many failures in a row. Its deliveries wait until it is enabled again. */
export const WebhookStatus = Type.Enum(['ENABLED', 'DISABLED', 'AUTO_DISABLED']);
export type WebhookStatus = Static<typeof WebhookStatus>;

/** CANCELLED: the endpoint was deleted before the delivery could be made. */
export const DeliveryStatus = Type.Enum(['PENDING', 'RETRYING', 'DELIVERED', 'FAILED', 'CANCELLED']);
export type DeliveryStatus = Static<typeof DeliveryStatus>;

export const Webhook = Type.Object({
  id: Type.String(),
  projectId: Uuid,
  environment: Environment,
  url: Type.String(),
  /** Types it receives; empty means all, including those added later, but for those on request. */
  events: Type.Array(Type.String()),
  status: WebhookStatus,
  consecutiveFailures: Type.Integer(),
  lastDeliveryAt: Nullable(Timestamp),
  lastError: Nullable(Type.String()),
  description: Nullable(Type.String()),
  /** Names of the extra headers; their values are never shown. */
  headerNames: Type.Array(Type.String()),
  /** Last four characters of the signing secret. */
  secretHint: Type.String(),
  /** Until when deliveries carry a second signature made with the former secret. */
  previousSecretExpiresAt: Nullable(Timestamp),
  createdAt: Timestamp,
  updatedAt: Timestamp,
  disabledAt: Nullable(Timestamp),
});
export type Webhook = Static<typeof Webhook>;

/** The answers that show the signing secret: at creation and at rotation. */
export const NewWebhook = Type.Object({ ...Webhook.properties, secret: Type.String() });
export type NewWebhook = Static<typeof NewWebhook>;

const WebhookUrl = Type.String({ minLength: 1, maxLength: 2048 });
const EventList = Type.Array(Type.String({ maxLength: 64 }), { maxItems: 100 });
/** What may be a header is decided in the service, with a reason for each refusal. */
const Headers = Type.Record(Type.String(), Type.String());

export const CreateWebhook = Strict({
  url: WebhookUrl,
  environment: Type.Optional(Environment),
  events: Type.Optional(EventList),
  description: Type.Optional(Line(0, 256)),
  headers: Type.Optional(Headers),
});
export type CreateWebhook = Static<typeof CreateWebhook>;

export const UpdateWebhook = Type.Object({
  url: Type.Optional(WebhookUrl),
  events: Type.Optional(EventList),
  description: Type.Optional(Nullable(Line(0, 256))),
  headers: Type.Optional(Headers),
  enabled: Type.Optional(Type.Boolean()),
});
export type UpdateWebhook = Static<typeof UpdateWebhook>;

export const RotateWebhookSecret = Type.Object({
  /** How long both secrets sign; 0 ends the former one at once. */
  gracePeriodSeconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 604_800 })),
});

export const TestWebhook = Type.Object({ eventType: Type.Optional(Type.String({ maxLength: 64 })) });

export const RecoverWebhook = Type.Object({ since: Timestamp, until: Type.Optional(Timestamp) });
export type RecoverWebhook = Static<typeof RecoverWebhook>;

export const Recovery = Type.Object({
  /** Deliveries queued by this call. */
  queued: Type.Integer(),
  /** False: more events of the range are missing; call again. */
  complete: Type.Boolean(),
});

/** One attempt. `responseExcerpt` is the start of a refusing answer, printable characters only. */
export const DeliveryAttempt = Type.Object({
  number: Type.Integer(),
  at: Timestamp,
  statusCode: Nullable(Type.Integer()),
  error: Nullable(Type.String()),
  durationMs: Type.Integer(),
  responseExcerpt: Nullable(Type.String()),
});
export type DeliveryAttempt = Static<typeof DeliveryAttempt>;

/** Never with the body: the dashboard does not show message content. */
export const Delivery = Type.Object({
  id: Type.String(),
  webhookId: Type.String(),
  eventId: Type.String(),
  eventType: Type.String(),
  status: DeliveryStatus,
  attempts: Type.Integer(),
  maxAttempts: Type.Integer(),
  /** Null when there is none to come, or while the endpoint is disabled. */
  nextAttemptAt: Nullable(Timestamp),
  lastStatusCode: Nullable(Type.Integer()),
  lastError: Nullable(Type.String()),
  lastDurationMs: Nullable(Type.Integer()),
  createdAt: Timestamp,
  deliveredAt: Nullable(Timestamp),
  failedAt: Nullable(Timestamp),
  attemptLog: Type.Array(DeliveryAttempt),
});
export type Delivery = Static<typeof Delivery>;

export const WebhookEventType = Type.Object({
  type: Type.String(),
  /** Version that introduced it. */
  since: Type.String(),
  /** One of the 15 of the specification. */
  core: Type.Boolean(),
  /** Only endpoints that name it get it, and naming it needs this permission; null for those that `all` includes. */
  onRequest: Nullable(Type.Enum(permissions)),
  description: Type.String(),
});
export type WebhookEventType = Static<typeof WebhookEventType>;
