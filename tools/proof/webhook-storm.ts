/**
 * The promise that webhooks lose nothing, at full size: 10,000 events × 20 endpoints, receivers that refuse 30 % at
 * random, three processes of which one is killed with -9 twenty times, the specification's own waits.
 *
 *   node tools/proof/webhook-storm.ts [events] [endpoints] [kills] [backoffBaseMs]
 *
 * Needs PostgreSQL (PARLEY_TEST_DATABASE_URL, or the one on this machine); makes and drops a database of its own.
 */
import { rm } from 'node:fs/promises';
import { newDataDir } from '../../apps/server/testkit/kit/process.ts';
import { openTestDatabase } from '../../apps/server/testkit/kit/test-database.ts';
import { runStorm } from '../../apps/server/testkit/proofs/webhook-storm.ts';

const [events = 10_000, endpoints = 20, kills = 20, backoffBaseMs = 10_000] = process.argv.slice(2).map(Number);
const url = process.env['PARLEY_TEST_DATABASE_URL'] ?? 'postgres://postgres@127.0.0.1:5432/test';

const dataDir = await newDataDir();
const database = await openTestDatabase({ url });
try {
  const result = await runStorm({
    events,
    endpoints,
    failureRate: 0.3,
    kills,
    processes: 3,
    backoffBaseMs,
    env: {
      DATA_DIR: dataDir,
      SECRET_KEY: 'a key that the processes of this proof share',
      SFU_REGISTRATION_SECRET: 'a secret that the processes of this proof share',
      DATABASE_URL: database.url ?? '',
    },
    log: (line) => console.log(`${new Date().toISOString().slice(11, 19)}  ${line}`),
  });
  console.table(result);
  const faults = result.lost + result.early + result.excess + result.mistold + result.badSignatures;
  console.log(faults === 0 ? 'holds' : 'DOES NOT HOLD');
  process.exitCode = faults === 0 ? 0 : 1;
} finally {
  await database.close();
  await rm(dataDir, { recursive: true, force: true });
}
