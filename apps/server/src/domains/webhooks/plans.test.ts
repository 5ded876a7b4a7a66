import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { lastingPlans, rowsRead } from '../../../testkit/kit/plans.ts';
import { openTestDatabase, type TestDatabase } from '../../../testkit/kit/test-database.ts';
import { deleteInBatches, onwards, withoutDeadline } from '../../core/delete-in-batches.ts';
import { isStranded, lockStrandedEvents, markDispatched } from '../../core/event-store.ts';
import { sql } from '../../core/sql.ts';
import { copyDelivery, listDeliveries, recoverDeliveries } from './delivery-store.ts';
import { findEventTime, listEvents } from './event-feed-store.ts';
import { tally } from './outcomes.ts';
import {
  claimDeliveries,
  type DeliveryOutcome,
  deleteOldDeliveries,
  deleteOldEvents,
  listDeliveredTo,
  listLanes,
  recordOutcomes,
} from './queue-store.ts';
import { cancelDeliveries } from './webhook-store.ts';

let database: TestDatabase;
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

const at = '2026-11-15T12:00:00.000Z';
const outcome: DeliveryOutcome = {
  webhookId: 'wh_1',
  id: 'whd_1',
  place: '(0,1)',
  lease: at,
  status: 'DELIVERED',
  dueAt: null,
  at,
  entry: { number: 1, at, statusCode: 200, error: null, durationMs: 1, responseExcerpt: null },
};

test('[STO-15] handing on, claiming and recording go by row, planned on empty tables too', async () => {
  const plans = await lastingPlans(database.db, async (db) => {
    await db.transaction((tx) => markDispatched(tx, ['evt_1'], at));
    await claimDeliveries(db, [{ webhookId: 'wh_1', take: 1 }], {
      now: at,
      holdMs: 1,
      backoffBaseMs: 1,
      attemptsMax: 6,
    });
    await recordOutcomes(db, [outcome], tally([outcome]), 50);
  });
  assert.match(plans, /Update on events/);
  assert.equal(plans.match(/Update on deliveries/g)?.length, 2, plans);
  assert.doesNotMatch(plans, /Seq Scan on (events|deliveries)|events_undispatched/);
});

test('[RET-5] whatever asks for old events and deliveries finds them by their keys, without an index of their age', async () => {
  const projectId = '00000000-0000-7000-8000-000000000000';
  const scope = { projectId, environment: 'DEVELOPMENT' } as const;
  const plans = await lastingPlans(database.db, async (db) => {
    await listDeliveredTo(db);
    await deleteOldDeliveries(db, ['wh_1'], at, 1_000, '');
    await deleteOldEvents(db, at, 1_000, '');
    await listLanes(db, at);
    await listEvents(db, scope, { from: at, after: null, types: [], limit: 50 });
    await findEventTime(db, scope, 'evt_1');
    await listDeliveries(db, projectId, 'wh_1', { before: null, limit: 50 });
    await copyDelivery(db, projectId, 'wh_1', 'whd_1', { id: 'whd_2', at });
    const range = { since: at, until: at, limit: 100, at, seed: 'whd_2', events: [] };
    await recoverDeliveries(db, projectId, 'wh_1', { environment: scope.environment, ...range });
    await db.query(sql`select ${isStranded(at)}`);
    await db.transaction(async (tx) => {
      await lockStrandedEvents(tx, at, 100);
      await cancelDeliveries(tx, projectId, 'wh_1', null);
    });
  });
  for (const index of ['events_pkey', 'deliveries_pkey', 'events_of_project', 'events_undispatched'])
    assert.match(plans, new RegExp(index), plans);
  assert.doesNotMatch(plans, /Seq Scan on (events|deliveries)|(events|deliveries)_age/, plans);
  const byAge = await database.db.query(sql`
    select c.relname as name from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am a on a.oid = c.relam
    where i.indrelid in ('events'::regclass, 'deliveries'::regclass) and a.amname = 'brin'`);
  assert.deepEqual(byAge, []);
});

test('[RET-5] a look for old deliveries reads one row of an endpoint that has none, however many there are', async () => {
  const { db } = database;
  const store = (webhookId: string, count: number, age: string) =>
    db.execute(sql`
      insert into deliveries (webhook_id, id, project_id, event_id, event_type, status, due_at, created_at)
      select ${webhookId}, ${age === '0 days' ? 'whd_1' : 'whd_0'} || g, ${crypto.randomUUID()}, 'evt_' || g,
        'message.created', 'DELIVERED', now(), now() - ${age}::interval
      from generate_series(1, ${count}::int) g`);
  const dayAgo = new Date(Date.now() - 86_400_000).toISOString();
  const look = () =>
    rowsRead(db, 'deliveries', async (tx) => {
      await deleteOldDeliveries(tx, await listDeliveredTo(tx), dayAgo, 1_000, '');
    });
  for (const webhookId of ['wh_1', 'wh_2', 'wh_3']) await store(webhookId, 500, '0 days');
  const read = await look();
  assert.ok(read < 10, `${read} rows: each endpoint is found, and its first looked at`);
  await store('wh_2', 20, '40 days');
  await store('wh_0', 3, '40 days');
  const ends: (string | null)[] = [];
  await deleteInBatches(
    { turn: withoutDeadline, batchMax: 8 },
    onwards(async (limit, after) => {
      const deleted = await deleteOldDeliveries(db, ['wh_0', 'wh_1', 'wh_2', 'wh_3'], dayAgo, limit, after);
      ends.push(deleted.last);
      return deleted;
    }),
  );
  // By name: 01, 010, 011 and 012 beside those of the other endpoint, then eight at a time.
  assert.deepEqual(ends, ['whd_012', 'whd_02', 'whd_09', null]);
  const left = await db.query(sql`select webhook_id as id, count(*) as count from deliveries group by 1 order by 1`);
  assert.deepEqual(left, [
    { id: 'wh_1', count: 500 },
    { id: 'wh_2', count: 500 },
    { id: 'wh_3', count: 500 },
  ]);
});
