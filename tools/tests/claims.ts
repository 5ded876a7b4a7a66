import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The files that workers share out among themselves: each is claimed by the one that creates its mark. */
const folderVariable = 'PARLEY_TEST_CLAIMS';

export interface Claims {
  /** What a worker needs to find them. */
  env: Record<string, string>;
  /** How many files no worker has taken yet. */
  unclaimed(): number;
  remove(): void;
}

/** @param env what else the workers get that run these. */
export function offerFiles(files: readonly string[], env: Record<string, string> = {}): Claims {
  const folder = mkdtempSync(join(tmpdir(), 'parley-claims-'));
  writeFileSync(join(folder, 'files.json'), JSON.stringify(files));
  return {
    env: { ...env, [folderVariable]: folder },
    unclaimed: () => files.filter((_, index) => !existsSync(join(folder, String(index)))).length,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** The next file that no worker has, for this one; null when all are taken. */
export function claimNext(): string | null {
  const folder = process.env[folderVariable];
  if (folder === undefined) throw new Error(`${folderVariable} is not set: workers are started by tools/run-tests.ts.`);
  const files: string[] = JSON.parse(readFileSync(join(folder, 'files.json'), 'utf8'));
  return files.find((_, index) => claim(join(folder, String(index)))) ?? null;
}

function claim(mark: string): boolean {
  try {
    closeSync(openSync(mark, 'wx'));
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}
