import { type Static, Type } from 'typebox';
import { Line, Name, Nullable, Timestamp } from '../schema.ts';
import { RtcServerStatus } from './enums.ts';

const percent = Type.Number({ minimum: 0, maximum: 100 });
const count = Type.Number({ minimum: 0, maximum: 1e15 });
const coresMax = 512;
/** What a node says of itself. */
const load = {
  cpuPercent: percent,
  memoryPercent: percent,
  networkInBps: count,
  networkOutBps: count,
  /** Of each media process, of one core: a room is at home in one of them. */
  coreCpuPercents: Type.Array(percent, { maxItems: coresMax }),
  packetsInPerSecond: count,
  packetsOutPerSecond: count,
  /** Lost on the way from publishers, before any repetition. */
  lossInPercent: percent,
  /** Lost on the way to subscribers, as those report. */
  lossOutPercent: percent,
};
const nullableLoad = {
  cpuPercent: Nullable(load.cpuPercent),
  memoryPercent: Nullable(load.memoryPercent),
  networkInBps: Nullable(load.networkInBps),
  networkOutBps: Nullable(load.networkOutBps),
  coreCpuPercents: Nullable(load.coreCpuPercents),
  packetsInPerSecond: Nullable(load.packetsInPerSecond),
  packetsOutPerSecond: Nullable(load.packetsOutPerSecond),
  lossInPercent: Nullable(load.lossInPercent),
  lossOutPercent: Nullable(load.lossOutPercent),
};

/** A host name or address, with a port if need be. It goes to browsers: nothing else may hide in it. */
const PublicHost = Type.String({
  minLength: 1,
  maxLength: 255,
  pattern: '^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\\[[0-9A-Fa-f:.]+\\]|[0-9A-Fa-f:]+)(?::[0-9]{1,5})?$',
});

export const RegisterServer = Type.Object({
  name: Name,
  region: Line(1, 64),
  publicHost: PublicHost,
  internalUrl: Type.String({ minLength: 1, maxLength: 255 }),
  capacity: Type.Optional(Type.Integer({ minimum: 1, maximum: 100_000 })),
  version: Type.Optional(Line(0, 64)),
});
export type RegisterServer = Static<typeof RegisterServer>;

export const Heartbeat = Type.Object({
  activeRooms: count,
  activeParticipants: count,
  cpuPercent: Type.Optional(load.cpuPercent),
  memoryPercent: Type.Optional(load.memoryPercent),
  networkInBps: Type.Optional(load.networkInBps),
  networkOutBps: Type.Optional(load.networkOutBps),
  coreCpuPercents: Type.Optional(load.coreCpuPercents),
  packetsInPerSecond: Type.Optional(load.packetsInPerSecond),
  packetsOutPerSecond: Type.Optional(load.packetsOutPerSecond),
  lossInPercent: Type.Optional(load.lossInPercent),
  lossOutPercent: Type.Optional(load.lossOutPercent),
  /** Data messages that a receiver did not get, since the heartbeat before. */
  dataDropped: Type.Optional(count),
  /** The node is about to end: it takes no new room from now on, until it registers again. */
  leaving: Type.Optional(Type.Boolean()),
  /** Where clients reach the node from now on, when that is another host than it registered with. */
  publicHost: Type.Optional(PublicHost),
});
export type Heartbeat = Static<typeof Heartbeat>;

export const RtcServer = Type.Object({
  name: Type.String(),
  region: Type.String(),
  publicHost: Type.String(),
  /** Only operators and the node itself see it. */
  internalUrl: Type.Optional(Type.String()),
  capacity: Nullable(Type.Integer()),
  version: Nullable(Type.String()),
  status: RtcServerStatus,
  draining: Type.Boolean(),
  activeRooms: Nullable(Type.Number()),
  activeParticipants: Nullable(Type.Number()),
  ...nullableLoad,
  registeredAt: Timestamp,
  lastHeartbeatAt: Nullable(Timestamp),
  drainStartedAt: Nullable(Timestamp),
  createdAt: Timestamp,
});
export type RtcServer = Static<typeof RtcServer>;

/** What a node said of itself with a heartbeat; null where it did not. */
export const ServerLoadPoint = Type.Object({
  at: Timestamp,
  ...nullableLoad,
  activeRooms: Nullable(Type.Number()),
  activeParticipants: Nullable(Type.Number()),
});
export type ServerLoadPoint = Static<typeof ServerLoadPoint>;

export const RtcServerLoad = Type.Object({
  /** Of the last hour, oldest first. */
  points: Type.Array(ServerLoadPoint),
  /** Null while it is not drained. `roomsAtStart` is null where nothing is known of it. */
  drain: Nullable(Type.Object({ startedAt: Timestamp, rooms: Type.Integer(), roomsAtStart: Nullable(Type.Number()) })),
});
export type RtcServerLoad = Static<typeof RtcServerLoad>;

/** The address that the call came from, by which a node learns where clients reach it. */
const ObservedAddress = Type.String();

export const RegisteredServer = Type.Object({
  ...RtcServer.properties,
  observedAddress: ObservedAddress,
  heartbeatIntervalSeconds: Type.Integer(),
  heartbeatTimeoutSeconds: Type.Integer(),
});
export type RegisteredServer = Static<typeof RegisteredServer>;

export const HeartbeatAnswer = Type.Object({
  status: RtcServerStatus,
  draining: Type.Boolean(),
  observedAddress: ObservedAddress,
  commands: Type.Array(Type.Unknown()),
});

export const DrainServer = Type.Object({
  /** Also sends away who is there: their clients reconnect to another node. */
  force: Type.Optional(Type.Boolean()),
});

export const MediaReach = Type.Object({
  /** The relays of a node that takes rooms (`turn:`, `turns:`), and RTC_TURN_URLS; empty when there are none. */
  relays: Type.Array(Type.String()),
});
export type MediaReach = Static<typeof MediaReach>;

const totals = {
  servers: Type.Integer(),
  activeRooms: Type.Number(),
  activeParticipants: Type.Number(),
  capacityRooms: Nullable(Type.Number()),
  utilizationPercent: Nullable(Type.Number()),
  networkInBps: Nullable(Type.Number()),
  networkOutBps: Nullable(Type.Number()),
};

export const FleetTotals = Type.Object({
  ...totals,
  serversByStatus: Type.Object({
    ACTIVE: Type.Integer(),
    DRAINING: Type.Integer(),
    DRAINED: Type.Integer(),
    OFFLINE: Type.Integer(),
  }),
  byRegion: Type.Array(Type.Object({ region: Type.String(), ...totals })),
  asOf: Timestamp,
});
export type FleetTotals = Static<typeof FleetTotals>;
