import { type Clock, systemClock } from '../core/clock.ts';
import type { Log } from '../core/log.ts';
import type { SharedState } from '../core/ports.ts';
import { openRedisBus } from './bus/redis.ts';
import { type Closing, closeAll } from './closing.ts';
import { createFallbackCounters, createRedisCounters } from './counters/redis.ts';
import { createRedisExpiringSets } from './expiring-sets/redis.ts';
import { createRedisLocks } from './locks/redis.ts';
import { startProcessCount } from './process-count.ts';
import { createRedis } from './redis.ts';

interface RedisStateOptions {
  url: string;
  prefix: string;
  clock: Clock;
  log: Log;
  onError: (error: unknown) => void;
}

/** What several processes share, kept in Redis. */
export async function openRedisState(options: RedisStateOptions): Promise<SharedState & Closing> {
  const { url, prefix, clock, log, onError } = options;
  const redis = createRedis({
    url,
    prefix,
    // Redis's own clock is the one that all processes share; only a test's clock takes its place.
    ...(clock !== systemClock && { clock }),
    onError: (error) => log.warn({ error }, 'Redis is not reachable; trying again'),
  });
  await redis.ready();
  const expiringSets = createRedisExpiringSets(redis);
  const [bus, processes] = await Promise.all([openRedisBus({ redis, onError }), startProcessCount(expiringSets)]);
  const locks = createRedisLocks(redis);
  const counters = createFallbackCounters({
    shared: createRedisCounters(redis),
    clock,
    processCount: processes.last,
  });
  const close = () => closeAll([processes, bus, counters, expiringSets, locks, redis]);
  return { bus, counters, expiringSets, locks, close };
}
