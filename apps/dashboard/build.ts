/** Builds the dashboard into the cache, if there is no build of these sources yet: `node apps/dashboard/build.ts`. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'vite';
import { builtDashboard, cacheFolder, dashboardFolder, folderPrefix } from './files.ts';

if (builtDashboard() === null) await buildDashboard();

async function buildDashboard(): Promise<void> {
  mkdirSync(cacheFolder, { recursive: true });
  const half = mkdtempSync(join(cacheFolder, 'half-dashboard-'));
  try {
    const outDir = join(half, 'pages');
    const configFile = join(import.meta.dirname, 'vite.config.ts');
    await build({ configFile, logLevel: 'warn', build: { outDir, emptyOutDir: true } });
    compress(outDir);
    publish(outDir);
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

/** In one step, so that nobody serves half a build. Whoever loses a race finds the same files in place. */
function publish(outDir: string): void {
  try {
    renameSync(outDir, dashboardFolder());
  } catch (error) {
    if (builtDashboard() === null) throw error;
  }
  for (const name of readdirSync(cacheFolder)) {
    const path = join(cacheFolder, name);
    if (name.startsWith(folderPrefix) && path !== dashboardFolder()) rmSync(path, { recursive: true, force: true });
  }
}
