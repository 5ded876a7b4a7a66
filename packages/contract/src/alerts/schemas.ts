import { type Static, Type } from 'typebox';
import { Environment } from '../enums.ts';
import { Line, Nullable, PageQuery, Strict, Timestamp, Uuid } from '../schema.ts';
import { UsageMeter } from '../usage/meters.ts';

/** What an alert can be about. Fields that its row does not take are refused; a bound without a default has to be given. */
export const alertKinds = {
  JOIN_SUCCESS_BELOW: { bound: 95, boundMax: 100, takes: ['bound', 'windowMinutes'] },
  WEBHOOK_FAILING: { bound: 5, boundMax: 1_000, takes: ['bound', 'target'] },
  NODE_OFFLINE: { bound: null, boundMax: 0, takes: ['target'] },
  USAGE_ABOVE: { bound: null, boundMax: 1e15, takes: ['bound', 'meter', 'period'] },
} as const;
export type AlertKindName = keyof typeof alertKinds;

export const AlertKind = Type.Enum(Object.keys(alertKinds) as AlertKindName[]);

/** SILENCED: nothing is told until `silencedUntil`, whatever happens. */
export const AlertState = Type.Enum(['OK', 'FIRING', 'SILENCED']);
export type AlertState = Static<typeof AlertState>;

/** Of usage: since midnight, or since the first of the month, UTC. */
export const AlertPeriod = Type.Enum(['DAY', 'MONTH']);
export type AlertPeriod = Static<typeof AlertPeriod>;

const condition = {
  /** Percent of joins, failures in a row, or an amount of the meter. */
  bound: Type.Number({ minimum: 0, maximum: 1e15 }),
  /** How far back joins are looked at. */
  windowMinutes: Type.Integer({ minimum: 5, maximum: 1_440 }),
  meter: UsageMeter,
  period: AlertPeriod,
  /** One webhook or one media node, instead of every one. */
  target: Line(1, 128),
};

export const Alert = Type.Object({
  id: Type.String(),
  projectId: Uuid,
  environment: Environment,
  name: Type.String(),
  kind: AlertKind,
  bound: Nullable(Type.Number()),
  windowMinutes: Nullable(Type.Integer()),
  meter: Nullable(UsageMeter),
  period: Nullable(AlertPeriod),
  target: Nullable(Type.String()),
  /** Members of the project who are told by mail. */
  emails: Type.Array(Type.String()),
  /** Whether `alert.firing` and `alert.resolved` are recorded for the endpoints that get them. */
  webhook: Type.Boolean(),
  state: AlertState,
  /** Since when it is in this state. */
  since: Timestamp,
  silencedUntil: Nullable(Timestamp),
  /** What was found last, in the unit of the bound; null where nothing is known. */
  value: Nullable(Type.Number()),
  detail: Nullable(Type.String()),
  evaluatedAt: Nullable(Timestamp),
  createdAt: Timestamp,
  updatedAt: Timestamp,
});
export type Alert = Static<typeof Alert>;

const recipients = {
  emails: Type.Array(Type.String({ minLength: 3, maxLength: 254 }), { maxItems: 20 }),
  webhook: Type.Boolean(),
};

export const CreateAlert = Strict({
  name: Line(1, 128),
  kind: AlertKind,
  bound: Type.Optional(condition.bound),
  windowMinutes: Type.Optional(condition.windowMinutes),
  meter: Type.Optional(condition.meter),
  period: Type.Optional(condition.period),
  target: Type.Optional(condition.target),
  emails: Type.Optional(recipients.emails),
  webhook: Type.Optional(recipients.webhook),
});
export type CreateAlert = Static<typeof CreateAlert>;

export const UpdateAlert = Strict({
  name: Type.Optional(Line(1, 128)),
  bound: Type.Optional(condition.bound),
  windowMinutes: Type.Optional(condition.windowMinutes),
  meter: Type.Optional(condition.meter),
  period: Type.Optional(condition.period),
  target: Type.Optional(Nullable(condition.target)),
  emails: Type.Optional(recipients.emails),
  webhook: Type.Optional(recipients.webhook),
});
export type UpdateAlert = Static<typeof UpdateAlert>;

/** Null ends the silence. */
export const SilenceAlert = Strict({ until: Nullable(Timestamp) });
export type SilenceAlert = Static<typeof SilenceAlert>;

/** One change of an alert's state. */
export const AlertChange = Type.Object({
  id: Type.String(),
  at: Timestamp,
  state: AlertState,
  value: Nullable(Type.Number()),
  detail: Nullable(Type.String()),
  /** Whether somebody was notified, by mail or webhook. */
  notified: Type.Boolean(),
});
export type AlertChange = Static<typeof AlertChange>;

export const AlertsQuery = Type.Object({ ...PageQuery, state: Type.Optional(AlertState) });
export type AlertsQuery = Static<typeof AlertsQuery>;
export const AlertHistoryQuery = Type.Object(PageQuery);
export type AlertHistoryQuery = Static<typeof AlertHistoryQuery>;
