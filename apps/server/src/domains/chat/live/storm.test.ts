import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  runCyclesScenario,
  runKillsScenario,
  runOutageScenario,
  runReadersScenario,
} from '../../../../testkit/chat/fault-scenarios.ts';
import { type ChatFleet, startFleet } from '../../../../testkit/chat/fleet.ts';
import { isWhole } from '../../../../testkit/kit/part.ts';
import { hasRedisServer, startOwnRedis, testRedisUrl } from '../../../../testkit/kit/redis.ts';
import { openTestDatabase } from '../../../../testkit/kit/test-database.ts';

/** A small part of tools/proof/chat-history.ts: the same scenarios with real processes, minutes made seconds. */
const databaseUrl = process.env['PARLEY_TEST_DATABASE_URL'];
const writers = isWhole ? 4 : 2;

async function onFleet(processes: number, redisUrl: string | undefined, work: (fleet: ChatFleet) => Promise<void>) {
  const database = databaseUrl === undefined ? null : await openTestDatabase({ url: databaseUrl });
  const shared = redisUrl === undefined ? {} : { REDIS_URL: redisUrl, REDIS_KEY_PREFIX: `storm-${process.pid}:` };
  const env = database === null ? {} : { DATABASE_URL: database.url ?? '', ...shared };
  const fleet = await startFleet({ processes: database === null ? 1 : processes, env, members: ['alice'] });
  try {
    await work(fleet);
  } finally {
    await fleet.stop();
    await database?.close();
  }
}

test('[CHATWS-11] kill -9 under load: nothing acknowledged is lost, nothing is there twice, subscribers are complete', async () => {
  await onFleet(2, testRedisUrl, async (fleet) => {
    const kills = await runKillsScenario({ fleet, kills: 1, writers, everyMs: 500, seed: 11 });
    assert.deepEqual(kills.faults, []);
    const cycles = await runCyclesScenario({
      fleet: await fleet.again(),
      cycles: isWhole ? 12 : 5,
      followers: 3,
      seed: 12,
    });
    assert.deepEqual(cycles.faults, []);
    const readers = await runReadersScenario({
      fleet: await fleet.again(),
      writers,
      each: 6,
      sizes: [
        [1, 1],
        [1, 100],
      ],
    });
    assert.deepEqual(readers.faults, []);
  });
});

test('[CHATWS-12] without Redis sends go on, and subscribers are complete after its return', {
  skip:
    !hasRedisServer || databaseUrl === undefined || testRedisUrl === undefined ? 'needs PostgreSQL and Redis' : false,
}, async () => {
  const redis = await startOwnRedis();
  try {
    await onFleet(2, redis.url, async (fleet) => {
      const outage = await runOutageScenario({ fleet, redis, outageMs: 2_000, writers: 2 });
      assert.deepEqual(outage.faults, []);
    });
  } finally {
    await redis.kill();
  }
});
