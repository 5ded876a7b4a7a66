import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { lastingPlans } from '../../../testkit/kit/plans.ts';
import { openTestDatabase, type TestDatabase } from '../../../testkit/kit/test-database.ts';
import { markDispatched } from '../../core/event-store.ts';
import { tally } from './outcomes.ts';
import { claimDeliveries, type DeliveryOutcome, recordOutcomes } from './queue-store.ts';

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
