import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { lastingPlans } from '../../../testkit/kit/plans.ts';
import { openTestDatabase, type TestDatabase } from '../../../testkit/kit/test-database.ts';
import { lockConnections, updateConnections } from './connection-store.ts';
import { listOverfull, listRequests } from './requests/request-store.ts';

let database: TestDatabase;
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

test('[STO-15] telemetry goes by row, planned on empty tables too', async () => {
  const plans = await lastingPlans(database.db, (db) =>
    db.transaction(async (tx) => {
      await lockConnections(tx, []);
      await updateConnections(tx, []);
    }),
  );
  assert.match(plans, /LockRows/, plans);
  assert.match(plans, /Update on connections/, plans);
  assert.doesNotMatch(plans, /Seq Scan on connections/, plans);
});

test('[OBS-35] which logs are overfull is read from the index of a project and environment, in its order', async () => {
  const plans = await lastingPlans(database.db, (db) => listOverfull(db, 200_000));
  assert.match(plans, /Scan Backward using api_requests_newest/, plans);
  assert.doesNotMatch(plans, /Sort|Seq Scan on api_requests|api_requests_pkey/, plans);
});

test('[OBS-57] each filter of the request log has its index, also a part of a route', async () => {
  const scope = { projectId: '00000000-0000-7000-8000-000000000000', environment: 'DEVELOPMENT' } as const;
  const filters = { route: 'x', method: 'GET', key: { keyId: 'x' }, code: 'x' };
  for (const [name, value] of Object.entries(filters)) {
    const filter = typeof value === 'string' ? { [name]: value } : value;
    const plans = await lastingPlans(database.db, (db) =>
      listRequests(db, scope, { ...filter, after: null, limit: 50 }),
    );
    assert.match(
      plans,
      new RegExp(`Backward using api_requests_by_${name}|Backward on api_requests_by_${name}`),
      plans,
    );
    assert.doesNotMatch(plans, /Seq Scan on api_requests/, plans);
  }
});
