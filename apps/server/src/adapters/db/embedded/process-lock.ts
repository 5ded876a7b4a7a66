import { randomUUID } from 'node:crypto';
import { constants, copyFileSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

/** Who has a folder: one line of the file `lock-pid`. */
interface Holder {
  pid: number;
  /** Numbers of processes come again, in containers at once; with this they are one process. '' where it is unknown. */
  startedAt: string;
  /** It has the system's lock too. */
  hasSystemLock: boolean;
}

/** What this process has: its own number in a file may also be of one before it. */
const held = new Set<string>();

/** A file that names its process, and is stale once that has ended; null when another has it. Not between containers. */
export function lockByProcess(folder: string, hasSystemLock: boolean): { release(): void } | null {
  const path = resolve(folder, 'lock-pid');
  const own = lineOf({ pid: process.pid, startedAt: startOf(process.pid), hasSystemLock });
  if (!take(path, own)) {
    const found = read(path);
    if (found !== null && isLive(path, holderIn(found), hasSystemLock)) return null;
    if (found !== null && !takeAway(path, found)) return null;
    if (!take(path, own)) return null;
  }
  held.add(path);
  return {
    release() {
      held.delete(path);
      if (read(path) === own) rmSync(path, { force: true });
    },
  };
}

const lineOf = ({ pid, startedAt, hasSystemLock }: Holder): string =>
  [pid, startedAt || '-', hasSystemLock ? 'system' : 'process'].join(' ');

function holderIn(line: string): Holder {
  const [pid, startedAt = '-', kind] = line.trim().split(' ');
  return { pid: Number(pid), startedAt: startedAt === '-' ? '' : startedAt, hasSystemLock: kind === 'system' };
}

/** Linked, so that it is there with all that is in it or not at all. False when another has it. */
function take(path: string, line: string): boolean {
  const made = `${path}.${randomUUID()}`;
  writeFileSync(made, line, { mode: 0o600 });
  try {
    linkOrCopy(made, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return false;
  } finally {
    rmSync(made, { force: true });
  }
}

/** Some file systems have no links. */
function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw error;
    copyFileSync(from, to, constants.COPYFILE_EXCL);
  }
}

/** False when another came first: what was moved is then no longer the stale one, and goes back. */
export function takeAway(path: string, stale: string): boolean {
  const moved = `${path}.${randomUUID()}`;
  try {
    renameSync(path, moved);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return true;
  }
  const isStale = read(moved) === stale;
  if (isStale) rmSync(moved, { force: true });
  else renameSync(moved, path);
  return isStale;
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return null;
  }
}

function isLive(path: string, holder: Holder, hasSystemLock: boolean): boolean {
  // The system's lock is ours, so the process that had it is gone.
  if (holder.hasSystemLock && hasSystemLock) return false;
  if (holder.pid === process.pid) return held.has(path);
  if (!isRunning(holder.pid)) return false;
  const startedAt = startOf(holder.pid);
  return holder.startedAt === '' || startedAt === '' || startedAt === holder.startedAt;
}

function isRunning(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Field 22 of proc(5), in ticks since the machine started; '' where it cannot be read. */
function startOf(pid: number): string {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field, in brackets, is the program's name and may hold anything.
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}
