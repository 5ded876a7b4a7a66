/**
 * The promise that every minute is counted once: 200 people come and go by a script while real server and media
 * processes are killed with -9. What was metered must be what they saw, within one heartbeat a kill.
 *
 *   node tools/proof/billing.ts [sessions] [serverKills] [nodeKills] [seconds]
 *
 * Needs PostgreSQL and Redis (PARLEY_TEST_DATABASE_URL, PARLEY_TEST_REDIS_URL, or those on this machine).
 */
import { randomUUID } from 'node:crypto';
import { openTestDatabase } from '../../apps/server/testkit/kit/test-database.ts';
import { runBilling } from '../../e2e/billing.ts';

const [sessions = 200, serverKills = 4, nodeKills = 3, seconds = 120] = process.argv.slice(2).map(Number);
const url = process.env['PARLEY_TEST_DATABASE_URL'] ?? 'postgres://postgres@127.0.0.1:5432/test';
const redisUrl = process.env['PARLEY_TEST_REDIS_URL'] ?? 'redis://127.0.0.1:6379';

const database = await openTestDatabase({ url });
try {
  const { kills, faults, ...bill } = await runBilling({
    sessions,
    serverKills,
    nodeKills,
    seconds,
    processes: 2,
    nodes: 2,
    secret: randomUUID() + randomUUID(),
    random: Math.random,
    env: {
      DATABASE_URL: database.url ?? '',
      REDIS_URL: redisUrl,
      REDIS_KEY_PREFIX: `billing-${randomUUID()}:`,
      SECRET_KEY: randomUUID() + randomUUID(),
    },
    log: (line) => console.log(`${new Date().toISOString().slice(11, 19)}  ${line}`),
  });
  console.table({ ...bill, kills: kills.length });
  for (const fault of faults) console.log(fault);
  const holds = bill.missing + bill.twice + bill.negative + bill.wrong === 0 && bill.isWholeDaily;
  console.log(holds ? 'holds' : 'DOES NOT HOLD');
  process.exitCode = holds ? 0 : 1;
} finally {
  await database.close();
}
