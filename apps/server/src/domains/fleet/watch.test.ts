import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClock } from '../../../testkit/kit/fake-clock.ts';
import { openTestDatabase } from '../../../testkit/kit/test-database.ts';
import { beatEveryMs, createWatch } from './watch.ts';

test('[FLEET-9] after a database outage no node counts as dead, whichever process looks first', async (t) => {
  const { db, close } = await openTestDatabase();
  t.after(close);
  const clock = createFakeClock();
  const [ours, other] = ['ours', 'other'].map((processId) => createWatch({ db, clock, processId }));
  assert.ok(ours && other);
  const pass = async (seconds: number, ...beating: (typeof ours)[]): Promise<void> => {
    for (let ms = 0; ms < seconds * 1000; ms += beatEveryMs) {
      await clock.advance(beatEveryMs);
      for (const watch of beating) await watch.beat();
    }
  };
  const dead = async (): Promise<string[]> => (await ours.deadProcesses()).map(({ id }) => id);
  await pass(60, ours, other);
  assert.deepEqual(await dead(), []);

  // The database is away. When it is back, a process may look before any heartbeat was stored.
  await pass(30);
  assert.deepEqual(await dead(), [], 'before our own beat');
  assert.equal(ours.silentBefore(30_000), null);
  await ours.beat();
  assert.deepEqual(await dead(), [], 'before the beat of the other');

  await pass(60, ours, other);
  await pass(30, ours);
  assert.deepEqual(await dead(), ['other'], 'who is silent while we listen is dead');
});
