import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { keysOf, openTestRedis, testRedisUrl } from '../../../testkit/kit/redis.ts';
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
