import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Migration } from '../shared/migrate.ts';

/** Where files that can be made again are kept: beside the packages, outside of version control. */
export const cacheFolder = (): string => join(dirname(pgliteManifest()), '..', '..', '.cache', 'parley');

/** What the folder of a new database is copied from: an empty database, as initdb leaves it. */
export const emptyTemplate = (): string => join(cacheFolder(), `template-empty-${schemaHash([])}`);

/** The same, migrated. */
export const migratedTemplate = (migrations: readonly Migration[]): string =>
  join(cacheFolder(), `template-migrated-${schemaHash(migrations)}`);

/** Names what these migrations make. It depends on PGlite's version too, and on how its files are laid out and guarded. */
export function schemaHash(migrations: readonly Migration[]): string {
  const hash = createHash('sha256').update(`${pgliteVersion()} ${initDbStartParams.join(' ')} ${layout}`);
  for (const { name, checksum } of migrations) hash.update(`\n${name} ${checksum}`);
  return hash.digest('hex').slice(0, 16);
}

function pgliteVersion(): string {
  const manifest: { version?: unknown } = JSON.parse(readFileSync(pgliteManifest(), 'utf8'));
  return String(manifest.version);
}

/** One more whenever templates are made in another way. */
const layout = 3;

/** A log in small segments: a new folder stays small and no write waits for 16 MiB of zeros. */
export const initDbStartParams = ['--wal-segsize=1'];

function pgliteManifest(): string {
  return join(dirname(fileURLToPath(import.meta.resolve('@electric-sql/pglite'))), '..', 'package.json');
}
