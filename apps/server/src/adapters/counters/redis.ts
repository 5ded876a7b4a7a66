import type { Clock } from '../../core/clock.ts';
import { type Counters, SharedStateUnavailable } from '../../core/ports.ts';
import { listOf, type Redis } from '../redis.ts';
import { createMemoryCounters } from './memory.ts';

/** Counts and reads the rest of the window in one step; the key never lives without an end. */
const count = `
local window, by, limit = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local state = redis.call('HMGET', KEYS[1], 'count', 'ends')
local count, ends = tonumber(state[1]) or 0, tonumber(state[2]) or 0
if ends <= now then
  count, ends = 0, now + window
end
local taken = (limit < 0 or count + by <= limit) and 1 or 0
if taken == 1 then
  count = count + by
end
redis.call('HSET', KEYS[1], 'count', string.format('%.0f', count), 'ends', string.format('%.0f', ends))
redis.call('PEXPIRE', KEYS[1], string.format('%.0f', ends - now + 1000))
return { count, ends - now, taken }`;

export function createRedisCounters(redis: Redis): Counters {
  const run = redis.script(count);

  async function add(key: string, windowMs: number, by: number, limit: number) {
    const [total, remainingMs, taken] = listOf(
      await run(redis.shardOf(key), [`count:${key}`], [windowMs, by, limit]),
    ).map(Number);
    return { count: total ?? 0, remainingMs: remainingMs ?? 0, taken: taken === 1 };
  }

  return {
    async hit(key, windowMs, by = 1) {
      const { count: total, remainingMs } = await add(key, windowMs, by, -1);
      return { count: total, remainingMs };
    },
    take: (key, windowMs, limit, by = 1) => add(key, windowMs, by, limit),
    async reset(key) {
      const { prefix, command } = redis.shardOf(key);
      await command((commands) => commands.del(`${prefix}count:${key}`));
    },
    close: async () => {},
  };
}

interface FallbackDeps {
  shared: Counters;
  clock: Clock;
  /** How many processes share the work, as far as this one last knew. */
  processCount(): number;
}

/**
 * While the shared store is down each process counts by itself, against its share of the limit: never unlimited, and
 * never refusing all.
 */
export function createFallbackCounters({ shared, clock, processCount }: FallbackDeps): Counters {
  const own = createMemoryCounters(clock);
  const shares = () => Math.max(1, processCount());
  return {
    async hit(key, windowMs, by) {
      try {
        return await shared.hit(key, windowMs, by);
      } catch (error) {
        rethrowUnlessUnavailable(error);
        // The others are taken to be as busy as this one.
        const { count, remainingMs } = await own.hit(key, windowMs, by);
        return { count: count * shares(), remainingMs };
      }
    },
    async take(key, windowMs, limit, by) {
      try {
        return await shared.take(key, windowMs, limit, by);
      } catch (error) {
        rethrowUnlessUnavailable(error);
        return await own.take(key, windowMs, Math.max(1, Math.floor(limit / shares())), by);
      }
    },
    async reset(key) {
      await own.reset(key);
      await shared.reset(key).catch(rethrowUnlessUnavailable);
    },
    async close() {
      await own.close();
      await shared.close();
    },
  };
}

function rethrowUnlessUnavailable(error: unknown): void {
  if (!(error instanceof SharedStateUnavailable)) throw error;
}
