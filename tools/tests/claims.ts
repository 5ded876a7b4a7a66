import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { needOf } from './files.ts';

/** The files that workers share out among themselves: each is claimed by the one that creates its mark. */
const folderVariable = 'PARLEY_TEST_CLAIMS';

export interface Claims {
  /** What a worker needs to find them. */
  env: Record<string, string>;
  /** How many files no worker has taken yet. */
  unclaimed(): number;
  remove(): void;
}

interface Offered {
  file: string;
  need: string | null;
}

/** @param env what else the workers get that run these. */
export function offerFiles(files: readonly string[], env: Record<string, string> = {}): Claims {
  const folder = mkdtempSync(join(tmpdir(), 'parley-claims-'));
  const offered: Offered[] = files.map((file) => ({ file, need: needOf(file) }));
  writeFileSync(join(folder, 'files.json'), JSON.stringify(offered));
  return {
    env: { ...env, [folderVariable]: folder },
    unclaimed: () => files.filter((_, index) => !existsSync(join(folder, String(index)))).length,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** What this worker has started for the files that it took. */
const own = new Set<string>();

/**
 * The next file that no worker has, for this one; null when all are taken. First those that need what this worker has
 * started, last those that need what another one has: to start an `npm start` or a stage again takes seconds of CPU.
 */
export function claimNext(): string | null {
  const folder = process.env[folderVariable];
  if (folder === undefined) throw new Error(`${folderVariable} is not set: workers are started by tools/run-tests.ts.`);
  const files: Offered[] = JSON.parse(readFileSync(join(folder, 'files.json'), 'utf8'));
  const marked = files.map(({ file, need }, index) => ({ file, need, mark: join(folder, String(index)) }));
  const started = new Set(marked.filter(({ mark }) => existsSync(mark)).map(({ need }) => need));
  const distance = ({ need }: Offered): number => (need === null ? 1 : own.has(need) ? 0 : started.has(need) ? 2 : 1);
  const nearest = marked.sort((a, b) => distance(a) - distance(b)).find(({ mark }) => claim(mark));
  if (nearest?.need) own.add(nearest.need);
  return nearest?.file ?? null;
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
