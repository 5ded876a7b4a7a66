import pg from 'pg';
import { processCpuMs } from '../apps/server/testkit/kit/cpu.ts';

/**
 * Measures the CPU of some processes and of PostgreSQL's backends for a database; its background processes are left out,
 * on each side alike. The returned function gives the milliseconds since the start.
 */
export async function countCpu(pids: readonly number[], databaseUrl: string): Promise<() => Promise<number>> {
  const before = await cpuByPid(pids, databaseUrl);
  return async () => {
    const after = await cpuByPid(pids, databaseUrl);
    // A pool closes connections that were idle for long: those are missing here, and did nothing.
    return [...after].reduce((sum, [pid, ms]) => sum + ms - (before.get(pid) ?? 0), 0);
  };
}

async function cpuByPid(pids: readonly number[], databaseUrl: string): Promise<Map<number, number>> {
  const all = [...pids, ...(await backends(databaseUrl))];
  return new Map(await Promise.all(all.map(async (pid) => [pid, (await processCpuMs(pid)) ?? 0] as const)));
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
