/**
 * What the removal of old rows costs on PostgreSQL, and what partitions by day would change:
 * `node tools/proof/retention.ts postgres://postgres@127.0.0.1:5432/postgres [rows]`. Makes and drops a database of its own.
 */
import pg from 'pg';
import { createPostgres } from '../../apps/server/src/adapters/db/postgres/postgres.ts';
import { migrate, serverMigrations } from '../../apps/server/src/adapters/db/shared/migrate.ts';
import { deleteInBatches, endlessTurn } from '../../apps/server/src/core/delete-in-batches.ts';
import { raw } from '../../apps/server/src/core/sql.ts';
import { deleteOldEvents } from '../../apps/server/src/domains/webhooks/queue-store.ts';

const [url = 'postgres://postgres@127.0.0.1:5432/postgres', count = '500000'] = process.argv.slice(2);
const rows = Number(count);
const days = 31;
const name = `proof_retention_${process.pid}`;
const admin = new pg.Client({ connectionString: url });
await admin.connect();
await admin.query(`create database ${name}`);
const own = new URL(url);
own.pathname = `/${name}`;
const db = createPostgres({ url: String(own), poolSize: 2, statementTimeoutMs: 600_000 });

const columns = 'id, project_id, environment, type, topic, data, created_at, dispatched_at';
/** Events of a message of usual length; `age` of the first in days, all within `span` days. */
const filled = (table: string, from: number, total: number, age: number, span: number) => `
  insert into ${table} (${columns})
  select 'evt_' || lpad(to_hex(${from} + g), 24, '0'), '00000000-0000-0000-0000-000000000001', 'DEVELOPMENT',
    'message.created', 'chat/conv_000000000000000000000000', '{"message":"' || repeat('x', 420) || '"}',
    now() - interval '${age} days' + g * (interval '${span} days' / ${total}), now()
  from generate_series(1, ${total}) g`;

async function timed(what: string, work: () => Promise<number>): Promise<void> {
  const start = performance.now();
  const done = await work();
  const ms = performance.now() - start;
  console.log(`${what}: ${done} in ${(ms / 1000).toFixed(2)} s, ${Math.round((done / ms) * 1000)} a second`);
}

const pagesOf = async (statement: string): Promise<number> => {
  const lines = await db.query<{ 'QUERY PLAN': string }>(raw(`explain (analyze, buffers, costs off) ${statement}`));
  const buffers = lines
    .map((row) => /Buffers: shared(?: hit=(\d+))?(?: read=(\d+))?/.exec(row['QUERY PLAN']))
    .find(Boolean);
  return Number(buffers?.[1] ?? 0) + Number(buffers?.[2] ?? 0);
};

try {
  await migrate(db, serverMigrations);
  const before = new Date(Date.now() - 30 * 86_400_000).toISOString();
  await db.execute(raw(filled('events', 0, rows, 40, 9)));
  await db.execute(raw('vacuum analyze events'));
  await timed('deleted in batches of 1000', () =>
    deleteInBatches({ turn: endlessTurn }, (limit) => deleteOldEvents(db, before, limit)),
  );
  // Where old rows were, young ones are now: an index that only grows wider (BRIN) does not forget the old.
  await db.execute(raw('vacuum analyze events'));
  await db.execute(raw(filled('events', rows, rows, 20, 20)));
  await db.execute(raw('vacuum analyze events'));
  const byAge = `select ctid from events where created_at < '${before}' and dispatched_at is not null limit 1000`;
  const byId = `select place from (select ctid as place, created_at from events where dispatched_at is not null
    order by id limit 1000) oldest where created_at < '${before}'`;
  console.log(`a look that finds nothing reads ${await pagesOf(byAge)} pages by age, ${await pagesOf(byId)} by id`);

  await db.script(`create table parts (like events including defaults, primary key (id, created_at))
    partition by range (created_at)`);
  for (let day = 0; day < days; day++)
    await db.script(`do $$ begin execute format('create table parts_${day} partition of parts for values from (%L) to (%L)',
      date_trunc('day', now()) - interval '${days - 2 - day} days', date_trunc('day', now()) - interval '${days - 3 - day} days');
      end $$`);
  await db
    .script(`create index on parts (project_id, environment, created_at, id);
    create index on parts (created_at) where dispatched_at is null; alter table parts set (autovacuum_enabled = true)`)
    .catch(() => {});
  await db.execute(raw(filled('parts', rows, rows, 20, 20)));
  await db.execute(raw('vacuum analyze parts'));
  for (const table of ['events', 'parts']) {
    const one = `update ${table} set dispatched_at = now() where id = 'evt_' || lpad(to_hex(${rows + 7}), 24, '0')`;
    await timed(`${table}: 500 inserts, one a statement`, async () => {
      for (let n = 0; n < 500; n++) await db.execute(raw(filled(table, 3 * rows + n, 1, 0, 0)));
      return 500;
    });
    await timed(`${table}: 500 marked as dispatched by id`, async () => {
      for (let n = 0; n < 500; n++) await db.execute(raw(one));
      return 500;
    });
    console.log(
      `${table}: one found by id reads ${await pagesOf(one.replace(/^update .* where/, `select from ${table} where`))} pages`,
    );
  }
} finally {
  await db.close();
  await admin.query(`drop database ${name}`);
  await admin.end();
}
