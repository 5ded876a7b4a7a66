import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  runCyclesScenario,
  runKillsScenario,
  runOutageScenario,
  runReadersScenario,
} from '../../../../testkit/chat/fault-scenarios.ts';
import { type ChatFleet, startFleet } from '../../../../testkit/chat/fleet.ts';
import { runInboxKills } from '../../../../testkit/chat/inbox-kills.ts';
import { eventually } from '../../../../testkit/kit/eventually.ts';
import { isWhole } from '../../../../testkit/kit/part.ts';
import { hasRedisServer, startOwnRedis, testRedisUrl } from '../../../../testkit/kit/redis.ts';
import { isHeardAt, promoted, shardOfChannel, startOwnCluster } from '../../../../testkit/kit/redis-cluster.ts';
import { openTestDatabase } from '../../../../testkit/kit/test-database.ts';

/** A small part of tools/proof/chat-history.ts: the same scenarios with real processes, minutes made seconds. */
const databaseUrl = process.env['PARLEY_TEST_DATABASE_URL'];
const writers = isWhole ? 4 : 2;

async function openFleet(processes: number, redisUrl: string | undefined): Promise<ChatFleet> {
  const database = databaseUrl === undefined ? null : await openTestDatabase({ url: databaseUrl });
  const shared = redisUrl === undefined ? {} : { REDIS_URL: redisUrl, REDIS_KEY_PREFIX: `storm-${process.pid}:` };
  const env = database === null ? {} : { DATABASE_URL: database.url ?? '', ...shared };
  const fleet = await startFleet({ processes: database === null ? 1 : processes, env, members: ['alice'] });
  return {
    ...fleet,
    async stop() {
      await fleet.stop();
      await database?.close();
    },
  };
}

let fleet: ChatFleet;
before(async () => {
  fleet = await openFleet(2, testRedisUrl);
});
after(() => fleet.stop());

test('[CHATWS-11] kill -9 under load: nothing acknowledged is lost, nothing is there twice, subscribers are complete', async () => {
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

test('[INB-6] kill -9 between and during sends, reads, edits and deletions: inboxes and badges are what a model counts', async () => {
  // The first kill falls among sends; on PostgreSQL the next one falls among reads, edits and deletions.
  const { retries } = await runInboxKills({ fleet, kills: isWhole ? 3 : 1, between: 40, seed: 13 });
  assert.ok(retries > 0, 'no step was under way when the process died');
});

const skip =
  !hasRedisServer || databaseUrl === undefined || testRedisUrl === undefined ? 'needs PostgreSQL and Redis' : false;

test('[CHATWS-12] without Redis sends go on, and subscribers are complete after its return', { skip }, async () => {
  const redis = await startOwnRedis();
  try {
    const own = await openFleet(2, redis.url);
    try {
      const outage = await runOutageScenario({ fleet: own, redis, outageMs: 2_000, writers: 2 });
      assert.deepEqual(outage.faults, []);
    } finally {
      await own.stop();
    }
  } finally {
    await redis.kill();
  }
});

test('[CHATWS-18] [STA-12] the master of the conversation is killed and replaced: no change is missed, no socket is lost', {
  skip,
}, async (t) => {
  const cluster = await startOwnCluster({ replicas: true, nodeTimeoutMs: 1_000 });
  t.after(cluster.stop);
  const own = await openFleet(2, cluster.url);
  t.after(own.stop);
  const started = own.processes.map(({ child }) => child);
  let shard: Awaited<ReturnType<typeof shardOfChannel>> | undefined;
  const redis = {
    async kill() {
      shard = await shardOfChannel(cluster, own.room);
      await shard.master.kill();
    },
    start: async () => shard && promoted(shard.replica),
  };
  const { faults, facts } = await runOutageScenario({ fleet: own, redis, outageMs: 500, writers: 2 });
  assert.deepEqual(faults, []);
  // By the bus, not by looks into the store alone.
  await eventually(async () => shard && isHeardAt(shard.replica, own.room));
  // Each follower connects once, to processes that are those of the beginning.
  assert.equal(facts['reconnects'], 1);
  assert.ok(Number(facts['completeMs']) <= 5_000, JSON.stringify(facts));
  assert.deepEqual(
    own.processes.map(({ child }) => [child.pid, child.exitCode, child.signalCode]),
    started.map(({ pid }) => [pid, null, null]),
  );
});
