import type { ExpiringSets } from '../../core/ports.ts';
import { listOf, type Redis } from '../redis.ts';

// A set is a sorted set (member by expiry) and a hash (values). `expiring` has each set by its earliest expiry.
const index = 'expiring';
const keysOf = (set: string) => [`set:${set}`, `values:${set}`, index];

// Keys outlive their last member by a day, in case no process sweeps them.
const touch = `
local member, value, ttl, set = ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5]
local known = tonumber(redis.call('ZSCORE', KEYS[1], member)) or 0
local expires = string.format('%.0f', now + ttl)
redis.call('ZADD', KEYS[1], expires, member)
redis.call('HSET', KEYS[2], member, value)
redis.call('ZADD', KEYS[3], 'LT', expires, set)
local keep = string.format('%.0f', ttl + 86400000)
redis.call('PEXPIRE', KEYS[1], keep)
redis.call('PEXPIRE', KEYS[2], keep)
return known <= now and 1 or 0`;

const remove = `
redis.call('HDEL', KEYS[2], ARGV[2])
return redis.call('ZREM', KEYS[1], ARGV[2])`;

const members = `
local found = redis.call('ZRANGEBYSCORE', KEYS[1], string.format('(%.0f', now), '+inf', 'WITHSCORES')
local answer = {}
for i = 1, #found, 2 do
  answer[#answer + 1] = found[i]
  answer[#answer + 1] = redis.call('HGET', KEYS[2], found[i]) or ''
  answer[#answer + 1] = found[i + 1]
end
return answer`;

const count = `return redis.call('ZCOUNT', KEYS[1], string.format('(%.0f', now), '+inf')`;

// Runs alone on the server: a member is taken by one process only.
const sweep = `
local prefix, limit, keyPrefix = ARGV[2], tonumber(ARGV[3]), ARGV[4]
local answer, taken, offset = {}, 0, 0
while taken < limit do
  local sets = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now), 'LIMIT', offset, 100)
  if #sets == 0 then break end
  for _, set in ipairs(sets) do
    if string.sub(set, 1, #prefix) ~= prefix or taken >= limit then
      offset = offset + 1
    else
      local members, values = keyPrefix .. 'set:' .. set, keyPrefix .. 'values:' .. set
      local expired = redis.call('ZRANGEBYSCORE', members, '-inf', string.format('%.0f', now), 'LIMIT', 0, limit - taken)
      for _, member in ipairs(expired) do
        answer[#answer + 1] = set
        answer[#answer + 1] = member
        answer[#answer + 1] = redis.call('HGET', values, member) or ''
        redis.call('ZREM', members, member)
        redis.call('HDEL', values, member)
      end
      taken = taken + #expired
      local next = redis.call('ZRANGE', members, 0, 0, 'WITHSCORES')
      if #next == 0 then
        redis.call('ZREM', KEYS[1], set)
      else
        redis.call('ZADD', KEYS[1], next[2], set)
        if tonumber(next[2]) <= now then offset = offset + 1 end
      end
    end
  end
end
return answer`;

export function createRedisExpiringSets(redis: Redis): ExpiringSets {
  const scripts = {
    touch: redis.script(touch),
    remove: redis.script(remove),
    members: redis.script(members),
    count: redis.script(count),
    sweep: redis.script(sweep),
  };
  return {
    async touch(set, member, ttlMs, value = '') {
      return { isNew: (await scripts.touch(keysOf(set), [member, value, ttlMs, set])) === 1 };
    },
    remove: async (set, member) => (await scripts.remove(keysOf(set), [member])) === 1,
    async members(set) {
      const flat = listOf(await scripts.members(keysOf(set), []));
      return inTriples(flat).map(([member, value, expiresAt]) => ({ member, value, expiresAt: Number(expiresAt) }));
    },
    count: async (set) => Number(await scripts.count(keysOf(set), [])),
    async sweep(prefix, limit) {
      const flat = listOf(await scripts.sweep([index], [prefix, limit, redis.prefix]));
      return inTriples(flat).map(([set, member, value]) => ({ set, member, value }));
    },
    close: async () => {},
  };
}

function inTriples(flat: readonly (string | number)[]): [string, string, string][] {
  const groups: [string, string, string][] = [];
  for (let i = 0; i + 2 < flat.length; i += 3) groups.push([String(flat[i]), String(flat[i + 1]), String(flat[i + 2])]);
  return groups;
}
