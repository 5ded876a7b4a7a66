import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname, join } from 'node:path';

/** Where files that can be made again are kept: beside the packages, outside of version control. */
export const cacheFolder = (): string => join(dirname(pgliteManifest()), '..', '..', '.cache', 'parley');

/** The folder a new database is copied from. It depends on PGlite's version: another one may write another format. */
export const templateFolder = (): string => join(cacheFolder(), `template-pglite-${pgliteVersion()}`);

export function pgliteVersion(): string {
  const manifest: { version?: unknown } = JSON.parse(readFileSync(pgliteManifest(), 'utf8'));
  return String(manifest.version);
}

/** A log in small segments: a new folder stays small and no write waits for 16 MiB of zeros. */
export const initDbStartParams = ['--wal-segsize=1'];

function pgliteManifest(): string {
  const path = findPackageJSON('@electric-sql/pglite', import.meta.url);
  if (!path) throw new Error('The package @electric-sql/pglite is not installed.');
  return path;
}
