import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { keysOf, openTestRedis, testRedisUrl } from '../../../testkit/kit/redis.ts';
import { locksContract } from './locks.contract.ts';
import { createMemoryLocks } from './memory.ts';
import { createRedisLocks } from './redis.ts';

suite('memory', () =>
  locksContract('memory', async (clock) => {
    const locks = createMemoryLocks(clock);
    return { first: locks, second: locks, close: () => locks.close() };
  }));

const skip = testRedisUrl === undefined && 'no PARLEY_TEST_REDIS_URL';

suite('redis', { skip }, () =>
  locksContract('redis', async (clock) => {
    const { connections, close } = await openTestRedis(2, clock);
    const [first, second] = connections.map(createRedisLocks);
    assert.ok(first && second);
    return { first, second, close };
  }),
);

test('[STA-4] redis: a holder that dies leaves a key that ends', { skip }, async (t) => {
  const { connections, close } = await openTestRedis(1);
  t.after(close);
  const [redis] = connections;
  assert.ok(redis);
  assert.equal(await createRedisLocks(redis).acquire('a', 30_000), true);
  assert.ok(((await keysOf(redis)).get('lock:a') ?? -1) > 0);
});
