import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeClock } from '../testkit/kit/fake-clock.ts';
import { startService } from '../testkit/kit/service.ts';
import type { Db, Queryable } from './core/db.ts';

test('[RUN-48] an idle service sends its database three statements a second at most', async (t) => {
  const clock = createFakeClock();
  let count = 0;
  const counted = (queryable: Queryable): Queryable => ({
    query(statement) {
      count += 1;
      return queryable.query(statement);
    },
    execute(statement) {
      count += 1;
      return queryable.execute(statement);
    },
  });
  const countedDb = (db: Db): Db => ({
    ...db,
    ...counted(db),
    batch(statements) {
      count += statements.length;
      return db.batch(statements);
    },
    transaction(work) {
      // Its begin and its commit.
      count += 2;
      return db.transaction((tx) => work({ ...tx, ...counted(tx) }));
    },
  });
  const service = await startService({ clock, wrap: (adapters) => ({ ...adapters, db: countedDb(adapters.db) }) });
  t.after(() => service.stop());
  const pass = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second++) {
      await clock.advance(1_000);
      // What this second asked for is answered before the next begins, and what that led to.
      for (let answers = 0; answers < 5; answers++) await service.adapters.db.ping();
    }
  };
  await pass(1);
  count = 0;
  await pass(30);
  assert.ok(count >= 30 && count <= 90, `${count} statements in 30 seconds`);
});
