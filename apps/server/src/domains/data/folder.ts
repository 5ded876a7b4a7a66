import { createReadStream, createWriteStream } from 'node:fs';
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A file of one attempt, which nobody else can read and which is gone after it. It has lost its name before anything is
 * in it: a process that is killed leaves nothing of its users behind.
 */
export async function withFile<T>(work: (file: FileHandle) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-data-'));
  const file = await open(join(folder, 'lines.ndjson'), 'wx+', 0o600).finally(() =>
    rm(folder, { recursive: true, force: true }),
  );
  try {
    return await work(file);
  } finally {
    await file.close();
  }
}

/** By number: the file would wait for a stream of its own that leaves it open. */
const whole = ({ fd }: FileHandle) => ({ fd, start: 0, autoClose: false });

export const readWhole = (file: FileHandle) => createReadStream('', whole(file));
export const writeWhole = (file: FileHandle) => createWriteStream('', whole(file));
