import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectionEventTypes } from '@parley/contract';
import fc from 'fast-check';
import type { ConnectionFact } from '../../core/connections.ts';
import { applyStep, type Counted, newConnection, type TrackedConnection } from './lifecycle.ts';

const base = { projectId: 'p', environment: 'DEVELOPMENT' as const, roomId: 'r', identity: 'ada', tokenId: 't' };
const minuteMs = 60_000;

/** Connections and their counters by minute, as the recorder keeps them. */
function createBooks() {
  const connections = new Map<string, TrackedConnection>();
  const counters = new Map<string, number>();

  function count({ at, counts }: Counted): void {
    for (const [metric, n] of Object.entries(counts)) {
      const key = `${Math.floor(at / minuteMs)}/${metric}`;
      counters.set(key, (counters.get(key) ?? 0) + n);
    }
  }
  function record(fact: ConnectionFact, now: number): void {
    const known = connections.get(fact.connectionId);
    if (!known) count({ at: now, counts: { started: 1 } });
    const { next, counted } = applyStep(known ?? newConnection(now), fact, now);
    connections.set(fact.connectionId, next);
    for (const one of counted) count(one);
  }
  const total = (metric: string): number =>
    [...counters].reduce((sum, [key, n]) => sum + (key.endsWith(`/${metric}`) ? n : 0), 0);
  return { connections, counters, record, total };
}

const isLive = ({ state }: TrackedConnection): boolean => state !== 'DISCONNECTED' && state !== 'FAILED';

const step = fc.record({
  does: fc.constant('step' as const),
  id: fc.constantFrom('a', 'b', 'c'),
  type: fc.oneof(
    fc.constantFrom('join.succeeded' as const, 'left' as const, 'join.failed' as const, 'ice.failed' as const),
    fc.constantFrom(...connectionEventTypes),
  ),
  source: fc.constantFrom('SERVER' as const, 'CLIENT' as const),
  agoMs: fc.integer({ min: -minuteMs, max: 5 * minuteMs }),
  reason: fc.constantFrom('CLIENT_INITIATED', 'MEDIA_FAILURE', 'JOIN_FAILURE'),
  rttMs: fc.integer({ min: -1, max: 300 }),
});
/** A process dies with this many steps not stored yet. */
const kill = fc.record({ does: fc.constant('kill' as const), lost: fc.integer({ min: 1, max: 4 }) });
/** What no process will report is ended by the chore. */
const sweep = fc.record({ does: fc.constant('sweep' as const) });

test('[OBS-17] started is active, ended and failed together, for random histories with kills', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof({ weight: 8, arbitrary: step }, kill, sweep), { maxLength: 40 }), (history) => {
      const books = createBooks();
      let [now, lost] = [10 * minuteMs, 0];
      for (const one of history) {
        now += 7_000;
        if (one.does === 'kill') lost = one.lost;
        else if (one.does === 'sweep') {
          for (const [connectionId, { connectedAt, ...row }] of books.connections)
            if (isLive({ connectedAt, ...row })) {
              const type = connectedAt === null ? 'join.failed' : 'left';
              books.record({ ...base, connectionId, type, source: 'SERVER', at: now }, now);
            }
        } else if (lost > 0) lost--;
        else {
          const { id: connectionId, type, source, agoMs, reason, rttMs } = one;
          books.record({ ...base, connectionId, type, source, at: now - agoMs, data: { reason, rttMs } }, now);
        }
        const all = [...books.connections.values()];
        assert.equal(books.total('started'), all.length);
        assert.equal(all.filter(isLive).length + books.total('ended') + books.total('failed'), books.total('started'));
        const failed = all.filter(({ state, connectedAt }) => state === 'FAILED' && connectedAt === null);
        assert.equal(books.total('failed'), failed.length);
        assert.equal(books.total('succeeded'), all.filter(({ connectedAt }) => connectedAt !== null).length);
        assert.ok(
          [...books.counters.values()].every((n) => n >= 0),
          'no minute is below zero',
        );
      }
    }),
    { numRuns: 500 },
  );
});
