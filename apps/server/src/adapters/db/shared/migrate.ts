import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Db, isDuplicate } from '../../../core/db.ts';
import { sql } from '../../../core/sql.ts';
import { StartRefused } from '../../../core/start-refused.ts';

/** The database and the migration files do not fit together. */
export class MigrationRefused extends StartRefused {
  override name = 'MigrationRefused';
}

export interface Migration {
  version: number;
  name: string;
  checksum: string;
  text: string;
}

/** The server's own. */
export const serverMigrations = fileURLToPath(new URL('../../../../migrations', import.meta.url));

// Any fixed number: processes that start together take it in turn.
const advisoryLock = 7_346_201;

/** Brings the database to the newest migration. Several processes may do so at once: each migration runs once. */
export async function migrate(db: Db, folder: string): Promise<{ applied: string[] }> {
  const migrations = readMigrations(folder);
  // Looked at first: a database on a full disk has everything already and can still be read.
  const [found] = await db.query<{ is: boolean }>(sql`select to_regclass('schema_migrations') is not null as is`);
  if (!found?.is) await db.script(inOneTransaction(createTable));
  const done = await listDone(db);
  refuseUnknown(done, migrations, folder);
  const missing = migrations.filter(({ version }) => !done.has(version));
  const applied: string[] = [];
  for (const migration of missing) if (await apply(db, migration)) applied.push(migration.name);
  // Another process, perhaps of a newer version, may have migrated meanwhile.
  if (missing.length > 0) refuseUnknown(await listDone(db), migrations, folder);
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
  return { version: Number(version), name, text, checksum: createHash('sha256').update(text).digest('hex') };
}

const createTable = `
  create table if not exists schema_migrations (
    version integer constraint schema_migrations_pkey primary key,
    name text not null,
    checksum text not null,
    applied_at timestamptz not null default now()
  );`;

/** False when another process was first. */
async function apply(db: Db, { version, name, checksum, text }: Migration): Promise<boolean> {
  // Name and checksum consist of letters, digits, _ and -: checked where they were read.
  const record = `insert into schema_migrations (version, name, checksum) values (${version}, '${name}', '${checksum}');`;
  try {
    await db.script(inOneTransaction(`${record}\n${text}`));
    return true;
  } catch (error) {
    if (isDuplicate(error, 'schema_migrations_pkey')) return false;
    throw error;
  }
}

const inOneTransaction = (text: string): string => `
  begin;
  set local statement_timeout = 0;
  select pg_advisory_xact_lock(${advisoryLock});
  ${text}
  ;commit;`;

type Done = Map<number, { version: number; name: string; checksum: string }>;

async function listDone(db: Db): Promise<Done> {
  const rows = await db.query<{ version: number; name: string; checksum: string }>(
    sql`select version, name, checksum from schema_migrations order by version`,
  );
  return new Map(rows.map((row) => [row.version, row]));
}

function refuseUnknown(done: Done, migrations: readonly Migration[], folder: string): void {
  const known = new Map(migrations.map((migration) => [migration.version, migration]));
  for (const { version, name, checksum } of done.values()) {
    const file = known.get(version);
    if (!file) {
      throw new MigrationRefused(
        `The database has migration ${name}, which ${folder} lacks: it belongs to a newer version.`,
      );
    }
    if (file.checksum !== checksum) {
      throw new MigrationRefused(`Migration ${file.name} was changed after it ran on this database: restore the file.`);
    }
  }
}
