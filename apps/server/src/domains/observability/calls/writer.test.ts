import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClock } from '../../../../testkit/kit/fake-clock.ts';
import type { Db } from '../../../core/db.ts';
import { createLog } from '../../../core/log.ts';
import type { Sql } from '../../../core/sql.ts';
import { createUsageCounts } from '../../../core/usage-counts.ts';
import { createSampleWriter } from './writer.ts';

const alice = {
  projectId: 'p',
  environment: 'DEVELOPMENT',
  connectionId: 'c',
  roomId: 'r',
  identity: 'alice',
} as const;
const known = { ...alice, id: 'row-1', roomName: null, callId: 'call', joinedAt: '2026-01-01T00:00:00.000Z' };

/** A writer whose database knows the connection of Alice only, and keeps until when it was sampled. */
function writer() {
  const clock = createFakeClock();
  const written = { samples: 0, writes: 0 };
  let until: string | undefined;
  const tx = {
    async query({ text, values }: Sql) {
      if (text.includes('from connections c') || text.includes('join connections c')) return [known];
      if (text.includes('sampled_until as until')) return until === undefined ? [] : [{ connection: 'row-1', until }];
      for (const row of JSON.parse(String(values[0])) as { until: string }[]) until = row.until;
      return [];
    },
    async execute({ text, values }: Sql) {
      if (text.includes('into call_samples')) written.samples += (JSON.parse(String(values[0])) as unknown[]).length;
      return 1;
    },
  };
  const db = {
    transaction: (run: (own: unknown) => Promise<unknown>) => {
      written.writes++;
      return run(tx);
    },
  } as unknown as Db;
  const changes = { note: () => {}, watch: async () => () => {} };
  const usageCounts = createUsageCounts({ clock });
  return {
    clock,
    written,
    usageCounts,
    ...createSampleWriter({ db, clock, log: createLog('silent'), changes, usageCounts }),
  };
}

const ofTwentySeconds = { everyMs: 5_000, count: 4, bandwidth: [1, 1, 1, 1], tracks: [] };

test('[OBS-24] samples of a connection are taken from its participant only, also in one write with another', async () => {
  const { take, written } = writer();
  const taken = await Promise.all([
    take(alice, ofTwentySeconds),
    take({ ...alice, identity: 'mallory' }, ofTwentySeconds),
    take({ ...alice, roomId: 'elsewhere' }, ofTwentySeconds),
  ]);
  assert.deepEqual([taken, written], [[true, false, false], { samples: 1, writes: 1 }]);
});

test('[OBS-25] samples of a connection account for no more time than has passed, but for one batch', async () => {
  const { take, clock, written } = writer();
  const flood = await Promise.all(Array.from({ length: 30 }, () => take(alice, ofTwentySeconds)));
  assert.equal(flood.filter(Boolean).length, 2);
  for (let minutes = 0; minutes < 3; minutes++) {
    for (let second = 0; second < 60; second += 2) {
      await take(alice, ofTwentySeconds);
      clock.step(2_000);
    }
  }
  assert.ok(written.samples <= 3 * 3 + 2, `${written.samples} batches in three minutes`);
  assert.ok(written.samples >= 3 * 3, `${written.samples} batches in three minutes`);
});

test('[OBS-45] what a participant received counts as sent, once it is stored and as far as it can be', async () => {
  const { take, usageCounts } = writer();
  const track = (way: string, kbps: number[]) => ({ id: `${way}-1`, way, kind: 'video', kbps });
  const tracks = [track('in', [800, 800, 0, 10_000_000]), track('out', [5_000, 5_000, 5_000, 5_000])];
  await take(alice, { ...ofTwentySeconds, tracks });
  await take({ ...alice, identity: 'mallory' }, { ...ofTwentySeconds, tracks });
  assert.deepEqual(
    usageCounts.take().map(({ meter, keyId, value }) => [meter, keyId, value]),
    [['sentBytes', '', (800 + 800 + 100_000) * 625]],
  );
});

test('[OBS-55] what the node counted is stored of known connections, and counts neither as traffic nor as sampled time', async () => {
  const { take, takeOfNode, written, usageCounts } = writer();
  const tracks = [{ id: 'tr_1', way: 'in', kind: 'video', kbps: [800, 800, 800, 800] }];
  const taken = await Promise.all([
    takeOfNode(alice, { ...ofTwentySeconds, tracks }),
    takeOfNode({ ...alice, identity: 'mallory' }, { ...ofTwentySeconds, tracks }),
    take(alice, ofTwentySeconds),
    take(alice, ofTwentySeconds),
    take(alice, ofTwentySeconds),
  ]);
  assert.deepEqual([taken, written.samples], [[true, false, true, true, false], 3]);
  assert.deepEqual(
    usageCounts.take().map(({ value }) => value),
    [0],
  );
});
