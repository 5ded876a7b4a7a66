import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'vite';
import { buildOnce } from './build-once.ts';
import type { PageBuild } from './files.ts';

/** Builds an application of pages into the cache, if there is no build of these sources yet. */
export async function buildPages(pages: PageBuild, configFile: string): Promise<void> {
  // The environment of the service may say "development": pages are built as they are delivered.
  process.env['NODE_ENV'] = 'production';
  await buildOnce(pages, async (outDir) => {
    await build({ configFile, logLevel: 'warn', build: { outDir, emptyOutDir: true } });
    compress(outDir);
  });
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
