import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { openTestDatabase, type TestDatabase } from '../../../testkit/kit/test-database.ts';
import { sql } from '../../core/sql.ts';
import { addToRollups, type RollupRow } from './rollup-store.ts';

let database: TestDatabase;
before(async () => {
  database = await openTestDatabase();
});
after(() => database.close());

test('[OBS-33] two minutes of one hour are stored together, and added to the hour', async () => {
  const { db } = database;
  const projectId = randomUUID();
  const of = (value: number): RollupRow => ({
    projectId,
    environment: 'DEVELOPMENT',
    grain: 'hour',
    at: '2026-11-17T06:00:00.000Z',
    metric: 'messages',
    value,
  });
  for (let n = 0; n < 2; n++) await db.transaction((tx) => addToRollups(tx, [of(2), of(3)]));
  const rows = await db.query(sql`select value from connection_rollups where project_id = ${projectId}`);
  assert.deepEqual(rows, [{ value: 10 }]);
});
