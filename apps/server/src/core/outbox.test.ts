import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openTestDatabase, type TestDatabase } from '../../testkit/kit/test-database.ts';
import { createDispatcher } from './dispatcher.ts';
import type { EventRef, StoredEvent } from './event-store.ts';
import { createIds } from './ids.ts';
import { createLog } from './log.ts';
import { sql } from './sql.ts';
import { createUnitOfWork } from './unit-of-work.ts';

let database: TestDatabase;
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

let now = Date.parse('2026-11-15T12:00:00Z');
const clock = { now: () => now, elapsed: () => now, sleep: async () => {} };
const ids = createIds(clock);
const log = createLog('silent');
const scope = { projectId: ids.newUuid(), environment: 'DEVELOPMENT' as const };
const started = {
  type: 'live_stream.started' as const,
  data: { streamId: 'stream_1', startedAt: '2026-11-15T12:00:00.000Z' },
};

const undispatched = async (): Promise<number> =>
  (await database.db.query(sql`select 1 from events where dispatched_at is null`)).length;

test('[STO-3] an event is stored with its change or not at all, and published only after the commit', async () => {
  const committed: StoredEvent[] = [];
  const unitOfWork = createUnitOfWork({
    db: database.db,
    clock,
    ids,
    log,
    onCommitted: (events) => committed.push(...events),
  });
  await assert.rejects(
    unitOfWork(scope, async (_tx, emit) => {
      emit(started);
      throw new Error('rolled back');
    }),
  );
  assert.deepEqual([committed.length, await undispatched()], [0, 0]);
  const result = await unitOfWork(scope, async (_tx, emit) => {
    emit({ ...started, topic: 'stream/1' });
    assert.equal(committed.length, 0);
    return 42;
  });
  assert.deepEqual([result, committed.length, await undispatched()], [42, 1, 1]);
  assert.deepEqual(
    [committed[0]?.type, committed[0]?.topic, committed[0]?.projectId],
    ['live_stream.started', 'stream/1', scope.projectId],
  );
});

test('[STO-3] subscribers get it first, then webhooks are queued in the transaction that marks it', async () => {
  const order: string[] = [];
  const dispatcher = createDispatcher({
    db: database.db,
    clock,
    log,
    onStranded: () => order.push('stranded'),
    enqueue: async (tx) => {
      order.push('webhooks');
      assert.equal(tx.isTransaction, true);
    },
  });
  const unitOfWork = createUnitOfWork({ db: database.db, clock, ids, log, onCommitted: dispatcher.accept });
  await unitOfWork(scope, async (_tx, emit) => emit({ ...started, afterCommit: () => order.push('subscribers') }));
  await dispatcher.settled();
  assert.deepEqual(order, ['subscribers', 'webhooks']);
});

test('[STO-3] what a killed process recorded is dispatched by another, exactly once', async () => {
  const queued: string[] = [];
  const stranded: string[] = [];
  const make = () =>
    createDispatcher({
      db: database.db,
      clock,
      log,
      onStranded: (events) => stranded.push(...events.map(({ id }) => id)),
      enqueue: async (_tx, events) => {
        queued.push(...events.map(({ id }) => id));
      },
    });
  const lost: string[] = [];
  const dying = createUnitOfWork({
    db: database.db,
    clock,
    ids,
    log,
    onCommitted: (events) => lost.push(...events.map(({ id }) => id)),
  });
  await dying(scope, async (_tx, emit) => {
    emit(started);
    emit(started);
  });
  assert.equal(await make().sweep(), 0, 'young events are still in the hands of their own process');
  now += 6_000;
  await Promise.all([make().sweep(), make().sweep()]);
  await make().sweep();
  for (const found of [queued, stranded]) {
    assert.deepEqual(found.filter((id) => lost.includes(id)).sort(), lost.sort());
  }
  assert.equal(await undispatched(), 0);
});

test('[STO-3] a failure to queue leaves the event for the sweep, and a failing announcement stops nothing', async () => {
  let isDown = true;
  const queued: EventRef[] = [];
  const noSubscribers = () => {
    throw new Error('no subscribers');
  };
  const dispatcher = createDispatcher({
    db: database.db,
    clock,
    log,
    onStranded: noSubscribers,
    enqueue: async (_tx, events) => {
      if (isDown) throw new Error('queue is down');
      queued.push(...events);
    },
  });
  const unitOfWork = createUnitOfWork({ db: database.db, clock, ids, log, onCommitted: dispatcher.accept });
  await unitOfWork(scope, async (_tx, emit) => emit({ ...started, afterCommit: noSubscribers }));
  await dispatcher.settled();
  assert.equal(await undispatched(), 1);
  isDown = false;
  now += 6_000;
  await dispatcher.sweep();
  assert.deepEqual([queued.length, await undispatched()], [1, 0]);
});
