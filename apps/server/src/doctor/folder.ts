import { accessSync, constants, existsSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { DataFolderLocked, lockFolder } from '../adapters/db/embedded/folder-lock.ts';
import type { Config } from '../config.ts';
import { isOpenToOthers } from '../data-folder.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

const freeBytesMin = 100 * 1024 * 1024;

/** The folder itself, or where it would be made. */
const nearest = (folder: string): string => (existsSync(folder) ? folder : nearest(dirname(folder)));

function isWritable(folder: string): boolean {
  try {
    accessSync(nearest(resolve(folder)), constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export function checkFolder({ dataDir, databaseUrl, isProduction }: Config, isRunning: boolean): Finding {
  if (!isWritable(dataDir))
    return fail('folder', `The data folder ${dataDir} cannot be written.`, 'Change its owner, or set DATA_DIR.');
  if (!existsSync(dataDir)) return ok('folder', `The data folder ${dataDir} is made at the start.`);
  if (isProduction && isOpenToOthers(dataDir))
    return warn('folder', `The data folder ${dataDir} can be read by others.`, `Run chmod 700 ${dataDir}.`);
  const folder = join(dataDir, 'db');
  // Asking for a lock that nobody ever held would make its file.
  if (databaseUrl !== null || !existsSync(join(folder, 'lock')))
    return ok('folder', `The data folder ${dataDir} can be written.`);
  try {
    lockFolder(folder).release();
    return ok('folder', `The data folder ${dataDir} is free.`);
  } catch (error) {
    if (!(error instanceof DataFolderLocked)) throw error;
    if (isRunning) return ok('folder', `The data folder ${dataDir} is in use by the running service.`);
    return fail(
      'folder',
      `The data folder ${dataDir} is locked by another Parley process.`,
      'Stop that process, or give this one its own DATA_DIR.',
    );
  }
}

/** Files on this machine's own disk. */
export async function checkOwnStorage({ dataDir }: Config): Promise<Finding> {
  const folder = join(dataDir, 'blobs');
  const fix = 'Check DATA_DIR and the space on its disk.';
  if (!isWritable(folder)) return fail('storage', `Files cannot be stored: ${folder} cannot be written.`, fix);
  const { bavail, bsize } = await statfs(nearest(resolve(folder)));
  const megabytes = Math.floor((bavail * bsize) / 1024 / 1024);
  return bavail * bsize < freeBytesMin
    ? fail('storage', `Files cannot be stored: ${megabytes} MB are left on the disk of ${folder}.`, fix)
    : ok('storage', `Files are stored in ${folder}, with ${megabytes} MB to spare.`);
}
