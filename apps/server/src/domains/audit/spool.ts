import { appendFile, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/** A file of lines for what could not be written to the database: it outlives the process. */
interface Spool<T> {
  add(entry: T): Promise<void>;
  /** Hands every kept entry to `write`; those it throws on are kept for the next time. */
  drain(write: (entry: T) => Promise<void>): Promise<void>;
}

export function createSpool<T>(path: string): Spool<T> {
  const taken = `${path}.taken`;

  const readLines = async (file: string): Promise<T[]> => {
    const text = await readFile(file, 'utf8').catch(() => '');
    const lines = text.split('\n').filter((line) => line !== '');
    return lines.flatMap((line) => {
      try {
        return [JSON.parse(line) as T];
      } catch {
        // A line cut short by a crash in the middle of its write.
        return [];
      }
    });
  };

  async function add(entry: T): Promise<void> {
    await mkdir(dirname(path), { recursive: true });
    await appendFile(path, `${JSON.stringify(entry)}\n`, { mode: 0o600, flush: true });
  }

  return {
    add,
    async drain(write) {
      const left = await readLines(taken);
      const isMoved =
        left.length === 0 &&
        (await rename(path, taken).then(
          () => true,
          () => false,
        ));
      for (const entry of isMoved ? await readLines(taken) : left) {
        await write(entry).catch(() => add(entry));
      }
      await rm(taken, { force: true });
    },
  };
}
