import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file of one attempt, which nobody else can read and which is gone after it. */
export async function withFile<T>(work: (path: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-data-'));
  try {
    return await work(join(folder, 'lines.ndjson'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export const ownerOnly = { mode: 0o600 } as const;
