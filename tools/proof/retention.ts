/**
 * What the removal of old rows costs on PostgreSQL, and what partitions by day would change (ADR 151, ADR 250):
 * `node tools/proof/retention.ts postgres://postgres@127.0.0.1:5432/postgres [rows of each] [tables with commas]`. Makes
 * and drops a database of its own.
 */
import pg from 'pg';
import { createPostgres } from '../../apps/server/src/adapters/db/postgres/postgres.ts';
import { migrate, serverMigrations } from '../../apps/server/src/adapters/db/shared/migrate.ts';
import type { Db } from '../../apps/server/src/core/db.ts';
import { deleteInBatches, withoutDeadline } from '../../apps/server/src/core/delete-in-batches.ts';
import { raw, Sql } from '../../apps/server/src/core/sql.ts';
import { connectionEvents, deliveries, events, type Filling, type GrownTable } from './retention-tables.ts';

const [url = 'postgres://postgres@127.0.0.1:5432/postgres', count = '500000', only] = process.argv.slice(2);
const rows = Number(count);
const all = [events, deliveries, connectionEvents];
const wanted = only === undefined ? all : all.filter(({ table }) => only.split(',').includes(table));
if (wanted.length === 0) throw new Error(`No such table: ${all.map(({ table }) => table).join()}.`);
const days = 31;
const repeats = 500;
/** Rows of one statement that fills. */
const chunk = 1_000_000;
const before = new Date(Date.now() - 30 * 86_400_000).toISOString();

const name = `proof_retention_${process.pid}`;
const admin = new pg.Client({ connectionString: url });
await admin.connect();
await admin.query(`create database ${name}`);
const own = new URL(url);
own.pathname = `/${name}`;
// What a statement costs, not what a disk takes to confirm it: in a service many share that.
own.searchParams.set('options', '-c synchronous_commit=off');
const db = createPostgres({ url: String(own), poolSize: 2, statementTimeoutMs: 3_600_000 });

const run = (statement: string): Promise<number> => db.execute(raw(statement));

async function timed(what: string, work: () => Promise<number>): Promise<void> {
  const start = performance.now();
  const done = await work();
  const ms = performance.now() - start;
  const rate = done > 1 ? `, ${Math.round((done / ms) * 1000)} a second` : '';
  console.log(`${what}: ${done} in ${(ms / 1000).toFixed(2)} s${rate}`);
}

const repeated = (statement: (n: number) => Sql) => async (): Promise<number> => {
  for (let n = 0; n < repeats; n++) await db.execute(statement(n));
  return repeats;
};

const countOf = async (table: string): Promise<number> =>
  (await db.query<{ count: number }>(raw(`select count(*) as count from ${table}`)))[0]?.count ?? 0;

/** Pages that a statement touches. */
async function pagesOf({ strings, values }: Sql): Promise<number> {
  const text = `explain (analyze, buffers, costs off) ${strings[0]}`;
  const lines = await db.query<{ 'QUERY PLAN': string }>(new Sql([text, ...strings.slice(1)], values));
  const buffers = lines
    .map((row) => /Buffers: shared(?: hit=(\d+))?(?: read=(\d+))?/.exec(row['QUERY PLAN']))
    .find(Boolean);
  return Number(buffers?.[1] ?? 0) + Number(buffers?.[2] ?? 0);
}

/** Of what retention sends when nothing is old. */
async function pagesOfLook({ remove, batchMax }: GrownTable): Promise<number> {
  let pages = 0;
  const explain = async (statement: Sql): Promise<void> => {
    pages += await pagesOf(statement);
  };
  const counted: Db = {
    ...db,
    async execute(statement) {
      await explain(statement);
      return 0;
    },
    async query<T extends object>(statement: Sql): Promise<T[]> {
      await explain(statement);
      return db.query<T>(statement);
    },
  };
  const removeSome = await remove(counted, before);
  await removeSome(batchMax);
  return pages;
}

async function fill({ fill }: GrownTable, table: string, { from, total, age, span }: Filling): Promise<void> {
  for (let done = 0; done < total; done += chunk) {
    const part = Math.min(chunk, total - done);
    // Each part is some of the days.
    const filling = { from: from + done, total: part, age: age - (span * done) / total, span: (span * part) / total };
    for (const statement of fill(table, filling)) await run(statement);
  }
}

/** The same rows in partitions of a day. */
async function makeParts({ table, time, primaryKey, indexes, storage = '' }: GrownTable): Promise<void> {
  await db.script(`create table parts (like ${table} including defaults, primary key (${primaryKey}))
    partition by range (${time})`);
  for (let day = 0; day < days; day++)
    await db.script(`do $$ begin execute format('create table parts_${day} partition of parts for values from (%L) to (%L) ${storage}',
      date_trunc('day', now()) - interval '${days - 2 - day} days', date_trunc('day', now()) - interval '${days - 3 - day} days');
      end $$`);
  for (const index of indexes) await run(`create index on parts ${index}`);
}

async function measure(grown: GrownTable): Promise<void> {
  const { table, remove, batchMax, work, reads } = grown;
  console.log(`\n${table}`);
  await timed('filled', async () => {
    await fill(grown, table, { from: 0, total: rows, age: 40, span: 9 });
    await run(`vacuum analyze ${table}`);
    return rows;
  });
  await timed('deleted in batches', async () => {
    await deleteInBatches({ turn: withoutDeadline, batchMax }, await remove(db, before));
    return rows;
  });
  console.log(`${await countOf(table)} are left`);
  await timed('vacuum afterwards', () => run('vacuum analyze'));
  // Where old rows were, young ones are now.
  await fill(grown, table, { from: 2 * rows, total: rows, age: 20, span: 20 });
  await run(`vacuum analyze ${table}`);
  console.log(`a look of retention that finds nothing reads ${await pagesOfLook(grown)} pages`);

  await makeParts(grown);
  await fill(grown, 'parts', { from: 2 * rows, total: rows, age: 20, span: 20 });
  await run('vacuum analyze parts');
  for (const [at, one] of [table, 'parts'].entries()) {
    const from = (4 + at) * rows;
    await timed(`${one}: inserts, one a statement`, async () => {
      for (let n = 0; n < repeats; n++) await fill(grown, one, { from: from + 100 * n, total: 1, age: 0, span: 0 });
      return repeats;
    });
    for (const [what, statement] of work)
      await timed(
        `${one}: ${what}`,
        repeated((n) => statement(one, 2 * rows + 1 + n)),
      );
    for (const [what, statement] of reads)
      console.log(`${one}: ${what} reads ${await pagesOf(statement(one, 2 * rows + 7))} pages`);
  }
  await timed('a partition of a day dropped', () => run('drop table parts_15').then(() => 1));
  await db.script('drop table parts');
  await run(`truncate ${table} cascade`);
  if (grown === connectionEvents) await run('truncate connections cascade');
}

try {
  await migrate(db, serverMigrations);
  await run(`insert into projects (id, name, slug, created_at, updated_at)
    values ('00000000-0000-0000-0000-000000000001', 'p', 'p', now(), now())`);
  for (const grown of wanted) await measure(grown);
} finally {
  await db.close();
  await admin.query(`drop database ${name} with (force)`);
  await admin.end();
}
