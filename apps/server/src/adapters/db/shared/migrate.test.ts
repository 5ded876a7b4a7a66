import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { migrationFolder } from '../../../../testkit/kit/migration-folder.ts';
import { openTestDatabase } from '../../../../testkit/kit/test-database.ts';
import { sql } from '../../../core/sql.ts';
import { createPostgres } from '../postgres/postgres.ts';
import { MigrationRefused, migrate } from './migrate.ts';

const url = process.env['PARLEY_TEST_DATABASE_URL'];
const first = { '0001_rooms.sql': 'create table rooms (id text primary key);' };
const second = {
  '0002_names.sql': "alter table rooms add name text not null default ''; create index rooms_name on rooms (name);",
};

for (const [name, where] of [
  ['embedded', ''],
  ['postgres', url],
] as const) {
  suite(name, { skip: where === undefined && 'no PARLEY_TEST_DATABASE_URL' }, () => {
    test(`[STO-10] ${name}: migrations run once and in order, later ones on what is there`, async (t) => {
      const folder = migrationFolder(first);
      const { db, close } = await openTestDatabase({ migrations: folder, url: where });
      t.after(close);
      writeFileSync(join(folder, '0002_names.sql'), second['0002_names.sql']);
      assert.deepEqual(await migrate(db, folder), { applied: ['0002_names'] });
      assert.deepEqual(await migrate(db, folder), { applied: [] });
      await db.execute(sql`insert into rooms (id, name) values ('r', 'n')`);
      const rows = await db.query(sql`select version, name from schema_migrations order by version`);
      assert.deepEqual(rows, [
        { version: 1, name: '0001_rooms' },
        { version: 2, name: '0002_names' },
      ]);
    });

    test(`[STO-10] ${name}: an edited, a missing or a failing migration is refused and changes nothing`, async (t) => {
      const folder = migrationFolder(first);
      const { db, close } = await openTestDatabase({ migrations: folder, url: where });
      t.after(close);
      const edited = migrationFolder({ '0001_rooms.sql': 'create table halls (id text primary key);', ...second });
      await assert.rejects(
        migrate(db, edited),
        (error) => error instanceof MigrationRefused && /was changed/.test(error.message),
      );
      const older = migrationFolder({ '0002_other.sql': 'select 1;' });
      await assert.rejects(
        migrate(db, older),
        (error) => error instanceof MigrationRefused && /newer version/.test(error.message),
      );
      const failing = migrationFolder({ ...first, '0002_half.sql': 'create table half (id text); select nonsense;' });
      await assert.rejects(migrate(db, failing), /nonsense/);
      assert.deepEqual(await db.query(sql`select version from schema_migrations`), [{ version: 1 }]);
      assert.deepEqual(await db.query(sql`select to_regclass('half') as half`), [{ half: null }]);
    });

    test(`[RUN-31] ${name}: a migration that says so builds and drops its indexes beside writers, even after a process died in one`, async (t) => {
      const folder = migrationFolder(first);
      const { db, close } = await openTestDatabase({ migrations: folder, url: where });
      t.after(close);
      // What a process leaves that is killed in such a build.
      await db.script(`insert into rooms values ('a'), ('b'); create index rooms_id_again on rooms ((id || ''));`);
      if (name === 'postgres')
        await db.script(`update pg_index set indisvalid = false where indexrelid = 'rooms_id_again'::regclass`);
      const indexes = [`rooms_id_again on rooms ((id || ''))`, 'rooms_upper on rooms (upper(id))'];
      const text = indexes.map((index) => `create index concurrently if not exists ${index};`);
      writeFileSync(join(folder, '0002_more.sql'), ['-- concurrently: rooms are many', ...text].join('\n'));
      const outcomes = await Promise.all([migrate(db, folder), migrate(db, folder)]);
      assert.deepEqual(
        outcomes.flatMap(({ applied }) => applied),
        ['0002_more'],
      );
      const built = await db.query(sql`
        select c.relname as name from pg_index i join pg_class c on c.oid = i.indexrelid
        where i.indrelid = 'rooms'::regclass and i.indisvalid order by 1`);
      assert.deepEqual(
        built.map((row) => row['name']),
        ['rooms_id_again', 'rooms_pkey', 'rooms_upper'],
      );
      // One is as a killed process leaves it, the other is not there.
      if (name === 'postgres')
        await db.script(`update pg_index set indisvalid = false where indexrelid = 'rooms_id_again'::regclass`);
      const drops = ['rooms_id_again', 'rooms_upper', 'rooms_never'];
      const dropping = drops.map((index) => `drop index concurrently if exists ${index};`);
      writeFileSync(join(folder, '0003_less.sql'), ['-- concurrently: rooms are many', ...dropping].join('\n'));
      const dropped = await Promise.all([migrate(db, folder), migrate(db, folder)]);
      assert.deepEqual(
        dropped.flatMap(({ applied }) => applied),
        ['0003_less'],
      );
      const left = await db.query(sql`select from pg_index i where i.indrelid = 'rooms'::regclass`);
      assert.equal(left.length, 1);
      const mixed = migrationFolder({
        ...first,
        '0002_mixed.sql': '-- concurrently: no\nalter table rooms add x int;',
      });
      await assert.rejects(migrate(db, mixed), /may only have statements "create index concurrently/);
    });
  });
}

test('[STO-10] a folder without migrations, a strange name and a number used twice are refused', async (t) => {
  const { db, close } = await openTestDatabase({ migrations: migrationFolder(first), url: '' });
  t.after(close);
  await assert.rejects(migrate(db, migrationFolder({})), /no migrations/);
  await assert.rejects(migrate(db, migrationFolder({ 'rooms.sql': '' })), /is not named like/);
  await assert.rejects(migrate(db, migrationFolder({ '0001_a.sql': '', '0001_b.sql': '' })), /Two migrations/);
});

test('[STO-10] eight processes that start together run each migration once', {
  skip: !url && 'no PARLEY_TEST_DATABASE_URL',
}, async (t) => {
  const database = await openTestDatabase({ migrations: migrationFolder(first), url });
  t.after(database.close);
  const folder = migrationFolder({
    ...first,
    ...second,
    '0003_slow.sql': 'select pg_sleep(0.2); create table slow (id text);',
  });
  const others = Array.from({ length: 8 }, () => createPostgres({ url: database.url ?? '', poolSize: 1 }));
  t.after(() => Promise.all(others.map((db) => db.close())));
  const results = await Promise.all(others.map((db) => migrate(db, folder)));
  assert.deepEqual(results.flatMap(({ applied }) => applied).sort(), ['0002_names', '0003_slow']);
});
