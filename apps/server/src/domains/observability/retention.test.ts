import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClock } from '../../../testkit/kit/fake-clock.ts';
import type { Db } from '../../core/db.ts';
import { endlessTurn } from '../../core/delete-in-batches.ts';
import { createLog } from '../../core/log.ts';
import { createMetrics } from '../../core/metrics.ts';
import type { Sql } from '../../core/sql.ts';
import { createObservability } from './index.ts';

test('[OBS-17] what is too old is deleted also while sampling fails', async () => {
  const deleted: string[] = [];
  const db = {
    async query({ text }: Sql) {
      if (text.includes('insert into connection_rollups')) throw new Error('no sample today');
      return [];
    },
    async execute({ text: whole }: Sql) {
      const text = whole.trim();
      deleted.push(text.split(' ')[2] ?? '');
      return 0;
    },
  } as unknown as Db;
  const deps = {
    db,
    clock: createFakeClock(),
    log: createLog('silent'),
    metrics: createMetrics(),
    checks: {},
    limits: {},
    activity: { take: () => [] },
    replicated: { current: db },
  };
  const { chores = [] } = createObservability({ ...deps, ids: {}, cursors: {}, retentionDays: 30 } as never);
  const outcomes = await Promise.allSettled(chores.map(({ run }) => run(endlessTurn)));
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
});
