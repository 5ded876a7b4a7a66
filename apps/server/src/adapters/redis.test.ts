import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasRedisServer, startOwnRedis } from '../../testkit/kit/redis.ts';
import { createRedis } from './redis.ts';

const skip = !hasRedisServer && 'no redis-server on this machine';

/** Keeps the server busy, and all later commands waiting, for a tenth of a second. */
const slow = `
local start = redis.call('TIME')
repeat
  local time = redis.call('TIME')
until (time[1] - start[1]) * 1000000 + time[2] - start[2] > 100000
return 1`;

test('[STA-7] who asks a busy Redis waits for its turn; a silent one times out', { skip }, async (t) => {
  const own = await startOwnRedis();
  t.after(own.kill);
  const redis = createRedis({ url: own.url, prefix: 'busy-test:' });
  t.after(redis.close);
  await redis.ready();
  const script = redis.script(slow);
  // So long that the server reads, and answers, one after the other.
  const ballast = 'x'.repeat(40_000);
  const answers = await Promise.all(Array.from({ length: 10 }, () => script(redis.shardOf(''), [], [ballast])));
  assert.deepEqual(answers, new Array(10).fill(1));

  own.freeze();
  await assert.rejects(redis.ping(), /did not answer in time/);
  await assert.rejects(redis.ping(), /did not answer a moment ago/);
  own.thaw();
});

test('[STA-7] a command makes no signal and no timer of the library', { skip }, async (t) => {
  const own = await startOwnRedis();
  t.after(own.kill);
  const redis = createRedis({ url: own.url, prefix: 'timer-test:' });
  t.after(redis.close);
  await redis.ready();
  const script = redis.script('return 1');
  const signals = t.mock.method(AbortSignal, 'timeout').mock;
  assert.equal(await script(redis.shardOf(''), [], []), 1);
  await redis.ping();
  assert.equal(signals.callCount(), 0);
});
