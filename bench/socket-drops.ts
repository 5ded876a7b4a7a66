import { readdir, readFile, readlink } from 'node:fs/promises';

/**
 * Datagrams that the kernel dropped at the UDP sockets of these processes, because nobody read them in time, since the
 * sockets were opened; 0 where there is no /proc. Media, reports and connectivity checks alike.
 */
export async function socketDrops(pids: readonly (number | undefined)[]): Promise<number> {
  const known = pids.filter((pid) => pid !== undefined);
  const drops = await Promise.all(known.map((pid) => dropsOf(pid).catch(() => 0)));
  return drops.reduce((sum, one) => sum + one, 0);
}

async function dropsOf(pid: number): Promise<number> {
  const own = await socketInodes(pid);
  // Both list the sockets of everybody.
  const tables = await Promise.all(['udp', 'udp6'].map((name) => readFile(`/proc/${pid}/net/${name}`, 'utf8')));
  const lines = tables.flatMap((table) => table.trim().split('\n').slice(1));
  return lines.reduce((sum, line) => {
    const words = line.trim().split(/\s+/);
    return own.has(words[9] ?? '') ? sum + Number(words[12]) : sum;
  }, 0);
}

async function socketInodes(pid: number): Promise<Set<string>> {
  const folder = `/proc/${pid}/fd`;
  const names = await readdir(folder);
  // One that was closed meanwhile is no socket of the process any more.
  const targets = await Promise.all(names.map((name) => readlink(`${folder}/${name}`).catch(() => '')));
  return new Set(targets.flatMap((target) => /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? []));
}
