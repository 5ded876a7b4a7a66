/** Where built pages are. The server asks; only `build.ts` knows how they are made (ADR 0060). */
import { createHash } from 'node:crypto';
import fs, { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const repository = join(import.meta.dirname, '..', '..', '..');
export const cacheFolder = join(repository, 'node_modules', '.cache', 'parley');

export interface PageBuild {
  /** What the build's folders in the cache start with. */
  readonly prefix: string;
  /** The folder a build of the present sources has. */
  folder(): string;
  /** The folder, or null while there is no build of the present sources. */
  built(): string | null;
}

/**
 * `sources` is everything the build reads: another content is another folder, so an old build is never served. A
 * published package has no sources, and its build beside its code, in `pages`.
 */
export function createPageBuild(name: string, appFolder: string, sources: readonly string[]): PageBuild {
  const prefix = `${name}-`;
  const shipped = join(appFolder, 'pages');
  let path: string | null = existsSync(shipped) ? shipped : null;
  const folder = (): string => {
    path ??= join(cacheFolder, `${prefix}${contentHash(sources)}`);
    return path;
  };
  return { prefix, folder, built: () => (existsSync(folder()) ? folder() : null) };
}

function contentHash(sources: readonly string[]): string {
  const hash = createHash('sha256');
  // Not imported by name: Node 20 has none, and it runs only published packages, which are built.
  const files = sources.flatMap((pattern) => fs.globSync(pattern, { cwd: repository, withFileTypes: true }));
  const paths = files.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  for (const path of paths.filter((name) => !name.endsWith('.test.ts')).sort()) {
    hash.update(path.slice(repository.length)).update('\0').update(readFileSync(path)).update('\0');
  }
  return hash.digest('hex').slice(0, 16);
}
