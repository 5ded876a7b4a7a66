import { randomUUID } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { openEmbedded } from '../../src/adapters/db/embedded/embedded.ts';
import { dropUnused } from '../../src/adapters/db/embedded/prepare-templates.ts';
import { cacheFolder, schemaHash } from '../../src/adapters/db/embedded/template.ts';
import { createPostgres } from '../../src/adapters/db/postgres/postgres.ts';
import { migrate, readMigrations, serverMigrations } from '../../src/adapters/db/shared/migrate.ts';
import type { Db } from '../../src/core/db.ts';

interface TestDatabaseOptions {
  /** The folder of migrations; the server's own by default. */
  migrations?: string;
  /** PostgreSQL to make the database in; embedded without one. */
  url?: string | undefined;
}

export interface TestDatabase {
  db: Db;
  /** For a second process on the same data; null when embedded. */
  url: string | null;
  /** Closes `db` and drops the database. */
  close(): Promise<void>;
}

/** A fresh, migrated database: PostgreSQL when PARLEY_TEST_DATABASE_URL is set, else PGlite in memory. */
export async function openTestDatabase(options: TestDatabaseOptions = {}): Promise<TestDatabase> {
  const { migrations = serverMigrations, url = process.env['PARLEY_TEST_DATABASE_URL'] } = options;
  return url ? await openOnPostgres(url, migrations) : await openEmbeddedCopy(migrations);
}

async function openEmbeddedCopy(migrations: string): Promise<TestDatabase> {
  const snapshotFile = join(cacheFolder(), `snapshot-${hashOf(migrations)}.tar`);
  if (!existsSync(snapshotFile)) await writeSnapshot(snapshotFile, migrations);
  const db = await openEmbedded({ folder: null, snapshotFile });
  return { db, url: null, close: () => db.close() };
}

/** Each copy is started, used for a moment and thrown away: what guards a disk only takes time. */
const forMemory = [
  "alter system set shared_buffers = '16MB'",
  'alter system set full_page_writes = off',
  'alter system set wal_level = minimal',
  'alter system set max_wal_senders = 0',
];

async function writeSnapshot(file: string, migrations: string): Promise<void> {
  mkdirSync(cacheFolder(), { recursive: true });
  // On disk, where a new database starts from the template: in memory it would run initdb.
  const folder = mkdtempSync(join(cacheFolder(), 'snapshot-half-'));
  const db = await openEmbedded({ folder });
  try {
    await migrate(db, migrations);
    await db.script(...dropUnused, ...forMemory);
    const half = join(folder, 'snapshot.tar');
    writeFileSync(half, await db.dump());
    publishOnce(half, file);
  } finally {
    await db.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The first worker's stays: one that is replaced while another reads it cannot be read to its end. */
function publishOnce(made: string, file: string): void {
  try {
    linkSync(made, file);
  } catch (error) {
    if (!existsSync(file)) throw error;
  }
}

/** A PostgreSQL database without a table. */
export async function createEmptyDatabase(adminUrl: string): Promise<{ url: string; drop(): Promise<void> }> {
  const name = newName();
  await onAdmin(adminUrl, (admin) => admin.query(`create database ${name}`));
  return { url: withDatabase(adminUrl, name), drop: () => dropDatabase(adminUrl, name) };
}

const newName = (): string => `parley_test_${randomUUID().replaceAll('-', '')}`;

const dropDatabase = (adminUrl: string, name: string): Promise<void> =>
  onAdmin(adminUrl, (admin) => admin.query(`drop database if exists ${name} with (force)`));

async function openOnPostgres(adminUrl: string, migrations: string): Promise<TestDatabase> {
  const template = `parley_template_${hashOf(migrations)}`;
  const name = newName();
  const url = withDatabase(adminUrl, name);
  await onAdmin(adminUrl, async (admin) => {
    // Test processes start together: one makes the template, the others wait here.
    await admin.query('select pg_advisory_lock(7346202)');
    const { rowCount } = await admin.query('select from pg_database where datname = $1', [template]);
    if (!rowCount) await makeTemplate(admin, adminUrl, template, migrations);
    await admin.query('select pg_advisory_unlock(7346202)');
    await admin.query(`create database ${name} template ${template}`);
  });
  const db = createPostgres({ url });
  const close = async () => {
    await db.close();
    await dropDatabase(adminUrl, name);
  };
  return { db, url, close };
}

async function makeTemplate(admin: pg.Client, adminUrl: string, template: string, migrations: string): Promise<void> {
  const half = `${template}_half`;
  await admin.query(`drop database if exists ${half} with (force)`);
  await admin.query(`create database ${half}`);
  const db = createPostgres({ url: withDatabase(adminUrl, half), poolSize: 1 });
  try {
    await migrate(db, migrations);
  } finally {
    await db.close();
  }
  await admin.query(`alter database ${half} rename to ${template}`);
}

async function onAdmin(url: string, work: (admin: pg.Client) => Promise<unknown>): Promise<void> {
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  try {
    await work(admin);
  } finally {
    await admin.end();
  }
}

function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.href;
}

const hashOf = (migrations: string): string => schemaHash(readMigrations(migrations));
