import { type Static, Type } from 'typebox';
import { EnvironmentQuery, Nullable, Timestamp } from '../schema.ts';

/** What is metered. A price is for so much of it; amounts are stored in the smaller unit, as integers. */
export const usageMeters = {
  messages: { per: 1_000, priced: '1,000 messages', stored: 'messages' },
  minutes: { per: 60_000, priced: 'minute of a participant', stored: 'ms' },
  recordedMinutes: { per: 60_000, priced: 'minute of a recorded room', stored: 'ms' },
  storedBytes: { per: 1_000_000_000, priced: 'GB stored for a day', stored: 'bytes' },
  sentBytes: { per: 1_000_000_000, priced: 'GB sent', stored: 'bytes' },
} as const;
export type UsageMeterName = keyof typeof usageMeters;
export const usageMeterNames = Object.keys(usageMeters) as UsageMeterName[];

export const UsageMeter = Type.Enum(usageMeterNames);

/** A decimal number as text, exact to a millionth. */
export const Price = Type.String({ pattern: '^\\d{1,9}(\\.\\d{1,6})?$' });
const Money = Type.String({ pattern: '^\\d+\\.\\d{6}$' });

const prices = {
  messages: Nullable(Price),
  minutes: Nullable(Price),
  recordedMinutes: Nullable(Price),
  storedBytes: Nullable(Price),
  sentBytes: Nullable(Price),
};

/** The operator's own: without a currency there is none, and nothing is reckoned. */
export const UsagePrices = Type.Object({
  /** ISO 4217. */
  currency: Nullable(Type.String({ pattern: '^[A-Z]{3}$' })),
  ...prices,
});
export type UsagePrices = Static<typeof UsagePrices>;

const amounts = {
  messages: Type.Integer(),
  minutes: Type.Number(),
  recordedMinutes: Type.Number(),
  /** The most that was stored at a time; of several days that of the highest. */
  storedBytes: Type.Integer(),
  sentBytes: Type.Integer(),
  /** Null without prices. */
  cost: Nullable(Money),
};

export const UsageAmounts = Type.Object(amounts);
export type UsageAmounts = Static<typeof UsageAmounts>;

/** UTC. */
export const UsageReportDay = Type.Object({ date: Type.String(), ...amounts });
export type UsageReportDay = Static<typeof UsageReportDay>;

/** What an API key, or tokens made with it, used; null stands for the rest. */
export const UsageReportKey = Type.Object({ keyId: Nullable(Type.String()), ...amounts });
export type UsageReportKey = Static<typeof UsageReportKey>;

export const UsageReport = Type.Object({
  from: Type.String(),
  to: Type.String(),
  currency: Nullable(Type.String()),
  /** The newest first, each of the range. */
  days: Type.Array(UsageReportDay),
  /** Null for roles that may not read keys. */
  keys: Nullable(Type.Array(UsageReportKey)),
  total: UsageAmounts,
  asOf: Timestamp,
});
export type UsageReport = Static<typeof UsageReport>;

const Day = Type.Optional(Type.String({ format: 'date' }));

export const UsageReportQuery = Type.Object({
  /** The first and the last day, both included; the last 30 days unless given, 366 at most. */
  from: Day,
  to: Day,
});
export type UsageReportQuery = Static<typeof UsageReportQuery>;
export const ProjectUsageReportQuery = Type.Object({ ...UsageReportQuery.properties, ...EnvironmentQuery });
