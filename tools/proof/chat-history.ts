/**
 * The promise that chat loses nothing, repeats nothing and keeps its order, at full size and with real processes:
 *
 *   readers   16 writers in one conversation on 3 processes (PostgreSQL + Redis), six readers by `after` with pages of 1 to 100
 *   kills     kill -9 twenty times under load, 3 processes on PostgreSQL + Redis
 *   embedded  the same with one process on the embedded database
 *   cycles    1,000 subscribe, unsubscribe and reconnect cycles under traffic
 *   outage    Redis stopped for 30 s
 *
 *   node tools/proof/chat-history.ts [scenario…] [--scale 0.1] [--seed 1]
 *
 * Needs PostgreSQL and Redis (PARLEY_TEST_DATABASE_URL, PARLEY_TEST_REDIS_URL, or those of this machine) and
 * `redis-server` for the outage; makes and drops a database of its own.
 */
import { parseArgs } from 'node:util';
import {
  runCyclesScenario,
  runKillsScenario,
  runOutageScenario,
  runReadersScenario,
  type ScenarioResult,
} from '../../apps/server/testkit/chat/fault-scenarios.ts';
import { type ChatFleet, startFleet } from '../../apps/server/testkit/chat/fleet.ts';
import { startOwnRedis } from '../../apps/server/testkit/kit/redis.ts';
import { openTestDatabase } from '../../apps/server/testkit/kit/test-database.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { scale: { type: 'string', default: '1' }, seed: { type: 'string', default: '1' } },
});
const [scale, seed] = [Number(values.scale), Number(values.seed)];
const databaseUrl = process.env['PARLEY_TEST_DATABASE_URL'] ?? 'postgres://postgres@127.0.0.1:5432/test';
const redisUrl = process.env['PARLEY_TEST_REDIS_URL'] ?? 'redis://127.0.0.1:6379';
const sized = (full: number): number => Math.max(1, Math.round(full * scale));
const log = (line: string): void => console.log(`${new Date().toISOString().slice(11, 19)}  ${line}`);

async function onPostgres(
  work: (fleet: ChatFleet) => Promise<ScenarioResult>,
  redis: string = redisUrl,
): Promise<ScenarioResult> {
  const database = await openTestDatabase({ url: databaseUrl });
  const env = { DATABASE_URL: database.url ?? '', REDIS_URL: redis, REDIS_KEY_PREFIX: `proof-${process.pid}:` };
  const fleet = await startFleet({ processes: 3, env, members: ['alice'] });
  try {
    return await work(fleet);
  } finally {
    await fleet.stop();
    await database.close();
  }
}

async function onEmbedded(work: (fleet: ChatFleet) => Promise<ScenarioResult>): Promise<ScenarioResult> {
  const fleet = await startFleet({ processes: 1, members: ['alice'] });
  try {
    return await work(fleet);
  } finally {
    await fleet.stop();
  }
}

/** Readers of small, middling and all sizes. */
const pageSizes = [
  [1, 5],
  [1, 100],
  [1, 100],
  [20, 50],
  [1, 100],
  [100, 100],
] as const;

const scenarios: Record<string, () => Promise<ScenarioResult>> = {
  readers: () =>
    onPostgres((fleet) => runReadersScenario({ fleet, writers: 16, each: sized(1_250), sizes: pageSizes, log })),
  kills: () =>
    onPostgres((fleet) => runKillsScenario({ fleet, kills: sized(20), writers: 16, everyMs: 1_500, seed, log })),
  embedded: () =>
    onEmbedded((fleet) => runKillsScenario({ fleet, kills: sized(20), writers: 16, everyMs: 1_500, seed, log })),
  cycles: () => onPostgres((fleet) => runCyclesScenario({ fleet, cycles: sized(1_000), followers: 10, seed, log })),
  async outage() {
    const redis = await startOwnRedis();
    try {
      return await onPostgres(
        (fleet) => runOutageScenario({ fleet, redis, outageMs: sized(30_000), writers: 8, log }),
        redis.url,
      );
    } finally {
      await redis.kill();
    }
  },
};

const completeMsMax = 5_000;
const wanted = positionals.length > 0 ? positionals : Object.keys(scenarios);
for (const name of wanted) {
  const scenario = scenarios[name];
  if (!scenario) throw new Error(`no such scenario: ${name}`);
  log(`${name}: begins`);
  const started = performance.now();
  const { faults, facts } = await scenario();
  if ((facts['completeMs'] ?? 0) > completeMsMax) faults.push(`complete only after ${facts['completeMs']} ms`);
  const seconds = Math.round((performance.now() - started) / 1000);
  log(`${name}: ${faults.length === 0 ? 'holds' : 'DOES NOT HOLD'} after ${seconds} s ${JSON.stringify(facts)}`);
  for (const fault of faults) log(`  ${fault}`);
  if (faults.length > 0) process.exitCode = 1;
}
