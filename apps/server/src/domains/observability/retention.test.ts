import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClock } from '../../../testkit/kit/fake-clock.ts';
import { iso } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import { withoutDeadline } from '../../core/delete-in-batches.ts';
import { createLog } from '../../core/log.ts';
import { createMetrics } from '../../core/metrics.ts';
import type { Sql } from '../../core/sql.ts';
import { createObservability } from './index.ts';

test('[OBS-17] [OBS-25] what is too old is deleted also while sampling fails, samples of calls after 7 days', async () => {
  const deleted: string[] = [];
  const clock = createFakeClock();
  let samplesBefore: unknown;
  const db = {
    async query({ text }: Sql) {
      if (text.includes('insert into connection_rollups')) throw new Error('no sample today');
      return [];
    },
    async execute({ text: whole, values }: Sql) {
      const text = whole.trim();
      deleted.push(text.split(' ')[2] ?? '');
      if (deleted.at(-1) === 'call_samples') [samplesBefore] = values;
      return 0;
    },
  } as unknown as Db;
  const deps = {
    db,
    clock,
    log: createLog('silent'),
    metrics: createMetrics(),
    checks: {},
    limits: {},
    activity: { take: () => [] },
    replicated: { current: db },
  };
  const { chores = [] } = createObservability({ ...deps, ids: {}, cursors: {}, retentionDays: 30 } as never);
  const outcomes = await Promise.allSettled(chores.map(({ run }) => run(withoutDeadline)));
  assert.deepEqual(outcomes.map(({ status }) => status).sort(), [
    'fulfilled',
    'fulfilled',
    'fulfilled',
    'fulfilled',
    'rejected',
  ]);
  assert.deepEqual(deleted.sort(), [
    'api_requests',
    'call_samples',
    'calls',
    'connection_rollups',
    'connection_rollups',
    'connections',
  ]);
  assert.equal(samplesBefore, iso(clock.now() - 7 * 24 * 60 * 60 * 1000));
});
