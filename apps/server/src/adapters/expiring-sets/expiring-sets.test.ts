import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { createFakeClock } from '../../../testkit/kit/fake-clock.ts';
import {
  askRedis,
  hasRedisServer,
  keysOf,
  openTestRedis,
  startOwnRedis,
  testRedisUrl,
} from '../../../testkit/kit/redis.ts';
import { SharedStateUnavailable } from '../../core/ports.ts';
import { startProcessCount } from '../process-count.ts';
import { createRedis } from '../redis.ts';
import { expiringSetsContract } from './expiring-sets.contract.ts';
import { createMemoryExpiringSets } from './memory.ts';
import { createRedisExpiringSets } from './redis.ts';

suite('memory', () =>
  expiringSetsContract('memory', async (clock) => {
    const sets = createMemoryExpiringSets(clock);
    return { first: sets, second: sets, close: () => sets.close() };
  }));

const skip = testRedisUrl === undefined && 'no PARLEY_TEST_REDIS_URL';

suite('redis', { skip }, () =>
  expiringSetsContract('redis', async (clock) => {
    const { connections, close } = await openTestRedis(2, clock);
    const [first, second] = connections.map(createRedisExpiringSets);
    assert.ok(first && second);
    return { first, second, close };
  }),
);

test('[STA-3] redis: sets that nobody sweeps end by themselves', { skip }, async (t) => {
  const { connections, close } = await openTestRedis(1);
  t.after(close);
  const [redis] = connections;
  assert.ok(redis);
  await createRedisExpiringSets(redis).touch('a', 'm', 1_000, 'value');
  const lives = await keysOf(redis);
  assert.ok((lives.get('set:a') ?? -1) > 0 && (lives.get('values:a') ?? -1) > 0);
});

test('[PRES-7] redis: prolonging everybody in a set takes two commands, however many they are, and in the first moments of an hour two more', {
  skip: !hasRedisServer && 'no redis-server on this machine',
}, async (t) => {
  const own = await startOwnRedis();
  t.after(own.kill);
  const hour = 3_600_000;
  const clock = createFakeClock(1_000 * hour - 30_000);
  const redis = createRedis({ url: own.url, prefix: '', clock });
  t.after(redis.close);
  await redis.ready();
  const sets = createRedisExpiringSets(redis);
  /** What a round of ten in each of twenty sets makes Redis do. */
  const commandsOf = async (round: (entries: { set: string; member: string; value: string }[]) => Promise<unknown>) => {
    await askRedis(own.url, (client) => client.configResetStat());
    await round(Array.from({ length: 200 }, (_, i) => ({ set: `room/${i % 20}`, member: `u${i}`, value: 'v' })));
    const text = await askRedis(own.url, (client) => client.info('commandstats'));
    const calls = [...text.matchAll(/^cmdstat_(z\w+|hset|hdel|pexpire|evalsha|eval):calls=(\d+)/gm)];
    return Object.fromEntries(calls.map(([, name, count]) => [name, Number(count)]));
  };
  const [touch, prolong] = [sets.touchAll, sets.prolongAll].map(
    (round) => () => commandsOf((entries) => round(entries, 45_000)),
  );
  assert.ok(touch && prolong);
  await touch();
  await prolong(); // the script itself is sent once
  assert.deepEqual(await touch(), { evalsha: 1, zmscore: 20, zadd: 40, hset: 20, pexpire: 40 });
  clock.jump(15_000);
  assert.deepEqual(await prolong(), { evalsha: 1, zcount: 20, zadd: 20 });
  clock.jump(20_000);
  assert.deepEqual(await prolong(), { evalsha: 1, zcount: 20, zadd: 20, pexpire: 40 });
});

test('[STA-2] without Redis sets say so instead of being empty', async (t) => {
  const redis = createRedis({ url: 'redis://127.0.0.1:1', prefix: '' });
  t.after(redis.close);
  const sets = createRedisExpiringSets(redis);
  await assert.rejects(sets.members('a'), SharedStateUnavailable);
  await assert.rejects(sets.touch('a', 'b', 1_000), SharedStateUnavailable);
});

test('[STA-2] processes know how many they are', { skip }, async (t) => {
  const { connections, close } = await openTestRedis(2);
  t.after(close);
  const [first, second] = connections.map(createRedisExpiringSets);
  assert.ok(first && second);
  const one = await startProcessCount(first);
  assert.equal(one.last(), 1);
  const two = await startProcessCount(second);
  assert.equal(two.last(), 2);
  await two.close();
  const three = await startProcessCount(second);
  assert.equal(three.last(), 2);
  await three.close();
  await one.close();
});
