import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { openEmbedded } from './embedded.ts';
import { migrate, readMigrations, serverMigrations } from './migrate.ts';
import { cacheFolder, emptyTemplate, migratedTemplate } from './template.ts';

/** Makes the folders a new database is copied from, and removes those of other versions. */
export async function prepareTemplates(): Promise<void> {
  mkdirSync(cacheFolder(), { recursive: true });
  const [empty, migrated] = [emptyTemplate(), migratedTemplate(readMigrations(serverMigrations))];
  if (!existsSync(empty)) await prepareTemplate(empty, []);
  if (!existsSync(migrated)) await prepareTemplate(migrated, [empty]);
  const kept = [empty, migrated].map((folder) => basename(folder));
  for (const name of readdirSync(cacheFolder()))
    if (name.startsWith('template-') && !kept.includes(name))
      rmSync(join(cacheFolder(), name), { recursive: true, force: true });
}

/** Filled beside and renamed: what bears the name of a template is whole. */
async function prepareTemplate(folder: string, templates: readonly string[]): Promise<void> {
  const half = mkdtempSync(join(cacheFolder(), 'half-template-'));
  try {
    const db = await openEmbedded({ folder: half, templates });
    if (templates.length > 0) await migrate(db, serverMigrations);
    await db.script('vacuum freeze');
    await db.script('checkpoint');
    await db.close();
    renameSync(join(half, 'postgres'), folder);
  } finally {
    rmSync(half, { recursive: true, force: true });
  }
}
