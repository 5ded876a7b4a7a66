import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { createFakeClock } from '../../../testkit/kit/fake-clock.ts';
import { keysOf, openTestRedis, testRedisUrl } from '../../../testkit/kit/redis.ts';
import { SharedStateUnavailable } from '../../core/ports.ts';
import { createRedis } from '../redis.ts';
import { countersContract } from './counters.contract.ts';
import { createMemoryCounters } from './memory.ts';
import { createFallbackCounters, createRedisCounters } from './redis.ts';

suite('memory', () =>
  countersContract('memory', async (clock) => {
    const counters = createMemoryCounters(clock);
    return { first: counters, second: counters, close: () => counters.close() };
  }));

const skip = testRedisUrl === undefined && 'no PARLEY_TEST_REDIS_URL';

suite('redis', { skip }, () =>
  countersContract('redis', async (clock) => {
    const { connections, close } = await openTestRedis(2, clock);
    const [first, second] = connections.map(createRedisCounters);
    assert.ok(first && second);
    return { first, second, close };
  }),
);

test('[STA-1] redis: by its own clock, no key lives forever', { skip }, async (t) => {
  const { connections, close } = await openTestRedis(1);
  t.after(close);
  const [redis] = connections;
  assert.ok(redis);
  const counters = createRedisCounters(redis);
  const { remainingMs } = await counters.hit('a', 60_000);
  assert.ok(remainingMs > 0 && remainingMs <= 60_000, String(remainingMs));
  await counters.take('b', 5_000, 0);
  const lives = [...(await keysOf(redis)).values()];
  assert.equal(lives.length, 2);
  assert.ok(lives.every((ms) => ms > 0));
});

test('[STA-2] without Redis each process counts its share of the limit, at least one, and never waits', async (t) => {
  const clock = createFakeClock();
  const redis = createRedis({ url: 'redis://127.0.0.1:1', prefix: '' });
  t.after(redis.close);
  const shared = createRedisCounters(redis);
  await assert.rejects(shared.hit('a', 1_000), SharedStateUnavailable);

  let processes = 3;
  const counters = createFallbackCounters({ shared, clock, processCount: () => processes });
  const takes = [];
  for (let i = 0; i < 10; i += 1) takes.push((await counters.take('a', 10_000, 10)).taken);
  assert.equal(takes.filter(Boolean).length, 3);
  assert.deepEqual(await counters.hit('failures', 10_000), { count: 3, remainingMs: 10_000 });

  processes = 100;
  assert.equal((await counters.take('rare', 10_000, 5)).taken, true);
  assert.equal((await counters.take('rare', 10_000, 5)).taken, false);
  await counters.reset('rare');
  assert.equal((await counters.take('rare', 10_000, 5)).taken, true);
});
