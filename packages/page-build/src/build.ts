import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'vite';
import { cacheFolder, type PageBuild } from './files.ts';

/** Builds pages into the cache, if there is no build of these sources yet. */
export async function buildPages(pages: PageBuild, configFile: string): Promise<void> {
  if (pages.built() !== null) return;
  mkdirSync(cacheFolder, { recursive: true });
  const half = mkdtempSync(join(cacheFolder, `half-${pages.prefix}`));
  try {
    const outDir = join(half, 'pages');
    await build({ configFile, logLevel: 'warn', build: { outDir, emptyOutDir: true } });
    compress(outDir);
    publish(pages, outDir);
  } finally {
    rmSync(half, { recursive: true, force: true });
  }
}

/** Every text is compressed once, here, instead of at each request. */
function compress(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !/\.(js|css|svg)$/.test(entry.name)) continue;
    const path = join(entry.parentPath, entry.name);
    const bytes = readFileSync(path);
    writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
    writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }));
  }
}

/** Atomic, so that half a build is never served. The loser of a race finds the same files in place. */
function publish(pages: PageBuild, outDir: string): void {
  try {
    renameSync(outDir, pages.folder());
  } catch (error) {
    if (pages.built() === null) throw error;
  }
  for (const name of readdirSync(cacheFolder)) {
    const path = join(cacheFolder, name);
    if (name.startsWith(pages.prefix) && path !== pages.folder()) rmSync(path, { recursive: true, force: true });
  }
}
