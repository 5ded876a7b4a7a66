import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, type PageBuild } from './files.ts';

/** Lets `write` fill the folder of a build, if there is no build of these sources yet. */
export async function buildOnce(pages: PageBuild, write: (folder: string) => void | Promise<void>): Promise<void> {
  if (pages.built() !== null) return;
  mkdirSync(cacheFolder, { recursive: true });
  const half = mkdtempSync(join(cacheFolder, `half-${pages.prefix}`));
  try {
    const folder = join(half, 'pages');
    await write(folder);
    publish(pages, folder);
  } finally {
    rmSync(half, { recursive: true, force: true });
  }
}

/** Atomic, so that half a build is never served. The loser of a race finds the same files in place. */
function publish(pages: PageBuild, folder: string): void {
  try {
    renameSync(folder, pages.folder());
  } catch (error) {
    if (pages.built() === null) throw error;
  }
  for (const name of readdirSync(cacheFolder)) {
    const path = join(cacheFolder, name);
    if (name.startsWith(pages.prefix) && path !== pages.folder()) rmSync(path, { recursive: true, force: true });
  }
}
