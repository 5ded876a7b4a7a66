import { createHash, randomUUID } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';

const keptMs = 24 * 60 * 60 * 1000;
/** Who builds all day long keeps no more than this many. */
const retiredMax = 3;

interface Retired {
  folder: string;
  at: number;
}

/** The builds in the data folder: the one this process serves, and those before it. */
export function createKeptBuilds({ dataDir, clock, log }: { dataDir: string; clock: Clock; log: Log }) {
  const keptFolder = join(dataDir, 'pages');
  let own: string | null = null;
  return {
    /** A data folder that cannot be written keeps nothing, and an open tab is told to reload. */
    before(build: string): string[] {
      try {
        own = join(keptFolder, idOf(build));
        return keepBuild(build, keptFolder, clock.now());
      } catch (error) {
        log.warn({ error }, 'the files of this dashboard are not kept for the next one');
        return [];
      }
    },
    /** Again and again: a process that started with another build took ours for one that is gone. */
    async stayInUse(): Promise<void> {
      if (own !== null) unmark(own);
    },
  };
}

const idOf = (build: string): string =>
  createHash('sha256')
    .update(readFileSync(join(build, 'index.html')))
    .digest('hex')
    .slice(0, 16);

/**
 * Keeps the files of this build for the one after it, and gives the folders of builds that were replaced within the
 * last day: a tab that was open during the update asks for their files.
 */
export function keepBuild(build: string, keptFolder: string, now: number): string[] {
  const id = idOf(build);
  mkdirSync(keptFolder, { recursive: true });
  keepOwn(build, join(keptFolder, id));
  const others = readdirSync(keptFolder).filter((name) => name !== id && /^[0-9a-f]{16}$/.test(name));
  const retired = others.flatMap((name) => unlessGone(() => retire(join(keptFolder, name), now)) ?? []);
  retired.sort((a, b) => b.at - a.at);
  const isKept = ({ at }: Retired, index: number): boolean => now - at < keptMs && index < retiredMax;
  for (const [index, one] of retired.entries())
    if (!isKept(one, index)) unlessGone(() => rmSync(one.folder, { recursive: true, force: true }));
  return retired.filter(isKept).map(({ folder }) => folder);
}

/** One folder that another process deletes meanwhile, or that is not ours, does not stop the others. */
function unlessGone<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/** Atomic, for several processes may start at once; a build that comes back is in use again. */
function keepOwn(build: string, folder: string): void {
  unmark(folder);
  if (existsSync(folder) || !existsSync(join(build, 'assets'))) return;
  // Not the pid: containers that share the folder have the same ones.
  const half = `${folder}.${randomUUID()}`;
  try {
    cpSync(join(build, 'assets'), join(half, 'assets'), { recursive: true });
    renameSync(half, folder);
  } catch (error) {
    // Another process was quicker, with the same files.
    if (!existsSync(folder)) throw error;
  } finally {
    rmSync(half, { recursive: true, force: true });
  }
}

const markOf = (folder: string): string => join(folder, 'retired');
const unmark = (folder: string): void => rmSync(markOf(folder), { force: true });

/** Since when a build is not in use: since a start first found it so. */
function retire(folder: string, now: number): Retired {
  const mark = markOf(folder);
  if (!existsSync(mark)) writeFileSync(mark, String(now));
  const text = readFileSync(mark, 'utf8');
  // Empty while another process writes it.
  return { folder, at: /^\d+$/.test(text) ? Number(text) : statSync(mark).mtimeMs };
}
