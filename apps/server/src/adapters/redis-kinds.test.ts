import assert from 'node:assert/strict';
import { after, suite, test } from 'node:test';
import { eventually, processWorkMs } from '../../testkit/kit/eventually.ts';
import { hasRedisServer, openRedisAt, startOwnRedis, startOwnSentinel, testRedisUrl } from '../../testkit/kit/redis.ts';
import { type ClusterNode, slotsInUse, startOwnCluster } from '../../testkit/kit/redis-cluster.ts';
import { stoppable } from '../../testkit/kit/stoppable.ts';
import type { Clock } from '../core/clock.ts';
import { SharedStateUnavailable } from '../core/ports.ts';
import { busContract } from './bus/bus.contract.ts';
import { openRedisBus } from './bus/redis.ts';
import { countersContract } from './counters/counters.contract.ts';
import { createRedisCounters } from './counters/redis.ts';
import { expiringSetsContract } from './expiring-sets/expiring-sets.contract.ts';
import { createRedisExpiringSets } from './expiring-sets/redis.ts';
import { locksContract } from './locks/locks.contract.ts';
import { createRedisLocks } from './locks/redis.ts';
import type { Redis } from './redis.ts';
import { tagsOf } from './redis-stores.ts';

// Once in CI: with the tests on production adapters.
const skip = (!hasRedisServer || testRedisUrl === undefined) && 'needs redis-server and PARLEY_TEST_REDIS_URL';
const stops: (() => Promise<void>)[] = [];
after(async () => {
  for (const stop of stops) await stop();
});

function once<T extends { url: string; stop: () => Promise<void> }>(start: () => Promise<T>): () => Promise<T> {
  let started: Promise<T> | undefined;
  return () => {
    started ??= start().then((one) => {
      stops.push(one.stop);
      return one;
    });
    return started;
  };
}

/** A bus of a process, and what it hears of one topic in each shard. */
async function openListener(redis: Redis) {
  const bus = await openRedisBus({ redis, onError: (error) => assert.fail(String(error)) });
  const heard = new Map<string, Set<number>>();
  let gaps = 0;
  bus.onGap(() => {
    gaps += 1;
  });
  const byShard = new Map<unknown, string>();
  for (let at = 0; byShard.size < redis.shards.length; at++) byShard.set(redis.shardOf(`topic/${at}`), `topic/${at}`);
  const topics = [...byShard.values()];
  for (const topic of topics) {
    const numbers = new Set<number>();
    heard.set(topic, numbers);
    await bus.subscribe(topic, (message) => numbers.add(Number(message)));
  }
  return { bus, topics, heard, gaps: () => gaps };
}

const kinds = {
  'two shards': once(() =>
    stoppable(async (onStop) => {
      const urls: string[] = [];
      for (const _ of [1, 2]) {
        const { url, kill } = await startOwnRedis();
        onStop(kill);
        urls.push(url);
      }
      return { url: urls.join() };
    }),
  ),
  cluster: once(() => startOwnCluster()),
  sentinel: once(() => startOwnSentinel()),
};

/** What two processes have of a port. */
async function two<T>(url: string, create: (redis: Redis) => T | Promise<T>, clock?: Clock) {
  const { connections, close } = await openRedisAt(url, 2, clock);
  const [first, second] = await Promise.all(connections.map(create));
  assert.ok(first && second);
  return { first, second, close };
}

for (const [name, started] of Object.entries(kinds)) {
  const start = async () => (await started()).url;
  suite(name, { skip }, () => {
    countersContract(name, async (clock) => two(await start(), createRedisCounters, clock));
    locksContract(name, async (clock) => two(await start(), createRedisLocks, clock));
    expiringSetsContract(name, async (clock) => two(await start(), createRedisExpiringSets, clock));
    busContract(name, async (onError) => {
      const opened = await two(await start(), (redis) => openRedisBus({ redis, onError }));
      return {
        ...opened,
        async close() {
          await opened.first.close();
          await opened.second.close();
          await opened.close();
        },
      };
    });

    test(`[STA-7] ${name}: a command makes no signal and no timer of the library`, async (t) => {
      const { first, close } = await two(await start(), (redis) => redis);
      t.after(close);
      const script = first.script('return 1');
      const signals = t.mock.method(AbortSignal, 'timeout').mock;
      for (const shard of first.shards) assert.equal(await script(shard, [], []), 1);
      await first.ping();
      assert.equal(signals.callCount(), 0);
    });

    test(`[STA-11] ${name}: names are spread over all servers, and the same way in every process`, async () => {
      const { first, second, close } = await two(await start(), (redis) => redis);
      const names = Array.from({ length: 2_000 }, (_, at) => `conversation/${at}`);
      const at = (redis: Redis, topic: string) => redis.shards.indexOf(redis.shardOf(topic));
      const counts = new Map<number, number>();
      for (const topic of names) {
        assert.equal(at(first, topic), at(second, topic));
        counts.set(at(first, topic), (counts.get(at(first, topic)) ?? 0) + 1);
      }
      assert.equal(counts.size, first.shards.length);
      const fair = names.length / first.shards.length;
      assert.ok(
        [...counts.values()].every((count) => count > fair / 3 && count < fair * 3),
        String([...counts.values()]),
      );
      await close();
    });
  });
}

/** Connections that listen there. */
async function listenersAt(node: ClusterNode): Promise<string[]> {
  const lines = String(await node.ask('CLIENT', 'LIST', 'TYPE', 'pubsub'));
  return [...lines.matchAll(/^id=(\d+)/gm)].map(([, id = '']) => id);
}

test('[STA-12] cluster: slots that move under traffic are heard where they are now, after a gap; others go on', {
  skip,
}, async (t) => {
  const cluster = await kinds.cluster();
  const { connections, close } = await openRedisAt(cluster.url, 2);
  t.after(close);
  const [one, two] = await Promise.all(connections.map(openListener));
  assert.ok(one && two);
  t.after(() => Promise.all([one.bus.close(), two.bus.close()]));
  let sent = 0;
  const publishing = setInterval(() => {
    sent += 1;
    for (const topic of one.topics) one.bus.publish(topic, sent);
  }, 100);
  t.after(() => clearInterval(publishing));
  const allHearAfter = (number: number) =>
    eventually(() => two.topics.every((topic) => [...(two.heard.get(topic) ?? [])].some((heard) => heard > number)), {
      withinMs: 30_000,
    });
  await allHearAfter(5);
  const [from, to, other] = cluster.masters;
  assert.ok(from && to && other);
  const slots = await slotsInUse(from, tagsOf('cluster'));
  assert.ok(slots.length > 5, String(slots));
  const [gapsBefore, listenersBefore] = [two.gaps(), await listenersAt(other)];
  await cluster.moveSlots(slots.slice(0, 3), from, to);
  await eventually(() => two.gaps() > gapsBefore, { withinMs: 30_000 });
  await allHearAfter(sent);
  // Who listens to a master from which nothing moved was not connected anew.
  const listeners = await listenersAt(other);
  assert.ok(listeners.length >= 2 && listeners.every((id) => listenersBefore.includes(id)), String(listeners));
  const counters = createRedisCounters(connections[0] as Redis);
  for (let at = 0; at < 64; at++) assert.equal((await counters.hit(`after/${at}`, 60_000)).count, 1);
});

test('[STA-24] cluster: a master that answers nothing is given up once for all that it has, and the others are asked', {
  skip,
}, async (t) => {
  const cluster = await kinds.cluster();
  const { connections, close } = await openRedisAt(cluster.url, 1);
  t.after(close);
  const redis = connections[0] as Redis;
  const counters = createRedisCounters(redis);
  const nameIn = new Map<string, string>();
  for (let at = 0; nameIn.size < redis.shards.length; at++)
    nameIn.set(redis.shardOf(`silent/${at}`).tag, `silent/${at}`);
  const [, , silent] = cluster.masters;
  assert.ok(silent);
  const busNodes = redis.parts.flatMap(({ link }) => link.busNodes());
  const own = new Set(busNodes.find(({ address }) => address.endsWith(`:${silent.port}`))?.tags);
  assert.ok(own.size > 10, String(own.size));
  for (const name of nameIn.values()) await counters.hit(name, 60_000);

  silent.freeze();
  t.after(silent.thaw);
  const hit = (name: string) => counters.hit(name, 60_000);
  const ownNames = [...nameIn].flatMap(([tag, name]) => (own.has(tag) ? [name] : []));
  // Each time names that were not asked yet: a machine that pauses for a second has let the pause of the master end.
  await eventually(
    async () => {
      const [first, ...others] = ownNames.splice(0, 4);
      assert.ok(first !== undefined && others.length > 1, 'no names are left');
      await assert.rejects(hit(first), SharedStateUnavailable);
      const answers = await Promise.allSettled(others.map(hit));
      for (const answer of answers) assert.match(String(answer.status === 'rejected' && answer.reason), /a moment ago/);
    },
    { withinMs: processWorkMs },
  );
  for (const [tag, name] of nameIn) if (!own.has(tag)) assert.equal((await hit(name)).count, 2);
});

test('[STA-28] cluster: processes that start while a master answers nothing find the others, whichever they ask first', {
  skip,
}, async (t) => {
  const cluster = await kinds.cluster();
  const [silent, other] = cluster.masters;
  assert.ok(silent && other);
  silent.freeze();
  t.after(silent.thaw);
  // Each begins with any of the two.
  const { connections, close } = await openRedisAt(
    [silent, other].map(({ port }) => `redis+cluster://127.0.0.1:${port}`).join(),
    8,
  );
  t.after(close);
  for (const redis of connections) {
    const counters = createRedisCounters(redis);
    await eventually(
      async () => {
        const hits = redis.shards.map(async (_, at) => counters.hit(`others/${at}`, 60_000));
        const outcomes = await Promise.allSettled(hits);
        assert.ok(outcomes.some(({ status }) => status === 'fulfilled'));
      },
      { withinMs: processWorkMs },
    );
  }
});
