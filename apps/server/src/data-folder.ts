import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Whether others on this machine may look into the folder, which holds messages, files and secrets. */
export const isOpenToOthers = (dataDir: string): boolean =>
  process.platform !== 'win32' && existsSync(dataDir) && (statSync(dataDir).mode & 0o077) !== 0;

/** Whether development mode has run here: its account, with a password in a file, is this instance's operator. */
export const isFromDevelopment = (dataDir: string): boolean => existsSync(join(dataDir, 'dev.env'));
