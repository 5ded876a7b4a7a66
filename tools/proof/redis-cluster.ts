/**
 * Chat loses nothing while the Redis below it changes, at full size and with real processes that nobody restarts:
 *
 *   slots     a cluster whose used slots all move to one master, under traffic
 *   master    a cluster whose master of everything is killed; its replica takes its place
 *   sentinel  a master behind a sentinel is killed; its replica takes its place
 *   shards    two servers, both gone for a while
 *
 *   node tools/proof/redis-cluster.ts [scenario…] [--processes 3] [--writers 8]
 *
 * Needs PostgreSQL (PARLEY_TEST_DATABASE_URL, or that of this machine) and `redis-server`; makes and drops a database
 * of its own.
 */
import { parseArgs } from 'node:util';
import { tagsOf } from '../../apps/server/src/adapters/redis-stores.ts';
import { runOutageScenario, type ScenarioResult } from '../../apps/server/testkit/chat/fault-scenarios.ts';
import { startFleet } from '../../apps/server/testkit/chat/fleet.ts';
import { startOwnRedis, startOwnSentinel } from '../../apps/server/testkit/kit/redis.ts';
import { type OwnCluster, promoted, slotsInUse, startOwnCluster } from '../../apps/server/testkit/kit/redis-cluster.ts';
import { openTestDatabase } from '../../apps/server/testkit/kit/test-database.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { processes: { type: 'string', default: '3' }, writers: { type: 'string', default: '8' } },
});
const databaseUrl = process.env['PARLEY_TEST_DATABASE_URL'] ?? 'postgres://postgres@127.0.0.1:5432/test';
const log = (line: string): void => console.log(`${new Date().toISOString().slice(11, 19)}  ${line}`);

/** How long a master may be silent before it is replaced. */
const silenceMs = 1_000;

/** What happens to Redis, and when that is over. */
interface Change {
  url: string;
  kill: () => Promise<void>;
  start: () => Promise<void>;
  stop: () => Promise<void>;
}

async function run({ url, kill, start, stop }: Change): Promise<ScenarioResult> {
  const database = await openTestDatabase({ url: databaseUrl });
  const env = { DATABASE_URL: database.url ?? '', REDIS_URL: url, REDIS_KEY_PREFIX: 'proof:' };
  const fleet = await startFleet({ processes: Number(values.processes), env, members: ['alice'] });
  try {
    const redis = { kill, start };
    const result = await runOutageScenario({ fleet, redis, outageMs: 3_000, writers: Number(values.writers), log });
    // A process that ended would have cut its followers off; each connects once.
    if (Number(result.facts['reconnects']) > 1) result.faults.push('a socket was lost');
    return result;
  } finally {
    await fleet.stop();
    await database.close();
    await stop();
  }
}

/** All that we use goes to the second master. */
async function moveAll({ masters, moveSlots }: OwnCluster): Promise<void> {
  const [first, second, third] = masters;
  if (!first || !second || !third) throw new Error('a cluster has three masters');
  for (const from of [first, third]) {
    const slots = await slotsInUse(from, tagsOf('cluster'));
    await moveSlots(slots, from, second);
    log(`${slots.length} slots moved`);
  }
}

const scenarios: Record<string, () => Promise<Change>> = {
  async slots() {
    const cluster = await startOwnCluster({ nodeTimeoutMs: silenceMs });
    return { url: cluster.url, kill: () => moveAll(cluster), start: async () => {}, stop: cluster.stop };
  },
  async master() {
    const cluster = await startOwnCluster({ replicas: true, nodeTimeoutMs: silenceMs });
    await moveAll(cluster);
    const [, master] = cluster.masters;
    const [, replica] = cluster.replicas;
    return {
      url: cluster.url,
      kill: async () => master?.kill(),
      start: async () => replica && promoted(replica),
      stop: cluster.stop,
    };
  },
  async sentinel() {
    const { url, master, stop } = await startOwnSentinel({ downAfterMs: silenceMs });
    return { url, kill: master.kill, start: async () => {}, stop };
  },
  async shards() {
    const [one, two] = await Promise.all([startOwnRedis(), startOwnRedis()]);
    const stop = async () => void (await Promise.all([one.kill(), two.kill()]));
    const both = [one, two];
    return {
      url: both.map(({ url }) => url).join(),
      kill: async () => void (await Promise.all(both.map((server) => server.kill()))),
      start: async () => void (await Promise.all(both.map((server) => server.start()))),
      stop,
    };
  },
};

let isGood = true;
for (const name of positionals.length > 0 ? positionals : Object.keys(scenarios)) {
  const scenario = scenarios[name];
  if (!scenario) throw new Error(`There is no scenario ${name}: ${Object.keys(scenarios).join(', ')}.`);
  log(name);
  const { faults, facts } = await run(await scenario());
  log(`${faults.length === 0 ? 'ok  ' : 'FAIL'} ${name} ${JSON.stringify(facts)}`);
  for (const fault of faults) log(`     ${fault}`);
  isGood &&= faults.length === 0;
}
process.exit(isGood ? 0 : 1);
