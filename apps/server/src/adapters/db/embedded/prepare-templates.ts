import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { systemClock } from '../../../core/clock.ts';
import { migrate, readMigrations, serverMigrations } from '../shared/migrate.ts';
import { openEmbedded } from './embedded.ts';
import { cacheFolder, emptyTemplate, migratedTemplate } from './template.ts';

/** Makes the folders a new database is copied from, and removes those of other versions. */
export async function prepareTemplates(): Promise<void> {
  mkdirSync(cacheFolder(), { recursive: true });
  const [empty, migrated] = [emptyTemplate(), migratedTemplate(readMigrations(serverMigrations))];
  if (!existsSync(empty)) await prepareTemplate(empty, []);
  if (!existsSync(migrated)) await prepareTemplate(migrated, [empty]);
  const kept = [empty, migrated].map((folder) => basename(folder));
  for (const name of readdirSync(cacheFolder()))
    if ((name.startsWith('template-') && !kept.includes(name)) || isAbandoned(name))
      rmSync(join(cacheFolder(), name), { recursive: true, force: true });
}

const halfPrefix = 'half-template-';

/** An install that was stopped left it; one that runs is done in seconds. */
const isAbandoned = (name: string): boolean =>
  name.startsWith(halfPrefix) && systemClock.now() - statSync(join(cacheFolder(), name)).mtimeMs > 3_600_000;

/** The databases of initdb that nobody can open: half of the files that every new folder is copied from. */
export const dropUnused = [
  'update pg_database set datistemplate = false where datistemplate',
  'drop database if exists template0',
  'drop database if exists template1',
];

/** Filled beside and renamed: what bears the name of a template is whole. */
async function prepareTemplate(folder: string, templates: readonly string[]): Promise<void> {
  const half = mkdtempSync(join(cacheFolder(), halfPrefix));
  try {
    const db = await openEmbedded({ folder: half, templates });
    if (templates.length > 0) await migrate(db, serverMigrations);
    await db.script(...dropUnused, 'vacuum freeze');
    await db.script('checkpoint');
    await db.close();
    publish(join(half, 'postgres'), folder);
  } finally {
    rmSync(half, { recursive: true, force: true });
  }
}

/** World-readable, writable by the owner only: one user may install and another start. */
function publish(made: string, folder: string): void {
  chmodSync(made, 0o755);
  for (const entry of readdirSync(made, { recursive: true, withFileTypes: true }))
    chmodSync(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644);
  try {
    renameSync(made, folder);
  } catch (error) {
    // Another install was faster, with the same.
    if (!existsSync(folder)) throw error;
  }
}
