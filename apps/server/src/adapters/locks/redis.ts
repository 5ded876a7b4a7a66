import type { Locks } from '../../core/ports.ts';
import type { Redis } from '../redis.ts';

// The value is the end of the lease by the clock of the scripts; the key itself expires a second later.
const acquire = `
local ttl = tonumber(ARGV[2])
if (tonumber(redis.call('GET', KEYS[1])) or 0) > now then return 0 end
redis.call('SET', KEYS[1], string.format('%.0f', now + ttl), 'PX', ttl + 1000)
return 1`;

export function createRedisLocks(redis: Redis): Locks {
  const run = redis.script(acquire);
  return {
    acquire: async (name, ttlMs) => (await run(redis.shardOf(name), [`lock:${name}`], [ttlMs])) === 1,
    close: async () => {},
  };
}
