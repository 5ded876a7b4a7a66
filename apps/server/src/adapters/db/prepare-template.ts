import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { cacheFolder, initDbStartParams, templateFolder } from './template.ts';

// Runs after `npm install`. Without it the first start still works, a few seconds slower: so it never fails an install.
try {
  if (!existsSync(templateFolder())) await prepareTemplate();
} catch (error) {
  console.warn(`parley: no database template, the first start will be slower: ${error}`);
}

async function prepareTemplate(): Promise<void> {
  mkdirSync(cacheFolder(), { recursive: true });
  const half = mkdtempSync(join(cacheFolder(), 'template-half-'));
  try {
    const data = join(half, 'postgres');
    const database = await PGlite.create({ dataDir: data, initDbStartParams });
    await database.exec('vacuum freeze');
    await database.exec('checkpoint');
    await database.close();
    renameSync(data, templateFolder());
  } finally {
    rmSync(half, { recursive: true, force: true });
  }
}
