/** Where the built dashboard is. The server asks; only `build.ts` knows how it is made. */
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const repository = join(import.meta.dirname, '..', '..');
export const cacheFolder = join(repository, 'node_modules', '.cache', 'parley');
export const folderPrefix = 'dashboard-';

/** What the build reads. Another content is another folder: an old build is never taken for a new one. */
const sources = [
  'apps/dashboard/{index.html,vite.config.ts,build.ts,package.json}',
  'apps/dashboard/{src,public}/**/*',
  'packages/{contract,server-sdk,client,media-description}/src/**/*.{ts,tsx}',
  'package-lock.json',
];

/** The fonts of the dashboard, for pages of the server that want to look like it. */
export const fontFiles = {
  'inter.woff2': fontPath('inter', 'inter-latin-wght-normal'),
  'mono.woff2': fontPath('jetbrains-mono', 'jetbrains-mono-latin-wght-normal'),
};

function fontPath(family: string, file: string): string {
  return fileURLToPath(import.meta.resolve(`@fontsource-variable/${family}/files/${file}.woff2`));
}

let folder: string | null = null;

/** The folder a build of the present sources has. */
export function dashboardFolder(): string {
  folder ??= join(cacheFolder, `${folderPrefix}${contentHash()}`);
  return folder;
}

/** The folder, or null while there is no build of the present sources. */
export function builtDashboard(): string | null {
  const path = dashboardFolder();
  return existsSync(path) ? path : null;
}

function contentHash(): string {
  const hash = createHash('sha256');
  const files = sources.flatMap((pattern) => globSync(pattern, { cwd: repository, withFileTypes: true }));
  const paths = files.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  for (const path of paths.filter((name) => !name.endsWith('.test.ts')).sort()) {
    hash.update(path.slice(repository.length)).update('\0').update(readFileSync(path)).update('\0');
  }
  return hash.digest('hex').slice(0, 16);
}
