import { randomUUID } from 'node:crypto';
import type { Locks } from '../../core/ports.ts';
import type { Redis } from '../redis.ts';

// The value is the end of the lease and its holder: `1767225600000 6f1c…`.
const acquire = `
local holder, ttl = ARGV[2], tonumber(ARGV[3])
local ends = tonumber(string.match(redis.call('GET', KEYS[1]) or '', '^(%d+) ')) or 0
if ends > now then return 0 end
redis.call('SET', KEYS[1], string.format('%.0f %s', now + ttl, holder), 'PX', ttl + 1000)
return 1`;

const renew = `
local holder, ttl = ARGV[2], tonumber(ARGV[3])
local ends, owner = string.match(redis.call('GET', KEYS[1]) or '', '^(%d+) (.+)$')
if owner ~= holder or tonumber(ends) <= now then return 0 end
redis.call('SET', KEYS[1], string.format('%.0f %s', now + ttl, holder), 'PX', ttl + 1000)
return 1`;

const release = `
local owner = string.match(redis.call('GET', KEYS[1]) or '', '^%d+ (.+)$')
if owner == ARGV[2] then redis.call('DEL', KEYS[1]) end
return 1`;

export function createRedisLocks(redis: Redis): Locks {
  const scripts = { acquire: redis.script(acquire), renew: redis.script(renew), release: redis.script(release) };
  return {
    async acquire(name, ttlMs) {
      const keys = [`lock:${name}`];
      const holder = randomUUID();
      if ((await scripts.acquire(keys, [holder, ttlMs])) !== 1) return null;
      return {
        renew: async () => (await scripts.renew(keys, [holder, ttlMs])) === 1,
        release: async () => void (await scripts.release(keys, [holder])),
      };
    },
    close: async () => {},
  };
}
