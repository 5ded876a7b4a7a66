import { type Static, Type } from 'typebox';
import { Environment } from '../enums.ts';
import { Nullable, Timestamp } from '../schema.ts';

export const Usage = Type.Object({
  freeMinutes: Type.Number(),
  usedMinutes: Type.Number(),
  remainingMinutes: Type.Number(),
  percentUsed: Type.Number(),
  periodStart: Nullable(Timestamp),
  periodEnd: Nullable(Timestamp),
  asOf: Timestamp,
});
export type Usage = Static<typeof Usage>;

/** One participant's stay in one room. `endedAt` is null while they are there. */
export const UsageSession = Type.Object({
  id: Type.String(),
  projectId: Type.String(),
  environment: Environment,
  roomId: Type.String(),
  roomName: Type.String(),
  participantIdentity: Type.String(),
  startedAt: Timestamp,
  endedAt: Nullable(Timestamp),
  seconds: Type.Number(),
  minutes: Type.Number(),
});
export type UsageSession = Static<typeof UsageSession>;

export const UsageDay = Type.Object({ date: Type.String(), minutes: Type.Number(), sessions: Type.Integer() });
export type UsageDay = Static<typeof UsageDay>;

export const UsageOfProject = Type.Object({
  projectId: Type.String(),
  name: Type.String(),
  minutes: Type.Number(),
  sessions: Type.Integer(),
});
export type UsageOfProject = Static<typeof UsageOfProject>;

export const UsageDetail = Type.Object({
  ...Usage.properties,
  sessions: Type.Array(UsageSession),
  daily: Type.Array(UsageDay),
  projects: Type.Array(UsageOfProject),
});
export type UsageDetail = Static<typeof UsageDetail>;

export const UsageQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 200 })),
  days: Type.Optional(Type.Integer({ minimum: 1, maximum: 365 })),
});
export type UsageQuery = Static<typeof UsageQuery>;
