import { type Static, Type } from 'typebox';
import { Metadata, Nullable, PageQuery, Timestamp } from '../schema.ts';
import { connectionEventTypes } from './connection-events.ts';
import { ConnectionEventSource, ConnectionState, DependencyStatus, ErrorCategory } from './enums.ts';

const number = Nullable(Type.Number());
const text = Nullable(Type.String());

export const Connection = Type.Object({
  id: Type.String(),
  connectionId: Type.String(),
  roomId: text,
  roomName: text,
  participantIdentity: text,
  tokenId: text,
  state: ConnectionState,
  serverName: text,
  region: text,
  clientIp: text,
  userAgent: text,
  sdk: Nullable(Type.Object({ name: text, version: text })),
  transport: text,
  startedAt: Timestamp,
  connectedAt: Nullable(Timestamp),
  endedAt: Nullable(Timestamp),
  durationMs: number,
  timeToConnectMs: number,
  disconnectReason: text,
  reconnectCount: Type.Integer(),
  quality: Type.Object({ rttMs: number, packetLossPercent: number, jitterMs: number, mos: number }),
  errorCount: Type.Integer(),
  createdAt: Timestamp,
});
export type Connection = Static<typeof Connection>;

export const ConnectionEvent = Type.Object({
  id: Type.String(),
  type: Type.String(),
  source: ConnectionEventSource,
  timestamp: Timestamp,
  receivedAt: Timestamp,
  /** By the server's clock, also where the client's is wrong; the order of the timeline. */
  happenedAt: Timestamp,
  data: Metadata,
});
export type ConnectionEvent = Static<typeof ConnectionEvent>;

export const ClassifiedError = Type.Object({
  id: Type.String(),
  category: ErrorCategory,
  code: Type.String(),
  message: Type.String(),
  hint: text,
  retryable: Type.Boolean(),
  connectionId: text,
  roomId: text,
  participantIdentity: text,
  occurredAt: Timestamp,
  count: Type.Integer(),
  context: Metadata,
  createdAt: Timestamp,
});
export type ClassifiedError = Static<typeof ClassifiedError>;

export const ConnectionDetail = Type.Object({
  ...Connection.properties,
  events: Type.Array(ConnectionEvent),
  errors: Type.Array(ClassifiedError),
});
export const ErrorWithConnection = Type.Object({ ...ClassifiedError.properties, connection: Nullable(Connection) });

export const ConnectionsQuery = Type.Object({
  state: Type.Optional(ConnectionState),
  roomId: Type.Optional(Type.String({ maxLength: 128 })),
  ...PageQuery,
});
export type ConnectionsQuery = Static<typeof ConnectionsQuery>;
export const ErrorsQuery = Type.Object({
  category: Type.Optional(ErrorCategory),
  connectionId: Type.Optional(Type.String({ maxLength: 128 })),
  ...PageQuery,
});
export type ErrorsQuery = Static<typeof ErrorsQuery>;

const percentiles = Type.Object({ p50: number, p95: number, p99: number });

/** One step of a chart. */
export const MetricsPoint = Type.Object({
  at: Timestamp,
  started: Type.Integer(),
  succeeded: Type.Integer(),
  failed: Type.Integer(),
  active: Type.Integer(),
  successRate: number,
  timeToConnectMs: percentiles,
  errors: Type.Record(Type.String(), Type.Integer()),
  /** Chat messages that were sent. */
  messages: Type.Integer(),
  /** Attempts to deliver a webhook. */
  deliveries: Type.Object({ delivered: Type.Integer(), failed: Type.Integer() }),
});
export type MetricsPoint = Static<typeof MetricsPoint>;

export const ConnectionMetrics = Type.Object({
  window: Type.Object({ from: Timestamp, to: Timestamp }),
  connections: Type.Object({
    total: Type.Integer(),
    active: Type.Integer(),
    succeeded: Type.Integer(),
    failed: Type.Integer(),
    successRate: number,
    byState: Type.Record(Type.String(), Type.Integer()),
  }),
  timeToConnectMs: percentiles,
  durationMs: Type.Object({ avg: number, p50: number, p95: number }),
  errors: Type.Object({ total: Type.Integer(), byCategory: Type.Record(Type.String(), Type.Integer()) }),
  quality: Type.Object({ rttMs: number, packetLossPercent: number, jitterMs: number, mos: number }),
  series: Type.Object({ minutes: Type.Array(MetricsPoint), hours: Type.Array(MetricsPoint) }),
  asOf: Timestamp,
});
export type ConnectionMetrics = Static<typeof ConnectionMetrics>;

export const Dependency = Type.Object({
  name: Type.String(),
  status: DependencyStatus,
  latencyMs: number,
  checkedAt: Timestamp,
  message: text,
});
export type Dependency = Static<typeof Dependency>;
export const Diagnostics = Type.Object({
  status: DependencyStatus,
  checkedAt: Timestamp,
  dependencies: Type.Array(Dependency),
});
export type Diagnostics = Static<typeof Diagnostics>;

export const TelemetryEvent = Type.Object({
  connectionId: Type.String({ minLength: 1, maxLength: 128, pattern: '^[A-Za-z0-9._:-]+$' }),
  type: Type.Enum(connectionEventTypes),
  timestamp: Type.Optional(Type.String({ maxLength: 64 })),
  data: Type.Optional(Metadata),
});
export type TelemetryEvent = Static<typeof TelemetryEvent>;
export const TelemetryAccepted = Type.Object({ accepted: Type.Boolean(), truncated: Type.Optional(Type.Boolean()) });
