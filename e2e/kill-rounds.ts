import type { Api } from '@parley/server';
import { type ServerProcess, startProcess } from '../apps/server/testkit/kit/process.ts';
import { signIn } from './starts.ts';

interface KillRounds {
  acknowledged: number;
  /** Ids of writes that were acknowledged and are not stored. */
  lost: string[];
}

/** Starts a server, writes, kills it with -9 in the middle, and again; then looks for what was acknowledged. */
export async function runKillRounds(rounds: number, variables: Record<string, string>): Promise<KillRounds> {
  const acknowledged = new Set<string>();
  for (let round = 0; round < rounds; round++)
    await writeUntilKilled(await startProcess(variables), acknowledged, round);
  const server = await startProcess(variables);
  try {
    const stored = await projectIds(await signIn(server));
    return { acknowledged: acknowledged.size, lost: [...acknowledged].filter((id) => !stored.has(id)) };
  } finally {
    await server.kill();
  }
}

/** Eight writers at once; the kill comes after a different number of writes in each round, at least ten. */
async function writeUntilKilled(server: ServerProcess, acknowledged: Set<string>, round: number): Promise<void> {
  const api = await signIn(server);
  const killAfter = 10 + ((round * 7) % 40);
  let written = 0;
  const writer = async () => {
    for (;;) {
      const { id } = await api.call('createProject', { body: { name: `Round ${round}` } });
      acknowledged.add(id);
      if (++written === killAfter) void server.kill();
    }
  };
  await Promise.allSettled(Array.from({ length: 8 }, writer));
  await server.kill();
}

async function projectIds(api: Api): Promise<Set<string>> {
  const found = new Set<string>();
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await api.request('listProjects', {
      query: { limit: 200, ...(cursor === undefined ? {} : { cursor }) },
    });
    for (const { id } of page.body) found.add(id);
    cursor = page.headers.get('x-next-cursor');
  }
  return found;
}
