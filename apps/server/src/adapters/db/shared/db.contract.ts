import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ConstraintViolation, DatabaseUnavailable, type Db } from '../../../core/db.ts';
import { json, Lock, sql } from '../../../core/sql.ts';

/** What both databases promise. `open` gives an empty database. */
export function dbContract(name: string, open: () => Promise<Db & { close(): Promise<void> }>): void {
  let db: Db;

  before(async () => {
    db = await open();
    await db.script(`
      create table parents (id text primary key, name text not null, constraint parents_name_key unique (name));
      create table children (
        id text primary key,
        parent_id text not null constraint children_parent_fkey references parents (id),
        size integer not null constraint children_size_check check (size > 0)
      );
      create table counters (id integer primary key, value integer not null);
      insert into parents values ('p1', 'first');
      insert into counters values (1, 0), (2, 0);`);
  });
  after(() => db.close());

  test(`[STO-15] ${name}: to the planner another row costs hardly more than the next one, and nothing is compiled`, async () => {
    const [row] = await db.query(sql`
      select current_setting('random_page_cost')::float8 as cost, current_setting('jit') as jit`);
    assert.deepEqual(row, { cost: 1.1, jit: 'off' });
  });

  test(`[STO-4] ${name}: a row looks the same whichever database gives it`, async () => {
    const [row] = await db.query(sql`
      select 1::int2 as i2, 2::int4 as i4, 9007199254740991::int8 as i8, 1.5::float8 as f8, 12.25::numeric as num,
        true as yes, false as no, 'x'::text as t, 'y'::varchar as v, null::text as nothing,
        '{"a":[1,{"b":null}]}'::json as j, '{"a":1}'::jsonb as jb,
        timestamptz '2026-01-02 03:04:05.678912+02' as at, timestamptz '2026-01-02 03:04:05Z' as whole,
        timestamptz '2026-01-02 03:04:05.6Z' as tenth, date '2026-01-02' as day,
        '0197c1c6-7a5b-7c3e-8a51-3f2d1c0b9a88'::uuid as u, '\\x00ff10'::bytea as bytes, count(*) as n`);
    assert.deepEqual(row, {
      i2: 1,
      i4: 2,
      i8: 9007199254740991,
      f8: 1.5,
      num: 12.25,
      yes: true,
      no: false,
      t: 'x',
      v: 'y',
      nothing: null,
      j: { a: [1, { b: null }] },
      jb: { a: 1 },
      at: '2026-01-02T01:04:05.678Z',
      whole: '2026-01-02T03:04:05.000Z',
      tenth: '2026-01-02T03:04:05.600Z',
      day: '2026-01-02',
      u: '0197c1c6-7a5b-7c3e-8a51-3f2d1c0b9a88',
      bytes: Buffer.from([0, 255, 16]),
      n: 1,
    });
    assert.ok(Buffer.isBuffer(row?.['bytes']));
  });

  test(`[STO-4] ${name}: arrays come as arrays, with null, quotes, commas and nesting intact`, async () => {
    const words = ['plain', 'a,b', 'say "hi"', 'back\\slash', '{brace}', '', 'NULL', null];
    const [row] = await db.query(sql`
      select ${words}::text[] as words, ${[1, null, 3]}::int8[] as numbers, '{}'::text[] as none,
        ${[[1, 2], [3, 4]]}::int4[] as grid, array[timestamptz '2026-01-02 03:04:05Z'] as times,
        ${[true, false]}::bool[] as flags`); // biome-ignore format: one row
    assert.deepEqual(row, {
      words,
      numbers: [1, null, 3],
      none: [],
      grid: [[1, 2], [3, 4]], // biome-ignore format: a grid
      times: ['2026-01-02T03:04:05.000Z'],
      flags: [true, false],
    });
  });

  test(`[STO-4] ${name}: every kind of parameter arrives as it was given`, async () => {
    const at = new Date('2026-01-02T03:04:05.678Z');
    const [row] = await db.query(sql`
      select ${'ä€😀'}::text as t, ${42}::int4 as i, ${1.25}::float8 as f, ${true}::bool as b, ${undefined}::text as missing,
        ${at}::timestamptz as at, ${json({ a: "it's" })}::jsonb as j, ${Buffer.from('bytes')}::bytea as bytes,
        ${new Uint8Array([1, 2])}::bytea as view, ${10n ** 15n}::int8 as big`);
    assert.deepEqual(row, {
      t: 'ä€😀',
      i: 42,
      f: 1.25,
      b: true,
      missing: null,
      at: '2026-01-02T03:04:05.678Z',
      j: { a: "it's" },
      bytes: Buffer.from('bytes'),
      view: Buffer.from([1, 2]),
      big: 10 ** 15,
    });
  });

  test(`[STO-4] ${name}: what cannot be a parameter is refused, and nothing is stored in its place`, async () => {
    const forgotten = () => 'a call without its brackets';
    await assert.rejects(db.query(sql`select ${forgotten}::text`), TypeError);
    await assert.rejects(
      db.transaction((tx) => tx.query(sql`select ${[forgotten]}::text[]`)),
      TypeError,
    );
    await assert.rejects(db.batch([sql`select 1`, sql`select ${forgotten}::text`]), TypeError);
    assert.deepEqual(await db.query(sql`select 1 as one`), [{ one: 1 }]);
  });

  test(`[STO-4] ${name}: execute returns how many rows it touched`, async () => {
    assert.equal(await db.execute(sql`insert into parents values ('e1', 'e1'), ('e2', 'e2')`), 2);
    assert.equal(await db.execute(sql`update parents set name = name || '!' where id = 'e1'`), 1);
    assert.equal(await db.execute(sql`delete from parents where id in ('e1', 'e2', 'e3')`), 2);
    assert.equal(await db.execute(sql`delete from parents where id = 'e1'`), 0);
  });

  test(`[STO-5] ${name}: a refused write names the kind and the constraint`, async () => {
    const refusals: [ConstraintViolation['kind'], string, Parameters<Db['execute']>[0]][] = [
      ['unique', 'parents_name_key', sql`insert into parents values ('x', 'first')`],
      ['foreignKey', 'children_parent_fkey', sql`insert into children values ('c', 'nobody', 1)`],
      ['check', 'children_size_check', sql`insert into children values ('c', 'p1', 0)`],
      ['notNull', 'parents.name', sql`insert into parents values ('x', null)`],
    ];
    for (const [kind, constraint, statement] of refusals) {
      await assert.rejects(db.execute(statement), (error) => {
        assert.ok(error instanceof ConstraintViolation, String(error));
        assert.deepEqual([error.kind, error.constraint], [kind, constraint]);
        return true;
      });
    }
    await assert.rejects(db.query(sql`select * from nowhere`), /nowhere/);
    assert.deepEqual(await db.query(sql`select 1 as alive`), [{ alive: 1 }]);
  });

  test(`[STO-6] ${name}: a transaction commits when its work resolves`, async () => {
    const answer = await db.transaction(async (tx) => {
      await tx.execute(sql`insert into parents values ('t1', 't1')`);
      const [row] = await tx.query<{ name: string }>(sql`select name from parents where id = 't1'`);
      return row?.name;
    });
    assert.equal(answer, 't1');
    assert.equal((await db.query(sql`select from parents where id = 't1'`)).length, 1);
  });

  test(`[STO-6] ${name}: a transaction leaves nothing when its work throws, and throws the same error`, async () => {
    const failure = new Error('changed my mind');
    const work = db.transaction(async (tx) => {
      await tx.execute(sql`insert into parents values ('t2', 't2')`);
      throw failure;
    });
    await assert.rejects(work, (error) => error === failure);
    assert.deepEqual(await db.query(sql`select id from parents where id = 't2'`), []);
  });

  test(`[STO-6] ${name}: work that swallows a failed statement does not count as committed`, async () => {
    const work = db.transaction(async (tx) => {
      await tx.execute(sql`insert into parents values ('t3', 't3')`);
      await tx.execute(sql`insert into parents values ('t3', 'again')`).catch(() => {});
    });
    await assert.rejects(work, /rolled back/);
    assert.deepEqual(await db.query(sql`select id from parents where id = 't3'`), []);
  });

  test(`[STO-6] ${name}: what others write beside an open transaction neither joins it nor is lost with it`, async () => {
    const inside = Promise.withResolvers<void>();
    const written = Promise.withResolvers<void>();
    const work = db.transaction(async (tx) => {
      await tx.execute(sql`insert into parents values ('i1', 'i1')`);
      inside.resolve();
      await written.promise;
      await tx.query(sql`select 1`);
      throw new Error('undo');
    });
    await inside.promise;
    const beside = db.execute(sql`insert into parents values ('i2', 'i2')`);
    written.resolve();
    await assert.rejects(work, /undo/);
    assert.equal(await beside, 1);
    assert.deepEqual(await db.query(sql`select id from parents where id in ('i1', 'i2')`), [{ id: 'i2' }]);
  });

  test(`[STO-6] ${name}: fifty transactions at once on the same rows lose no increment`, async () => {
    const increment = () =>
      db.transaction(async (tx) => {
        await tx.execute(sql`update counters set value = value + 1 where id = 1`);
        await tx.execute(sql`update counters set value = value + 1 where id = 2`);
      });
    await Promise.all(Array.from({ length: 50 }, increment));
    assert.deepEqual(await db.query(sql`select value from counters order by id`), [{ value: 50 }, { value: 50 }]);
  });

  test(`[STO-13] ${name}: a batch gives the rows of each statement and is stored whole`, async () => {
    const [none, one, all] = await db.batch([
      sql`insert into parents values ('b1', 'b1'), ('b2', 'b2')`,
      sql`update parents set name = ${'b2!'} where id = 'b2' returning name`,
      sql`select id, name from parents where id like 'b_' order by id`,
    ]);
    assert.deepEqual([none, one], [[], [{ name: 'b2!' }]]);
    assert.deepEqual(all, [
      { id: 'b1', name: 'b1' },
      { id: 'b2', name: 'b2!' },
    ]);
  });

  test(`[STO-13] ${name}: a lock of a batch gives no rows and keeps the places of the others`, async () => {
    const lock = Lock.of(sql`select id from parents for update`);
    const rows = await db.batch([sql`select 1 as one`, lock, sql`select 2 as two`]);
    assert.deepEqual(rows, [[{ one: 1 }], [], [{ two: 2 }]]);
    assert.deepEqual(await db.batch([lock]), [[]]);
  });

  test(`[STO-13] ${name}: a batch that comes again gives all of its rows, also after a column was added`, async () => {
    await db.script('create table shapes (id integer); insert into shapes values (7)');
    const ask = () => db.batch([sql`select * from shapes`, sql`select name, id from parents where id = 'b1'`]);
    const parent = [{ name: 'b1', id: 'b1' }];
    for (let round = 0; round < 4; round++) assert.deepEqual(await ask(), [[{ id: 7 }], parent]);
    await db.script("alter table shapes add column size text default 'small'");
    for (let round = 0; round < 4; round++) assert.deepEqual(await ask(), [[{ id: 7, size: 'small' }], parent]);
    await db.script('drop table shapes');
  });

  test(`[STO-13] ${name}: a batch of which one statement fails leaves nothing, whichever it is and however often`, async () => {
    const good = sql`insert into parents values ('f1', 'f1')`;
    const bad = sql`insert into parents values ('f2', 'first')`;
    for (let round = 0; round < 4; round++) {
      for (const statements of [[good, bad], [bad, good], [bad]]) {
        await assert.rejects(db.batch(statements), ConstraintViolation);
      }
      assert.deepEqual(await db.query(sql`select id from parents where id in ('f1', 'f2')`), []);
    }
    assert.deepEqual(await db.batch([sql`select 1 as one`, sql`select 2 as two`]), [[{ one: 1 }], [{ two: 2 }]]);
  });

  test(`[STO-13] ${name}: a statement of a batch sees what was committed while the one before it waited`, async () => {
    await db.execute(sql`update counters set value = 0 where id = 2`);
    const raise = () =>
      db.batch([
        sql`select from counters where id = 2 for update`,
        // Another row's value in a subselect: an old snapshot would lose increments.
        sql`update counters set value = (select value from counters where id = 2) + 1 where id = 2`,
      ]);
    await Promise.all(Array.from({ length: 50 }, raise));
    assert.deepEqual(await db.query(sql`select value from counters where id = 2`), [{ value: 50 }]);
  });

  test(`[STO-13] ${name}: of batches side by side each sees what the others stored, and one that fails touches none`, async () => {
    await db.execute(sql`update counters set value = 0 where id = 1`);
    const raise = sql`update counters set value = value + 1 where id = 1 returning value`;
    const fail = sql`insert into parents values ('l1', 'first')`;
    // The first rounds name the statements on their connections.
    for (const round of [0, 1, 2, 3]) {
      const outcomes = await Promise.allSettled(
        [[raise], [raise, fail], [raise], [raise], [raise]].map((statements) => db.batch(statements)),
      );
      assert.deepEqual(
        outcomes.map(({ status }) => status),
        ['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled'],
      );
      const given = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? outcome.value.flat() : []));
      const values = given.map(({ value }) => Number(value) - 4 * round);
      assert.deepEqual(values.toSorted(), [1, 2, 3, 4]);
    }
    await assert.rejects(
      db.transaction(() => db.batch([raise])),
      /use tx/,
    );
  });

  test(`[STO-7] ${name}: a query on db inside its own transaction is refused, it does not hang`, async () => {
    await assert.rejects(
      db.transaction(() => db.query(sql`select 1`)),
      /use tx/,
    );
    let leaked: Parameters<Parameters<Db['transaction']>[0]>[0] | undefined;
    await db.transaction(async (tx) => {
      leaked = tx;
    });
    await assert.rejects(async () => leaked?.query(sql`select 1`), /has ended/);
  });

  test(`[STO-6] ${name}: a script that fails half way leaves nothing behind`, async () => {
    await assert.rejects(db.script(`begin; insert into parents values ('s1', 's1'); select nonsense; commit;`));
    assert.deepEqual(await db.query(sql`select id from parents where id = 's1'`), []);
  });

  test(`[STO-4] ${name}: large values and many statements at once come back whole`, async () => {
    const large = 'ä'.repeat(2_000_000);
    const [row] = await db.query<{ t: string; n: number }>(
      sql`select ${large}::text as t, length(${large}::text) as n`,
    );
    assert.equal(row?.n, large.length);
    assert.equal(row?.t, large);
    const answers = await Promise.all(Array.from({ length: 500 }, (_, i) => db.query(sql`select ${i}::int4 as i`)));
    assert.deepEqual(
      answers.map(([answer]) => answer?.['i']),
      answers.map((_, i) => i),
    );
  });

  test(`[STO-8] ${name}: ping measures a round trip, and after close everything is refused as unavailable`, async () => {
    const other = await open();
    assert.ok((await other.ping()) >= 0);
    await other.close();
    await assert.rejects(other.ping(), DatabaseUnavailable);
    await assert.rejects(other.query(sql`select 1`), DatabaseUnavailable);
  });
}
