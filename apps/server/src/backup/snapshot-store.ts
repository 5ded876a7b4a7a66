import type { DoneMigration } from '../adapters/db/shared/migrate.ts';
import type { Db, Queryable, Tx } from '../core/db.ts';
import { raw, sql } from '../core/sql.ts';
import type { TableShape, WriteFrame } from './frames.ts';
import { BackupRefused } from './refused.ts';

/** Rows read and written at once. */
const rowsAtOnce = 500;

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`;

interface ColumnRow {
  table: string;
  name: string;
  type: string;
}

/** What holds data: every table of ours but the list of migrations, and every column that is not computed. */
const listColumns = (db: Queryable): Promise<ColumnRow[]> =>
  db.query<ColumnRow>(sql`
    select c.relname as table, a.attname as name, format_type(a.atttypid, a.atttypmod) as type
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and c.relname <> 'schema_migrations' and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    order by c.relname, a.attname`);

const listReferences = (db: Queryable): Promise<{ from: string; to: string }[]> =>
  db.query(sql`
    select f.relname as from, t.relname as to
    from pg_constraint r join pg_class f on f.oid = r.conrelid join pg_class t on t.oid = r.confrelid
    where r.contype = 'f' and r.connamespace = current_schema()::regnamespace`);

const listSequences = (db: Queryable): Promise<{ name: string }[]> =>
  db.query(sql`
    select relname as name from pg_class
    where relnamespace = current_schema()::regnamespace and relkind = 'S' order by relname`);

/** How many tables there are, the list of migrations included. */
export async function countTables(db: Queryable): Promise<number> {
  const [row] = await db.query<{ count: number }>(sql`
    select count(*) as count from pg_class
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v', 'm', 'f')`);
  return row?.count ?? 0;
}

/** What a schema has that is not an extension's, each as the statement that removes it. */
export async function listDrops(db: Queryable): Promise<string[]> {
  const rows = await db.query<{ drop: string }>(sql`
    select format('drop %s if exists %s cascade', case relkind when 'v' then 'view' when 'm' then 'materialized view'
      when 'S' then 'sequence' else 'table' end, oid::regclass) as drop
    from pg_class c
    where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v', 'm', 'S')
      and not exists (select from pg_depend where objid = c.oid and deptype = 'e')
    union all
    select format('drop function if exists %s cascade', oid::regprocedure) from pg_proc p
    where pronamespace = current_schema()::regnamespace
      and not exists (select from pg_depend where objid = p.oid and deptype = 'e')`);
  return rows.map(({ drop }) => drop);
}

/** Removes what was not there when `before` was listed. */
export async function dropSince(db: Db, before: readonly string[]): Promise<void> {
  const drops = (await listDrops(db)).filter((drop) => !before.includes(drop));
  await db.transaction(async (tx) => {
    for (const drop of drops) await tx.execute(raw(drop));
  });
}

/** Every table after those it refers to. */
function inOrder(tables: readonly string[], references: readonly { from: string; to: string }[]): string[] {
  const ordered = new Set<string>();
  while (ordered.size < tables.length) {
    const isFree = (table: string) => references.every(({ from, to }) => from !== table || ordered.has(to));
    const next = tables.filter((table) => !ordered.has(table) && isFree(table));
    if (next.length === 0) throw new Error('Tables refer to each other in a circle: rows cannot be restored in order.');
    for (const table of next) ordered.add(table);
  }
  return [...ordered];
}

async function listShapes(db: Queryable): Promise<TableShape[]> {
  const columns = await listColumns(db);
  const names = inOrder([...new Set(columns.map(({ table }) => table))], await listReferences(db));
  return names.map((name) => ({
    name,
    columns: columns.filter(({ table }) => table === name).map((column) => column.name),
  }));
}

/** Everything in the database as of one moment, frame by frame, while others go on writing. */
export async function takeSnapshot(db: Db, write: WriteFrame): Promise<void> {
  let isFirst = true;
  await db.transaction(async (tx) => {
    // A transaction that conflicts runs again; this one cannot, and frames must not come twice.
    if (!isFirst) throw new Error('The snapshot was interrupted.');
    isFirst = false;
    await tx.execute(sql`set transaction isolation level repeatable read, read only`);
    await tx.execute(sql`set local statement_timeout = 0`);
    await tx.execute(sql`set local idle_in_transaction_session_timeout = 0`);
    const [found] = await tx.query<{ is: boolean }>(sql`select to_regclass('schema_migrations') is not null as is`);
    if (!found?.is) throw new BackupRefused('There is nothing to back up: the database has no tables of Parley.');
    const schema = await tx.query<DoneMigration>(sql`select version, name, checksum from schema_migrations order by 1`);
    const tables = await listShapes(tx);
    // A migration waits until the snapshot is taken.
    await tx.execute(raw(`lock table ${tables.map(({ name }) => quoted(name)).join(', ')} in access share mode`));
    await write({ is: 'snapshot', database: db.dialect, schema, tables });
    for (const table of tables) await copyOut(tx, table, write);
    await write({ is: 'counters', values: await readCounters(tx) });
  });
}

/** Each value as the database writes it as text, which it reads back exactly. */
async function copyOut(tx: Tx, { name, columns }: TableShape, write: WriteFrame): Promise<void> {
  const values = columns.map((column) => `${quoted(column)}::text`).join(', ');
  await tx.execute(
    raw(`declare backup_rows no scroll cursor for select to_json(array[${values}])::text as row from ${quoted(name)}`),
  );
  for (;;) {
    const rows = await tx.query<{ row: string }>(raw(`fetch ${rowsAtOnce} from backup_rows`));
    if (rows.length > 0)
      await write({ is: 'rows', table: name, count: rows.length }, Buffer.from(rows.map(({ row }) => row).join(',\n')));
    if (rows.length < rowsAtOnce) break;
  }
  await tx.execute(raw('close backup_rows'));
}

type Counters = Record<string, { last: string; isCalled: boolean }>;

async function readCounters(db: Queryable): Promise<Counters> {
  const counters: Counters = {};
  for (const { name } of await listSequences(db)) {
    const [row] = await db.query<{ last: string; isCalled: boolean }>(
      raw(`select last_value::text as last, is_called as "isCalled" from ${quoted(name)}`),
    );
    if (row) counters[name] = row;
  }
  return counters;
}

interface Loader {
  rows(table: string, rows: Buffer): Promise<void>;
  counters(values: Readonly<Counters>): Promise<void>;
}

/** Puts a snapshot into the empty tables of the same schema. */
export async function openLoader(tx: Tx, tables: readonly TableShape[]): Promise<Loader> {
  await tx.execute(sql`set local statement_timeout = 0`);
  await tx.execute(sql`set local idle_in_transaction_session_timeout = 0`);
  // What migrations themselves put there comes with the snapshot.
  for (const { name } of tables.toReversed()) await tx.execute(raw(`delete from ${quoted(name)}`));
  const types = new Map((await listColumns(tx)).map(({ table, name, type }) => [`${table}.${name}`, type]));
  const statements = new Map(tables.map((table) => [table.name, insertInto(table, types)]));
  return {
    async rows(table, rows) {
      const statement = statements.get(table);
      if (statement === undefined) throw new BackupRefused(`The archive has rows of ${table}, which it does not list.`);
      await tx.execute(sql`${raw(statement)} from json_array_elements(${`[${rows}]`}::json) as v`);
    },
    async counters(values) {
      for (const [name, { last, isCalled }] of Object.entries(values))
        await tx.query(sql`select setval(${quoted(name)}::regclass, ${last}::bigint, ${isCalled})`);
    },
  };
}

function insertInto({ name, columns }: TableShape, types: ReadonlyMap<string, string>): string {
  const values = columns.map((column, index) => {
    const type = types.get(`${name}.${column}`);
    if (type === undefined) throw new BackupRefused(`The archive has ${name}.${column}, which its schema lacks.`);
    return `(v->>${index})::${type}`;
  });
  return `insert into ${quoted(name)} (${columns.map(quoted).join(', ')}) overriding system value select ${values.join(', ')}`;
}
