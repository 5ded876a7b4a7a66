import assert from 'node:assert/strict';
import { test } from 'node:test';
import { migrationFolder } from '../../testkit/kit/migration-folder.ts';
import { openTestDatabase } from '../../testkit/kit/test-database.ts';
import { sql } from '../core/sql.ts';
import type { Frame } from './frames.ts';
import { openLoader, takeSnapshot } from './snapshot-store.ts';

const first = {
  '0001_kinds.sql': `
    create sequence tickets;
    create table owners (id bigint generated always as identity primary key, name text);
    create table kinds (
      owner bigint references owners (id), t text, j json, b jsonb, y bytea, l text[], at timestamptz,
      f double precision, n numeric, u uuid, d date, o boolean, i interval,
      g integer generated always as (length(t)) stored);`,
};

test('[BAK-8] values of every kind come back exactly, and counters go on where they were', async (t) => {
  const { db, close } = await openTestDatabase({ migrations: migrationFolder(first) });
  t.after(close);
  await db.script(`
    insert into owners (name) values ('one'), (null);
    insert into kinds values
      (1, E'a "b" \\\\ , \n\t{}', '{"b": 1,  "a": [1.50, "\\u00e9"]}', '{"x": null}', '\\x00ff', array['a,b', null, '"'],
       '2026-01-02 03:04:05.678901+00', 0.1, 12345678901234567890.123, gen_random_uuid(), '2026-01-02', true, '1 day'),
      (2, '', 'null', '"s"', '', '{}', 'infinity', 'NaN', 0, null, null, false, null),
      (null, null, null, null, null, null, null, null, null, null, null, null, null);
    select nextval('tickets'), nextval('tickets');`);
  const read = () => db.query(sql`select kinds::text as row from kinds union all select owners::text from owners`);
  const [was, frames]: [unknown, Frame[]] = [await read(), []];
  await takeSnapshot(db, async (head, body = Buffer.alloc(0)) => void frames.push({ head, body }));
  await db.script(
    `delete from kinds; delete from owners; alter sequence tickets restart; alter sequence owners_id_seq restart;`,
  );
  await db.transaction(async (tx) => {
    const loader = await openLoader(tx, frames[0]?.head.is === 'snapshot' ? frames[0].head.tables : []);
    for (const { head, body } of frames) {
      if (head.is === 'rows') await loader.rows(head.table, body);
      if (head.is === 'counters') await loader.counters(head.values);
    }
  });
  assert.deepEqual(await read(), was);
  const next = sql`insert into owners (name) values ('next') returning id, nextval('tickets') as ticket`;
  assert.deepEqual(await db.query(next), [{ id: 3, ticket: 3 }]);
});
