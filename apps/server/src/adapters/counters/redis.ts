import type { Counters } from '../../core/ports.ts';
import { listOf, type Redis } from '../redis.ts';

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
    const [total, remainingMs, taken] = listOf(await run([`count:${key}`], [windowMs, by, limit])).map(Number);
    return { count: total ?? 0, remainingMs: remainingMs ?? 0, taken: taken === 1 };
  }

  return {
    async hit(key, windowMs, by = 1) {
      const { count: total, remainingMs } = await add(key, windowMs, by, -1);
      return { count: total, remainingMs };
    },
    take: (key, windowMs, limit, by = 1) => add(key, windowMs, by, limit),
    async reset(key) {
      await redis.command((client) => client.del(`${redis.prefix}count:${key}`));
    },
    close: async () => {},
  };
}
