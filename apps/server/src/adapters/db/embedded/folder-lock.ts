import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
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
  const sqlite = process.getBuiltinModule('node:sqlite');
  if (!sqlite) return lockByProcess(folder);
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

/** Node 20 has no SQLite: the file names its process, and is stale once that has ended. Not between containers. */
export function lockByProcess(folder: string): { release: () => void } {
  const path = join(folder, 'lock-pid');
  const take = (): boolean => {
    try {
      writeFileSync(path, String(process.pid), { flag: 'wx' });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      return false;
    }
  };
  if (!take()) {
    if (isRunning(Number(readFileSync(path, 'utf8')))) throw new DataFolderLocked(resolve(folder));
    rmSync(path, { force: true });
    if (!take()) throw new DataFolderLocked(resolve(folder));
  }
  return { release: () => rmSync(path, { force: true }) };
}

function isRunning(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
