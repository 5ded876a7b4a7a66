import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';

/** A folder with these migrations, removed after the test file. */
export function migrationFolder(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'parley-migrations-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

/** For tests that bring their own tables. */
export const emptyMigrations = (): string => migrationFolder({ '0001_nothing.sql': 'select 1;' });
