import {
  type ConnectionEventRow,
  type ConnectionEventType,
  type ConnectionState,
  connectionEvents,
} from '@parley/contract';
import type { ConnectionFact } from '../../core/connections.ts';
import { type Classified, classify } from './classify.ts';
import { bucketOf } from './percentiles.ts';

/** A connection as the lifecycle needs it; times in epoch milliseconds, all of our own clock. */
export interface TrackedConnection {
  state: ConnectionState;
  startedAt: number;
  connectedAt: number | null;
  endedAt: number | null;
  disconnectReason: string | null;
  reconnectCount: number;
  errorCount: number;
  isServerSeen: boolean;
  rttMs: number | null;
  packetLossPercent: number | null;
  jitterMs: number | null;
  mos: number | null;
  transport: string | null;
}

/** Counters by metric and the time they belong to; negative where an end is taken back. */
export interface Counted {
  at: number;
  counts: Readonly<Record<string, number>>;
}

/** What one step changes: the connection, the counters and perhaps an error. */
interface Step {
  next: TrackedConnection;
  counted: readonly Counted[];
  error: Classified | null;
}

export const newConnection = (startedAt: number): TrackedConnection => ({
  state: 'CONNECTING',
  startedAt,
  connectedAt: null,
  endedAt: null,
  disconnectReason: null,
  reconnectCount: 0,
  errorCount: 0,
  isServerSeen: false,
  rttMs: null,
  packetLossPercent: null,
  jitterMs: null,
  mos: null,
  transport: null,
});

/** Applies one step at the time we learned of it. Pure: the same steps always make the same connection. */
export function applyStep(connection: TrackedConnection, fact: ConnectionFact, now: number): Step {
  const counted: Counted[] = [];
  const error = classify(fact);
  if (error) counted.push({ at: now, counts: { [`error:${error.category}`]: 1 } });
  const next: TrackedConnection = {
    ...connection,
    // What was counted at the end stays as it was, so that a return can take it back.
    ...(isLive(connection.state) ? qualityIn(fact) : {}),
    isServerSeen: connection.isServerSeen || fact.source === 'SERVER',
    errorCount: connection.errorCount + (error ? 1 : 0),
  };
  const state = stateAfter(connection, fact);
  if (state !== null && state !== connection.state) counted.push(...enter(next, state, fact, now));
  return { next, counted, error };
}

const isLive = (state: ConnectionState): boolean => state !== 'DISCONNECTED' && state !== 'FAILED';

/** Reasons for which an end is a failure and not a good-bye. */
const failingReasons = new Set(['MEDIA_FAILURE', 'JOIN_FAILURE']);

function stateAfter(connection: TrackedConnection, { type, source, data }: ConnectionFact): ConnectionState | null {
  const { state }: ConnectionEventRow = connectionEvents[type];
  if (source === 'CLIENT' && !mayClientMove(connection, type)) return null;
  // What has ended does not end again, whichever way it is said the second time.
  if (type === 'left' && !isLive(connection.state)) return null;
  if (type === 'left') return failingReasons.has(String(data?.['reason'])) ? 'FAILED' : 'DISCONNECTED';
  if (state === undefined || state === 'CONNECTING') return null;
  // An ended connection comes back only by a join or a resume that the server saw.
  if (
    !isLive(connection.state) &&
    !(source === 'SERVER' && (type === 'join.succeeded' || type === 'signaling.reconnected'))
  )
    return null;
  // A refused attempt to come back is no end: the stay itself says when it is over.
  if (type === 'join.failed' && connection.connectedAt !== null) return null;
  // Trouble before the first success is still the attempt to connect, unless it is the end of it.
  if (state === 'RECONNECTING' && connection.connectedAt === null) return isPathLost(type) ? 'FAILED' : null;
  if (type === 'ice.connected' && connection.connectedAt === null) return null;
  return state;
}

const isPathLost = (type: ConnectionEventType): boolean => type === 'ice.failed' || type === 'dtls.failed';

/** The server's own view wins; the client alone knows about its network path, and about joins we never saw. */
function mayClientMove(connection: TrackedConnection, type: ConnectionEventType): boolean {
  return !connection.isServerSeen || (isLive(connection.state) && (type.startsWith('ice.') || type === 'dtls.failed'));
}

/** Moves to the state and says what that counts. */
function enter(next: TrackedConnection, state: ConnectionState, fact: ConnectionFact, now: number): Counted[] {
  const counted = next.endedAt === null ? [] : takenBack(next, next.endedAt, now);
  next.state = state;
  if (state === 'CONNECTED') return [...counted, ...enterConnected(next, now)];
  if (state === 'RECONNECTING') next.reconnectCount++;
  else {
    // The server knows when a participant left, even if it learns of it late; never before they joined.
    next.endedAt = Math.max(
      fact.source === 'SERVER' ? Math.min(fact.at, now) : now,
      next.connectedAt ?? next.startedAt,
    );
    next.disconnectReason = reasonIn(fact) ?? (state === 'FAILED' ? failureOf(fact.type) : 'UNKNOWN');
    counted.push({ at: next.endedAt, counts: endCounts(next, next.endedAt) });
  }
  return counted;
}

function enterConnected(next: TrackedConnection, now: number): Counted[] {
  next.endedAt = null;
  next.disconnectReason = null;
  if (next.connectedAt !== null) return [];
  next.connectedAt = Math.max(now, next.startedAt);
  const bucket = bucketOf(next.connectedAt - next.startedAt);
  return [{ at: now, counts: { succeeded: 1, [`connect:${bucket}`]: 1 } }];
}

/** What an end counts: read from the connection alone, so that it can be taken back exactly. */
function endCounts(connection: TrackedConnection, endedAt: number): Record<string, number> {
  const { state, connectedAt } = connection;
  const counts: Record<string, number> = { [state === 'FAILED' && connectedAt === null ? 'failed' : 'ended']: 1 };
  if (connectedAt !== null) {
    counts[`duration:${bucketOf(endedAt - connectedAt)}`] = 1;
    counts['durationMs'] = endedAt - connectedAt;
  }
  countQuality(connection, counts);
  return counts;
}

/** A connection that comes back after its end is counted once, at the end that lasts. */
function takenBack(connection: TrackedConnection, endedAt: number, now: number): Counted[] {
  const ended = Object.entries(endCounts(connection, endedAt)).map(([metric, n]) => [metric, -n] as const);
  return [
    { at: endedAt, counts: Object.fromEntries(ended) },
    { at: now, counts: { returned: 1 } },
  ];
}

const failureOf = (type: ConnectionEventType): string => (isPathLost(type) ? 'MEDIA_FAILURE' : 'JOIN_FAILURE');

const reasonIn = ({ data }: ConnectionFact): string | null =>
  typeof data?.['reason'] === 'string' && /^[A-Z_]{1,40}$/.test(data['reason']) ? data['reason'] : null;

export const qualityNames = ['rttMs', 'packetLossPercent', 'jitterMs', 'mos'] as const;

const bounds: Readonly<Record<(typeof qualityNames)[number], number>> = {
  rttMs: 60_000,
  packetLossPercent: 100,
  jitterMs: 60_000,
  mos: 5,
};

/** The newest figures of a stats report; what is not a sensible number is left unknown. */
function qualityIn({ type, data }: ConnectionFact): Partial<TrackedConnection> {
  if (type !== 'stats.report' || !data) return {};
  const figures = qualityNames.flatMap((name) => {
    const value = data[name];
    return typeof value === 'number' && value >= 0 && value <= bounds[name] ? [[name, value] as const] : [];
  });
  const { transport } = data;
  const path = transport === 'udp' || transport === 'tcp' || transport === 'relay' ? { transport } : {};
  return { ...Object.fromEntries(figures), ...path };
}

function countQuality(connection: TrackedConnection, counts: Record<string, number>): void {
  for (const name of qualityNames) {
    const value = connection[name];
    if (value === null) continue;
    counts[`${name}:sum`] = value;
    counts[`${name}:n`] = 1;
  }
}
