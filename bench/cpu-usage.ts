import { readFile } from 'node:fs/promises';
import pg from 'pg';
import { processCpuMs } from '../apps/server/testkit/kit/cpu.ts';

/** CPU time in microseconds. */
export interface Cpu {
  user: number;
  system: number;
}

/** What a child process of the benchmarks says of itself since it was last asked. */
export interface Spent {
  cpuSeconds: number;
  /** Of these, in the kernel. */
  systemSeconds: number;
}

export const cpuOf = ({ cpuSeconds, systemSeconds }: Spent): Cpu => ({
  user: (cpuSeconds - systemSeconds) * 1e6,
  system: systemSeconds * 1e6,
});

export const totalOf = ({ user, system }: Cpu): number => user + system;

export const perUnit = ({ user, system }: Cpu, units: number): Cpu => ({ user: user / units, system: system / units });

/** Both parts, as a table shows them. */
export const cpuText = (cpu: Cpu, digits = 0): string =>
  `${totalOf(cpu).toFixed(digits)} µs (user ${cpu.user.toFixed(digits)}, system ${cpu.system.toFixed(digits)})`;

/**
 * Measures the CPU of some processes and of PostgreSQL's backends for a database; its background processes are left out,
 * on each side alike. The returned function gives the milliseconds since the start.
 */
export async function countCpu(pids: readonly number[], databaseUrl: string): Promise<() => Promise<number>> {
  const measure = async (): Promise<Map<number, number>> => {
    const all = [...pids, ...(await backends(databaseUrl))];
    return new Map(await Promise.all(all.map(async (pid) => [pid, (await processCpuMs(pid)) ?? 0] as const)));
  };
  const before = await measure();
  return async () => {
    const after = await measure();
    // A pool closes connections that were idle for long: those are missing here, and did nothing.
    return [...after].reduce((sum, [pid, ms]) => sum + ms - (before.get(pid) ?? 0), 0);
  };
}

/** The same of the backends alone, by a clock fine enough for a few seconds of little work. */
export async function countDatabaseCpu(databaseUrl: string): Promise<() => Promise<Cpu>> {
  const measure = async (): Promise<Map<number, Cpu>> =>
    new Map(await Promise.all((await backends(databaseUrl)).map(async (pid) => [pid, await threadCpu(pid)] as const)));
  const before = await measure();
  return async () => {
    const spent: Cpu = { user: 0, system: 0 };
    for (const [pid, { user, system }] of await measure()) {
      spent.user += user - (before.get(pid)?.user ?? 0);
      spent.system += system - (before.get(pid)?.system ?? 0);
    }
    return spent;
  };
}

/** Of a process with one thread. The system counts its whole time in nanoseconds, the parts in ticks of 10 ms. */
async function threadCpu(pid: number): Promise<Cpu> {
  const [stat, scheduled] = await Promise.all(
    ['stat', 'schedstat'].map((file) => readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')),
  );
  const words = (stat ?? '').slice((stat ?? '').lastIndexOf(')') + 2).split(' ');
  const [user, system] = [Number(words[11] ?? 0) * 10_000, Number(words[12] ?? 0) * 10_000];
  const exact = Number((scheduled ?? '').split(' ')[0] ?? 0) / 1_000;
  if (exact === 0) return { user, system };
  const share = user + system > 0 ? system / (user + system) : 0;
  return { user: exact * (1 - share), system: exact * share };
}

async function backends(url: string): Promise<number[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ pid: number }>(
    'select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );
  await client.end();
  return rows.map(({ pid }) => pid);
}
