import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { StartRefused } from '../../../core/start-refused.ts';
import { lockByProcess } from './process-lock.ts';

/** Another process uses the data folder. */
export class DataFolderLocked extends StartRefused {
  override name = 'DataFolderLocked';

  constructor(folder: string) {
    super(
      `The data folder ${folder} is in use by another Parley process: stop that one, or give this one its own folder.`,
    );
  }
}

const sqliteBusy = 5;

type Sqlite = typeof import('node:sqlite');

interface Lock {
  release(): void;
}

/**
 * An exclusive lock on `folder`, held until `release` or the end of the process, kill -9 included. SQLite is only the
 * way to the operating system's own file lock, which Node offers nowhere else: it needs no pid check, and it holds
 * between containers that share a volume. Node 20 has no SQLite and sees the lock of a process alone, so there is one
 * beside it.
 */
export function lockFolder(
  folder: string,
  sqlite: Sqlite | null = process.getBuiltinModule('node:sqlite') ?? null,
): Lock {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const system = sqlite ? lockBySystem(folder, sqlite) : null;
  const own = lockByProcess(folder, system !== null);
  if (own === null) {
    system?.release();
    throw new DataFolderLocked(resolve(folder));
  }
  return {
    release() {
      own.release();
      system?.release();
    },
  };
}

function lockBySystem(folder: string, sqlite: Sqlite): Lock {
  const file = new sqlite.DatabaseSync(join(folder, 'lock'));
  try {
    file.exec('begin exclusive');
  } catch (error) {
    file.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === sqliteBusy) {
      throw new DataFolderLocked(resolve(folder));
    }
    throw error;
  }
  return { release: () => file.close() };
}
