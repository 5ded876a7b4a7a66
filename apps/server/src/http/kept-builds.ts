import { createHash } from 'node:crypto';
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

const keptMs = 24 * 60 * 60 * 1000;
/** Who builds all day long keeps no more than this many. */
const retiredMax = 3;

interface Retired {
  folder: string;
  at: number;
}

/**
 * Keeps the files of this build for the one after it, and gives the folders of builds that were replaced within the
 * last day: a tab that was open during the update asks for their files.
 */
export function keepBuild(build: string, keptFolder: string, now: number): string[] {
  const id = createHash('sha256')
    .update(readFileSync(join(build, 'index.html')))
    .digest('hex')
    .slice(0, 16);
  mkdirSync(keptFolder, { recursive: true });
  keepOwn(build, join(keptFolder, id));
  const others = readdirSync(keptFolder).filter((name) => name !== id && /^[0-9a-f]{16}$/.test(name));
  const retired = others.map((name) => retire(join(keptFolder, name), now)).sort((a, b) => b.at - a.at);
  const isKept = ({ at }: Retired, index: number): boolean => now - at < keptMs && index < retiredMax;
  for (const [index, one] of retired.entries())
    if (!isKept(one, index)) rmSync(one.folder, { recursive: true, force: true });
  return retired.filter(isKept).map(({ folder }) => folder);
}

/** Atomic, for several processes may start at once; a build that comes back is in use again. */
function keepOwn(build: string, folder: string): void {
  rmSync(join(folder, 'retired'), { force: true });
  if (existsSync(folder) || !existsSync(join(build, 'assets'))) return;
  const half = `${folder}.${process.pid}`;
  try {
    cpSync(join(build, 'assets'), join(half, 'assets'), { recursive: true });
    renameSync(half, folder);
  } finally {
    rmSync(half, { recursive: true, force: true });
  }
}

/** Since when a build is not in use: since a start first found it so. */
function retire(folder: string, now: number): Retired {
  const mark = join(folder, 'retired');
  if (!existsSync(mark)) writeFileSync(mark, String(now));
  const at = Number(readFileSync(mark, 'utf8'));
  return { folder, at: Number.isFinite(at) ? at : statSync(mark).mtimeMs };
}
