import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { eventually, processWorkMs } from '../../../../testkit/kit/eventually.ts';
import { emptyMigrations } from '../../../../testkit/kit/migration-folder.ts';
import { openTestDatabase } from '../../../../testkit/kit/test-database.ts';
import { startTcpProxy } from '../../../../testkit/peers/tcp-proxy.ts';
import { killRepeatedly, killsInSuite } from '../../../../testkit/proofs/killed-writer.ts';
import { DatabaseUnavailable } from '../../../core/db.ts';
import { sql } from '../../../core/sql.ts';
import { createPostgres } from './postgres.ts';

const url = process.env['PARLEY_TEST_DATABASE_URL'];
const skip = !url && 'no PARLEY_TEST_DATABASE_URL';
const migrations = emptyMigrations();

/** A database that is reached through a network that fails on command. */
async function openBehindProxy(t: TestContext, options: { poolSize?: number } = {}) {
  const { url: direct, close } = await openTestDatabase({ migrations, url });
  t.after(close);
  const proxy = await startTcpProxy(direct ?? '');
  t.after(proxy.close);
  const db = createPostgres({ url: proxy.url, ...options });
  t.after(() => db.close());
  return { db, proxy };
}

test('[STO-1] postgres: a process killed again and again while it writes loses no acknowledged row and leaves no half', {
  skip,
}, async (t) => {
  const { url: own, close } = await openTestDatabase({ migrations, url });
  t.after(close);
  await killRepeatedly(own ?? '', killsInSuite);
});

test('[STO-6] postgres: two transactions that deadlock both commit, the loser by running again', {
  skip,
}, async (t) => {
  const { db, close } = await openTestDatabase({ migrations, url });
  t.after(close);
  await db.script(
    'create table counters (id integer primary key, value integer); insert into counters values (1, 0), (2, 0);',
  );
  let runs = 0;
  let release = () => {};
  const bothHoldOne = new Promise<void>((resolve) => {
    release = resolve;
  });
  const increment = (first: number, second: number) =>
    db.transaction(async (tx) => {
      await tx.execute(sql`update counters set value = value + 1 where id = ${first}`);
      runs += 1;
      if (runs === 2) release();
      await bothHoldOne;
      await tx.execute(sql`update counters set value = value + 1 where id = ${second}`);
    });
  await Promise.all([increment(1, 2), increment(2, 1)]);
  assert.equal(runs, 3);
  assert.deepEqual(await db.query(sql`select value from counters`), [{ value: 2 }, { value: 2 }]);
});

test('[STO-9] postgres: a server that refuses, or accepts and never answers, is unavailable within its limit', async (t) => {
  const silent = createServer(() => {});
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  t.after(() => silent.close());
  const address = silent.address();
  assert.ok(address && typeof address === 'object');
  for (const port of [1, address.port]) {
    const db = createPostgres({ url: `postgres://nobody@127.0.0.1:${port}/none` });
    await assert.rejects(db.query(sql`select 1`), DatabaseUnavailable);
    await assert.rejects(
      db.transaction((tx) => tx.query(sql`select 1`)),
      DatabaseUnavailable,
    );
    await assert.rejects(db.ping(), DatabaseUnavailable);
    await db.close();
  }
});

test('[STO-9] postgres: connections cut in the middle give DatabaseUnavailable, and the next query finds the server again', {
  skip,
}, async (t) => {
  const { db, proxy } = await openBehindProxy(t);

  const slow = db.query(sql`select pg_sleep(30)`);
  const inTransaction = db.transaction(async (tx) => {
    await tx.query(sql`select 1`);
    await tx.query(sql`select pg_sleep(30)`);
  });
  await eventually(() => assert.equal(proxy.connections(), 2));
  const rejections = [slow, inTransaction].map((work) => assert.rejects(work, DatabaseUnavailable));
  proxy.cut();
  await Promise.all(rejections);
  await assert.rejects(db.ping(), DatabaseUnavailable);

  proxy.restore();
  assert.ok((await db.ping()) >= 0);
});

test('[STO-13] postgres: batches are cut with their connections, and the next finds the server again', {
  skip,
}, async (t) => {
  const { db, proxy } = await openBehindProxy(t);
  const batch = (seconds: number) => db.batch([sql`select 1`, sql`select pg_sleep(${seconds}) is null as slept`]);
  // A statement has a name from its second use on.
  for (let use = 1; use <= 2; use++) await batch(0);
  const cut = [batch(30), batch(30)].map((work) => assert.rejects(work, DatabaseUnavailable));
  await nextTurn();
  proxy.cut();
  await Promise.all(cut);
  proxy.restore();
  assert.equal((await batch(0)).length, 2);
});

test('[STO-9] postgres: a server that falls silent behind open connections is unavailable within two seconds', {
  skip,
}, async (t) => {
  const { db, proxy } = await openBehindProxy(t, { poolSize: 2 });
  await Promise.all([db.ping(), db.ping()]);
  proxy.freeze();
  await assert.rejects(db.query(sql`select 1`), DatabaseUnavailable);
  proxy.restore();
  await eventually(async () => assert.ok((await db.ping()) >= 0), { withinMs: processWorkMs });
});

test('[STO-9] postgres: in the silence nobody begins another wait: not in the queue, not in a transaction, not to roll back', {
  skip,
}, async (t) => {
  const { db, proxy } = await openBehindProxy(t, { poolSize: 3 });
  const isSilent = Promise.withResolvers<void>();
  const open = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
  const goingOn = db.transaction(async (tx) => {
    await tx.query(sql`select 1`);
    open[0].resolve();
    await isSilent.promise;
    await tx.query(sql`select 1`);
  });
  const failing = db.transaction(async (tx) => {
    await tx.query(sql`select 1`);
    open[1].resolve();
    await isSilent.promise;
    throw new RangeError('of the work itself');
  });
  const [unavailable, itsOwn] = [
    assert.rejects(goingOn, DatabaseUnavailable),
    assert.rejects(failing, { message: 'of the work itself' }),
  ];
  await Promise.all(open.map(({ promise }) => promise));
  await db.ping();
  proxy.freeze();
  await Promise.all([1, 2].map(() => assert.rejects(db.ping(), DatabaseUnavailable)));
  isSilent.resolve();
  await Promise.all([unavailable, itsOwn]);
  await assert.rejects(db.ping(), DatabaseUnavailable);
  proxy.restore();
  await eventually(async () => assert.ok((await db.ping()) >= 0), { withinMs: processWorkMs });
});

test('[RUN-31] postgres: what a script set for a build that failed does not outlive it', { skip }, async (t) => {
  const { url: direct, close } = await openTestDatabase({ migrations, url });
  t.after(close);
  const db = createPostgres({ url: direct ?? '', poolSize: 1, statementTimeoutMs: 7_000 });
  t.after(() => db.close());
  await assert.rejects(
    db.script('set statement_timeout = 0', 'select nonsense', 'reset statement_timeout'),
    /nonsense/,
  );
  assert.deepEqual(await db.query(sql`show statement_timeout`), [{ statement_timeout: '7s' }]);
});

test('[STO-6] postgres: a schema changed by another process does not fail statements prepared before', {
  skip,
}, async (t) => {
  const { db, url: direct, close } = await openTestDatabase({ migrations, url });
  t.after(close);
  const other = createPostgres({ url: direct ?? '', poolSize: 1 });
  t.after(() => other.close());
  await db.script('create table rooms (id integer); insert into rooms values (1);');
  for (let i = 0; i < 5; i += 1) assert.deepEqual(await db.query(sql`select * from rooms`), [{ id: 1 }]);
  await other.script("alter table rooms add name text not null default 'n'");
  assert.deepEqual(await db.query(sql`select * from rooms`), [{ id: 1, name: 'n' }]);
  assert.deepEqual(await db.transaction((tx) => tx.query(sql`select * from rooms`)), [{ id: 1, name: 'n' }]);
});
