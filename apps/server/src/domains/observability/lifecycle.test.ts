import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ConnectionEventType, connectionEventTypes } from '@parley/contract';
import fc from 'fast-check';
import type { ConnectionFact } from '../../core/connections.ts';
import { classify, explain } from './classify.ts';
import { applyStep, newConnection, type TrackedConnection } from './lifecycle.ts';
import { bucketOf, percentile } from './percentiles.ts';

const base = {
  projectId: 'p',
  environment: 'DEVELOPMENT' as const,
  connectionId: 'c',
  roomId: 'r',
  identity: 'ada',
  tokenId: 't',
};

type Script = [ConnectionEventType, 'SERVER' | 'CLIENT', number, Record<string, unknown>?][];

/** Plays steps `[type, source, atMs, data]` from a new connection at time 0. */
function play(script: Script): { connection: TrackedConnection; counts: Record<string, number>; errors: string[] } {
  let connection = newConnection(0);
  const counts: Record<string, number> = {};
  const errors: string[] = [];
  for (const [type, source, at, data] of script) {
    const step = applyStep(connection, { ...base, type, source, at, ...(data ? { data } : {}) }, at);
    connection = step.next;
    for (const counted of step.counted)
      for (const [metric, n] of Object.entries(counted.counts)) counts[metric] = (counts[metric] ?? 0) + n;
    if (step.error) errors.push(`${step.error.category}/${step.error.code}`);
  }
  return { connection, counts, errors };
}

test('[OBS-4] an attempt whose network path fails has failed there and then, and a later join brings it back', () => {
  for (const type of ['ice.failed', 'dtls.failed'] as const) {
    const lost: Script = [
      ['signaling.connecting', 'CLIENT', 5],
      ['ice.checking', 'CLIENT', 10],
      [type, 'CLIENT', 900],
    ];
    const { connection, counts, errors } = play(lost);
    assert.deepEqual(
      [connection.state, connection.endedAt, connection.disconnectReason, counts['failed'], errors.length],
      ['FAILED', 900, 'MEDIA_FAILURE', 1, 1],
    );
    assert.equal(play([...lost, ['ice.connected', 'CLIENT', 950]]).connection.state, 'FAILED');
    assert.equal(play([...lost, ['join.succeeded', 'SERVER', 990]]).connection.state, 'CONNECTED');
  }
  const inCall = play([
    ['join.succeeded', 'SERVER', 100],
    ['ice.failed', 'CLIENT', 900],
  ]);
  assert.equal(inCall.connection.state, 'RECONNECTING', 'a call in progress may find another path');
});

test('[OBS-1] a call from join to leave', () => {
  const { connection, counts } = play([
    ['signaling.connected', 'SERVER', 5],
    ['join.requested', 'SERVER', 10],
    ['join.succeeded', 'SERVER', 100],
    [
      'stats.report',
      'CLIENT',
      2_000,
      { rttMs: 40, packetLossPercent: 0.5, jitterMs: -1, mos: 'good', transport: 'udp' },
    ],
    ['left', 'SERVER', 61_000, { reason: 'CLIENT_INITIATED' }],
  ]);
  assert.deepEqual(
    [connection.state, connection.connectedAt, connection.endedAt, connection.disconnectReason],
    ['DISCONNECTED', 100, 61_000, 'CLIENT_INITIATED'],
  );
  assert.deepEqual(
    [connection.rttMs, connection.packetLossPercent, connection.jitterMs, connection.mos, connection.transport],
    [40, 0.5, null, null, 'udp'],
  );
  assert.deepEqual(
    [counts['succeeded'], counts['ended'], counts['failed'], counts['durationMs']],
    [1, 1, undefined, 60_900],
  );
});

test('[OBS-2] a connection that comes back counts its reconnects and succeeds once', () => {
  const { connection, counts } = play([
    ['join.succeeded', 'SERVER', 50],
    ['signaling.reconnecting', 'SERVER', 1_000],
    ['signaling.reconnected', 'SERVER', 3_000],
    ['ice.disconnected', 'CLIENT', 4_000],
    ['ice.connected', 'CLIENT', 5_000],
  ]);
  assert.deepEqual([connection.state, connection.reconnectCount, counts['succeeded']], ['CONNECTED', 2, 1]);
});

test('[OBS-3] a client moves what the server saw neither into leaving nor back to life', () => {
  const live = play([
    ['join.succeeded', 'SERVER', 50],
    ['left', 'CLIENT', 60],
    ['join.failed', 'CLIENT', 70],
  ]);
  assert.equal(live.connection.state, 'CONNECTED');
  const ended = play([
    ['join.succeeded', 'SERVER', 50],
    ['left', 'SERVER', 60, { reason: 'ROOM_CLOSED' }],
    ['ice.connected', 'CLIENT', 70],
    ['join.succeeded', 'CLIENT', 80],
  ]);
  assert.deepEqual([ended.connection.state, ended.connection.disconnectReason], ['DISCONNECTED', 'ROOM_CLOSED']);
});

test('[OBS-4] failures are named with category and advice', () => {
  const cases: [ConnectionEventType, Record<string, unknown> | undefined, string][] = [
    ['join.failed', { code: 'SVC_TOKEN_EXPIRED' }, 'AUTHENTICATION/SVC_TOKEN_EXPIRED'],
    ['join.failed', { code: 'SVC_ROOM_FULL' }, 'CAPACITY/SVC_ROOM_FULL'],
    ['join.failed', undefined, 'SIGNALING/JOIN_FAILED'],
    ['join.failed', { code: '__proto__' }, 'SIGNALING/JOIN_FAILED'],
    ['ice.failed', undefined, 'ICE/ICE_FAILED'],
    ['dtls.failed', undefined, 'DTLS/DTLS_FAILED'],
    ['device.permission_denied', undefined, 'DEVICE/DEVICE_PERMISSION_DENIED'],
    ['track.publish_failed', { code: 'SVC_PUBLISH_NOT_ALLOWED' }, 'PERMISSION/SVC_PUBLISH_NOT_ALLOWED'],
    ['left', { reason: 'CONNECTION_TIMEOUT' }, 'NETWORK/CONNECTION_TIMEOUT'],
    ['left', { reason: 'MEDIA_FAILURE' }, 'SERVER/NODE_LOST'],
    ['error', { code: 'WEIRD_THING' }, 'CLIENT/WEIRD_THING'],
  ];
  for (const [type, data, expected] of cases) {
    const { errors } = play([[type, 'CLIENT', 1, data]]);
    assert.deepEqual(errors, [expected]);
  }
  for (const [type, data] of [
    ['left', { reason: 'CLIENT_INITIATED' }],
    ['join.succeeded', { code: 'SVC_ROOM_FULL' }],
    ['signaling.disconnected', undefined],
  ] as const) {
    assert.equal(classify({ type, ...(data ? { data } : {}) }), null);
  }
  assert.match(explain('ICE_FAILED').hint ?? '', /UDP port/);
  assert.equal(explain('WEIRD_THING').hint, null);
});

test('[OBS-5] whatever comes in whatever order, nothing is negative, invented or counted twice', () => {
  const step = fc.record({
    type: fc.constantFrom(...connectionEventTypes),
    source: fc.constantFrom('SERVER' as const, 'CLIENT' as const),
    at: fc.integer({ min: -1_000_000, max: 1_000_000 }),
    data: fc.option(
      fc.record(
        { reason: fc.constantFrom('CLIENT_INITIATED', 'MEDIA_FAILURE', 'x', 3), rttMs: fc.anything() },
        { requiredKeys: [] },
      ),
      { nil: undefined },
    ),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      let connection = newConnection(0);
      let [succeeded, now] = [0, 0];
      for (const { type, source, at, data } of steps) {
        now += 10;
        const fact: ConnectionFact = { ...base, type, source, at, ...(data ? { data } : {}) };
        const { next, counted } = applyStep(connection, fact, now);
        for (const { counts } of counted) succeeded += counts['succeeded'] ?? 0;
        assert.ok(next.connectedAt === null || next.connectedAt >= next.startedAt);
        assert.ok(next.endedAt === null || next.endedAt >= (next.connectedAt ?? next.startedAt));
        assert.equal(next.endedAt === null, next.state !== 'DISCONNECTED' && next.state !== 'FAILED');
        connection = next;
      }
      assert.equal(succeeded, connection.connectedAt === null ? 0 : 1);
    }),
    { numRuns: 500 },
  );
});

test('[OBS-6] percentiles from buckets are within 2.5 % of the true ones', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 10_000_000 }), { minLength: 1, maxLength: 200 }),
      fc.constantFrom(0.5, 0.95, 0.99),
      (values, share) => {
        const counts = new Map<number, number>();
        for (const value of values) counts.set(bucketOf(value), (counts.get(bucketOf(value)) ?? 0) + 1);
        const exact = values.toSorted((a, b) => a - b)[Math.ceil(share * values.length) - 1] ?? 0;
        const read = percentile(counts, share) ?? -1;
        assert.ok(Math.abs(read - exact) <= exact * 0.026 + 1, `${read} for ${exact}`);
      },
    ),
  );
  assert.equal(percentile(new Map(), 0.5), null);
});
