import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { openTestDatabase } from '../../../../testkit/kit/test-database.ts';
import { createSettableClock } from '../../../core/clock.ts';
import { DatabaseUnavailable, type Db } from '../../../core/db.ts';
import { followDatabaseTime } from './database-time.ts';

const aMomentMs = 10_000;
const isNow = (atMs: number): boolean => Math.abs(atMs - Date.now()) < aMomentMs;

test('[RUN-8] a process whose clock is wrong takes the time from the database', async () => {
  const { db, close } = await openTestDatabase();
  const clock = createSettableClock();
  clock.set(Date.now() + 600_000);
  const stop = await followDatabaseTime(clock, db);
  assert.ok(isNow(clock.now()), `${clock.now()} is not now`);
  stop();
  await close();
});

test('[RUN-8] a database whose clock is set is followed within five seconds, one that is away goes on', async (t) => {
  let [databaseMs, isAway] = [1_000_000_000, false];
  const query = async () => {
    if (isAway) throw new DatabaseUnavailable('away');
    return [{ now: databaseMs }];
  };
  const clock = createSettableClock();
  const offMs = (): number => Math.abs(clock.now() - databaseMs);
  t.mock.timers.enable({ apis: ['setInterval'] });
  const stop = await followDatabaseTime(clock, { query } as unknown as Db);
  const fiveSeconds = async (): Promise<void> => {
    t.mock.timers.tick(5_000);
    await turn();
  };
  assert.ok(offMs() < aMomentMs);
  for (const stepMs of [600_000, -600_000]) {
    databaseMs += stepMs;
    await fiveSeconds();
    assert.ok(offMs() < aMomentMs, `after ${stepMs} ms it is off by ${offMs()} ms`);
  }
  isAway = true;
  await fiveSeconds();
  assert.ok(offMs() < aMomentMs);
  [databaseMs, isAway] = [databaseMs + 600_000, false];
  await fiveSeconds();
  assert.ok(offMs() < aMomentMs);
  stop();
});

test('[RUN-8] setting the clock of the machine moves neither the time nor what is measured', (t) => {
  const clock = createSettableClock();
  const [before, started] = [clock.now(), clock.elapsed()];
  for (const offMs of [600_000, -600_000]) {
    t.mock.timers.enable({ apis: ['Date'], now: before + offMs });
    assert.ok(Math.abs(clock.now() - before) < aMomentMs);
    assert.ok(clock.elapsed() - started >= 0 && clock.elapsed() - started < aMomentMs);
    t.mock.timers.reset();
  }
});
