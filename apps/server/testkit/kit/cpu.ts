import { readFile } from 'node:fs/promises';

/** How much CPU of this process `left` takes for each unit that `right` takes: medians of interleaved runs. */
export async function cpuRatio(left: () => Promise<unknown>, right: () => Promise<unknown>): Promise<number> {
  const rounds = 9;
  const costs: [number, number][] = [];
  await left();
  await right();
  for (let round = 0; round < rounds; round++) costs.push([await cpuOf(left), await cpuOf(right)]);
  return median(costs.map(([cost]) => cost)) / median(costs.map(([, cost]) => cost));
}

async function cpuOf(work: () => Promise<unknown>): Promise<number> {
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  return user + system;
}

/** CPU time of a process so far in milliseconds, from the system's own books (Linux); null where there are none. */
export async function processCpuMs(pid: number): Promise<number | null> {
  const line = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  if (line === null) return null;
  // The name in parentheses may hold anything; user and system time, in ticks of 10 ms, are two words after it.
  const words = line.slice(line.lastIndexOf(')') + 2).split(' ');
  return (Number(words[11]) + Number(words[12])) * 10;
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
