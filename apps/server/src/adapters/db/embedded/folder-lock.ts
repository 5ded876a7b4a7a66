import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StartRefused } from '../../../core/start-refused.ts';

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

/**
 * An exclusive lock on `folder`, held until `release` or the end of the process, kill -9 included. SQLite is only the
 * way to the operating system's own file lock, which Node offers nowhere else: it needs no pid check, and it holds
 * between containers that share a volume.
 */
export function lockFolder(folder: string): { release: () => void } {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = new DatabaseSync(join(folder, 'lock'));
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
