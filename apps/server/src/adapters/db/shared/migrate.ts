import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Db, isDuplicate, type Queryable, type Tx } from '../../../core/db.ts';
import { type Sql, sql } from '../../../core/sql.ts';
import { StartRefused } from '../../../core/start-refused.ts';
import { applyIndex, asPlain, concurrentIndexes, isConcurrent } from './concurrent-indexes.ts';

/** The database and the migration files do not fit together. */
export class MigrationRefused extends StartRefused {
  override name = 'MigrationRefused';
}

/** A migration that ran, as the database remembers it. */
export interface DoneMigration {
  version: number;
  name: string;
  checksum: string;
}

export interface Migration extends DoneMigration {
  text: string;
}

/** The server's own. */
export const serverMigrations = fileURLToPath(new URL('../../../../migrations', import.meta.url));

// Any fixed number: processes that start together take it in turn.
const advisoryLock = 7_346_201;
/** A restore has it alone, every migration of others shares it: what appears during a restore is the restore's own. */
const restoreLock = 7_346_202;
const afterRestores = `select pg_advisory_xact_lock_shared(${restoreLock});`;

/** Brings the database to the newest migration. Several processes may do so at once: each migration runs once. */
export async function migrate(db: Db, folder: string): Promise<{ applied: string[] }> {
  // A database that is half restored may look like a whole one.
  if (db.dialect === 'postgres' && !(await hasLock(db, sql`pg_try_advisory_xact_lock_shared(${restoreLock}::bigint)`)))
    throw new MigrationRefused('A restore into this database is under way: start again when it has ended.');
  return await runMigrations(db, readMigrations(folder), { wait: afterRestores, isInUse: db.dialect === 'postgres' });
}

/** The same inside a restore. */
export const migrateRestored = (db: Db, folder: string): Promise<{ applied: string[] }> =>
  runMigrations(db, readMigrations(folder), alone);

/** Until the end of the transaction nobody migrates but who restores; false when somebody does. */
export const lockForRestore = (tx: Tx): Promise<boolean> =>
  hasLock(tx, sql`pg_try_advisory_xact_lock(${restoreLock}::bigint)`);

async function hasLock(db: Queryable, attempt: Sql): Promise<boolean> {
  const [row] = await db.query<{ is: boolean }>(sql`select ${attempt} as is`);
  return row?.is === true;
}

/** Brings an empty database to where another one was; throws when that knew migrations which `folder` lacks. */
export async function migrateAs(db: Db, done: readonly DoneMigration[], folder: string): Promise<void> {
  const migrations = readMigrations(folder);
  refuseUnknown(done, migrations);
  const versions = new Set(done.map(({ version }) => version));
  await runMigrations(
    db,
    migrations.filter(({ version }) => versions.has(version)),
    alone,
  );
}

/** Throws when the migrations that ran on a database are not all known here, as they are. */
export const refuseNewer = (done: readonly DoneMigration[], folder: string): void =>
  refuseUnknown(done, readMigrations(folder));

interface Surroundings {
  /** What each migration takes before the lock of migrations. */
  wait: string;
  /** Others write meanwhile: indexes that say so are built or dropped beside them. */
  isInUse: boolean;
}

const alone: Surroundings = { wait: '', isInUse: false };

async function runMigrations(
  db: Db,
  migrations: readonly Migration[],
  { wait, isInUse }: Surroundings,
): Promise<{ applied: string[] }> {
  // Looked at first: a database on a full disk has everything already and can still be read.
  const [found] = await db.query<{ is: boolean }>(sql`select to_regclass('schema_migrations') is not null as is`);
  if (!found?.is) await db.script(inOneTransaction(wait, createTable));
  const done = await listDone(db);
  refuseUnknown(done, migrations);
  const versions = new Set(done.map(({ version }) => version));
  const missing = migrations.filter(({ version }) => !versions.has(version));
  const applied: string[] = [];
  for (const migration of missing) {
    const isBeside = isInUse && isConcurrent(migration.text);
    if (await (isBeside ? applyBeside(db, migration) : apply(db, migration, wait))) applied.push(migration.name);
  }
  // Another process, perhaps of a newer version, may have migrated meanwhile.
  if (missing.length > 0) refuseUnknown(await listDone(db), migrations);
  return { applied };
}

/** The files `NNNN_name.sql` of a folder, in order. */
export function readMigrations(folder: string): Migration[] {
  const migrations = readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => readMigration(folder, file));
  if (migrations.length === 0) throw new MigrationRefused(`There are no migrations in ${folder}.`);
  const twin = migrations.find(({ version }, index) => migrations[index - 1]?.version === version);
  if (twin) throw new MigrationRefused(`Two migrations have the number of ${twin.name}.`);
  return migrations;
}

function readMigration(folder: string, file: string): Migration {
  const [, version, name] = /^(\d{4})_[a-z0-9_-]+\.sql$/.exec(file) ? [file, file.slice(0, 4), file.slice(0, -4)] : [];
  if (!version || !name) throw new MigrationRefused(`The migration ${file} is not named like 0001_rooms.sql.`);
  const text = readFileSync(join(folder, file), 'utf8').replaceAll('\r\n', '\n');
  if (isConcurrent(text) && !concurrentIndexes(text))
    throw new MigrationRefused(
      `The migration ${file} may only have statements "create index concurrently if not exists" and "drop index concurrently if exists": it is not one transaction.`,
    );
  return { version: Number(version), name, text, checksum: createHash('sha256').update(text).digest('hex') };
}

const createTable = `
  create table if not exists schema_migrations (
    version integer constraint schema_migrations_pkey primary key,
    name text not null,
    checksum text not null,
    applied_at timestamptz not null default now()
  );`;

/** Name and checksum consist of letters, digits, _ and -: checked where they were read. */
const recordOf = ({ version, name, checksum }: Migration): string =>
  `insert into schema_migrations (version, name, checksum) values (${version}, '${name}', '${checksum}');`;

/** Index by index, and noted when all are as it says. */
async function applyBeside(db: Db, migration: Migration): Promise<boolean> {
  for (const index of concurrentIndexes(migration.text) ?? []) await applyIndex(db, index);
  return apply(db, { ...migration, text: '' }, '');
}

/** False when another process was first. */
async function apply(db: Db, migration: Migration, wait: string): Promise<boolean> {
  try {
    await db.script(inOneTransaction(wait, `${recordOf(migration)}\n${asPlain(migration.text)}`));
    return true;
  } catch (error) {
    if (isDuplicate(error, 'schema_migrations_pkey')) return false;
    throw error;
  }
}

const inOneTransaction = (wait: string, text: string): string => `
  begin;
  set local statement_timeout = 0;
  ${wait}
  select pg_advisory_xact_lock(${advisoryLock});
  ${text}
  ;commit;`;

const listDone = (db: Db): Promise<DoneMigration[]> =>
  db.query<DoneMigration>(sql`select version, name, checksum from schema_migrations order by version`);

function refuseUnknown(done: readonly DoneMigration[], migrations: readonly Migration[]): void {
  const known = new Map(migrations.map((migration) => [migration.version, migration]));
  for (const { version, name, checksum } of done) {
    const file = known.get(version);
    if (!file) {
      throw new MigrationRefused(
        `The data is of a newer version of Parley (it has migration ${name}): run that version or a newer one, or restore a backup from before the upgrade.`,
      );
    }
    if (file.checksum !== checksum) {
      throw new MigrationRefused(`Migration ${file.name} was changed after it ran on this database: restore the file.`);
    }
  }
}
