import type { ExpiringEntry, ExpiringSets } from '../../core/ports.ts';
import { listOf, type Redis, type Shard } from '../redis.ts';

// A set is a sorted set (member by expiry) and a hash (values). `expiring` has each set by its earliest expiry.
const index = 'expiring';
const keysOf = (set: string) => [`set:${set}`, `values:${set}`];
/** Of one command: Redis does nothing else meanwhile. */
const entriesMax = 500;

/**
 * Sets one after the other: its name, the number of members, and each with its value; two keys a set behind the index.
 * Each step is for all members of a set. Keys outlive their last member by a day, in case no process sweeps them.
 */
const touch = `
local ttl, at, key, answer = tonumber(ARGV[2]), 3, 2, {}
local expires, keep = string.format('%.0f', now + ttl), string.format('%.0f', ttl + 86400000)
while at <= #ARGV do
  local set, count = ARGV[at], tonumber(ARGV[at + 1])
  local names, scores, values, hasValue = {}, {}, {}, false
  for i = 1, count do
    local member, value = ARGV[at + 2 * i], ARGV[at + 2 * i + 1]
    names[i] = member
    scores[2 * i - 1], scores[2 * i] = expires, member
    values[2 * i - 1], values[2 * i] = member, value
    if value ~= '' then hasValue = true end
  end
  for _, known in ipairs(redis.call('ZMSCORE', KEYS[key], unpack(names))) do
    answer[#answer + 1] = (tonumber(known) or 0) <= now and 1 or 0
  end
  redis.call('ZADD', KEYS[key], unpack(scores))
  redis.call('PEXPIRE', KEYS[key], keep)
  if hasValue then
    redis.call('HSET', KEYS[key + 1], unpack(values))
    redis.call('PEXPIRE', KEYS[key + 1], keep)
  else
    redis.call('HDEL', KEYS[key + 1], unpack(names))
  end
  redis.call('ZADD', KEYS[1], 'LT', expires, set)
  at, key = at + 2 + 2 * count, key + 2
end
return answer`;

/**
 * As above, each member without a value; answers with the places of those that have expired. Most often none has: a set
 * takes two commands then. It is in the index by an earlier time already, and its keys live on for a day: that is renewed
 * in the first `ttl` of each hour, in which every set that lives is prolonged.
 */
const prolong = `
local ttl, at, key, place, answer = tonumber(ARGV[2]), 3, 2, 0, {}
local expires, keep = string.format('%.0f', now + ttl), string.format('%.0f', ttl + 86400000)
local past = string.format('%.0f', now)
local isHour = math.floor(now / 3600000) ~= math.floor((now - ttl) / 3600000)
while at <= #ARGV do
  local count = tonumber(ARGV[at + 1])
  local scores = {}
  for i = 1, count do
    scores[2 * i - 1], scores[2 * i] = expires, ARGV[at + 1 + i]
  end
  local areAll = redis.call('ZCOUNT', KEYS[key], '-inf', past) == 0
    and redis.call('ZADD', KEYS[key], 'XX', 'CH', unpack(scores)) == count
  if not areAll then
    for i, known in ipairs(redis.call('ZMSCORE', KEYS[key], unpack(ARGV, at + 2, at + 1 + count))) do
      if (tonumber(known) or 0) > now then
        redis.call('ZADD', KEYS[key], expires, ARGV[at + 1 + i])
      else
        answer[#answer + 1] = place + i
      end
    end
  end
  if isHour then
    redis.call('PEXPIRE', KEYS[key], keep)
    redis.call('PEXPIRE', KEYS[key + 1], keep)
  end
  at, key, place = at + 2 + count, key + 2, place + count
end
return answer`;

const remove = `
local answer = {}
for at = 2, #ARGV do
  local key = 2 * at - 2
  answer[at - 1] = redis.call('ZREM', KEYS[key], ARGV[at])
  redis.call('HDEL', KEYS[key + 1], ARGV[at])
end
return answer`;

const includes = `
local answer = {}
for at, expires in ipairs(redis.call('ZMSCORE', KEYS[1], unpack(ARGV, 2))) do
  answer[at] = (tonumber(expires) or 0) > now and 1 or 0
end
return answer`;

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
const sweepScript = `
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
      local next = redis.call('ZRANGE', members, 0, 0, 'WITHSCORES')
      -- Most often all were prolonged since.
      if next[2] and tonumber(next[2]) <= now then
        local expired = redis.call('ZRANGEBYSCORE', members, '-inf', string.format('%.0f', now), 'LIMIT', 0, limit - taken)
        for _, member in ipairs(expired) do
          answer[#answer + 1] = set
          answer[#answer + 1] = member
          answer[#answer + 1] = redis.call('HGET', values, member) or ''
          redis.call('ZREM', members, member)
          redis.call('HDEL', values, member)
        end
        taken = taken + #expired
        next = redis.call('ZRANGE', members, 0, 0, 'WITHSCORES')
      end
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
    prolong: redis.script(prolong),
    remove: redis.script(remove),
    includes: redis.script(includes),
    members: redis.script(members),
    count: redis.script(count),
    sweep: redis.script(sweepScript),
  };
  let sweeps = 0;

  /** Sets of one thing are together: `presence/x` and `away/x`. */
  const shardOf = (set: string): Shard => redis.shardOf(set.slice(set.indexOf('/') + 1));

  /** Where in `entries` the members of each set are. */
  function bySet(entries: readonly ExpiringEntry[]): Map<string, number[]> {
    const sets = new Map<string, number[]>();
    entries.forEach(({ set }, at) => {
      const places = sets.get(set);
      if (places) places.push(at);
      else sets.set(set, [at]);
    });
    return sets;
  }
  const keysOfAll = (sets: ReadonlyMap<string, unknown>): string[] => [index, ...[...sets.keys()].flatMap(keysOf)];

  async function touchSome(shard: Shard, entries: readonly ExpiringEntry[], ttlMs: number): Promise<boolean[]> {
    const sets = bySet(entries);
    const args = [...sets].flatMap(([set, places]) => [
      set,
      places.length,
      ...places.flatMap((at) => [entries[at]?.member ?? '', entries[at]?.value ?? '']),
    ]);
    const answers = listOf(await scripts.touch(shard, keysOfAll(sets), [ttlMs, ...args]));
    const isNew = new Array<boolean>(entries.length);
    for (const [place, at] of [...sets.values()].flat().entries()) isNew[at] = answers[place] === 1;
    return isNew;
  }

  async function prolongSome(shard: Shard, entries: readonly ExpiringEntry[], ttlMs: number): Promise<boolean[]> {
    const sets = bySet(entries);
    const args: (string | number)[] = [ttlMs];
    for (const [set, places] of sets) {
      args.push(set, places.length);
      for (const at of places) args.push(entries[at]?.member ?? '');
    }
    const expired = listOf(await scripts.prolong(shard, keysOfAll(sets), args));
    const isThere = new Array<boolean>(entries.length).fill(true);
    if (expired.length === 0) return isThere;
    const asked = [...sets.values()].flat();
    for (const place of expired) isThere[asked[Number(place) - 1] ?? 0] = false;
    return isThere;
  }

  async function removeSome(shard: Shard, entries: readonly ExpiringEntry[]): Promise<boolean[]> {
    const keys = [index, ...entries.flatMap(({ set }) => keysOf(set))];
    const members = entries.map(({ member }) => member);
    return listOf(await scripts.remove(shard, keys, members)).map((count) => count === 1);
  }

  /** Each shard gets its own in one command, or in as few as are allowed; answers are in the order of the entries. */
  async function spread(
    entries: readonly ExpiringEntry[],
    work: (shard: Shard, some: readonly ExpiringEntry[]) => Promise<boolean[]>,
  ): Promise<boolean[]> {
    const [only, ...more] = redis.shards;
    if (only && more.length === 0 && entries.length <= entriesMax) return entries.length > 0 ? work(only, entries) : [];
    const answers = new Array<boolean>(entries.length);
    const ask = async (shard: Shard, places: readonly number[]): Promise<void> => {
      const some = await work(
        shard,
        places.flatMap((at) => entries[at] ?? []),
      );
      for (const [place, at] of places.entries()) answers[at] = some[place] === true;
    };
    const asked = [...Map.groupBy(entries.keys(), (at) => shardOf(entries[at]?.set ?? ''))].flatMap(([shard, places]) =>
      inParts(places).map((some) => ask(shard, some)),
    );
    await Promise.all(asked);
    return answers;
  }

  const touchAll = (entries: readonly ExpiringEntry[], ttlMs: number) =>
    spread(entries, (shard, some) => touchSome(shard, some, ttlMs));
  const prolongAll = (entries: readonly ExpiringEntry[], ttlMs: number) =>
    spread(entries, (shard, some) => prolongSome(shard, some, ttlMs));
  const removeAll = (entries: readonly ExpiringEntry[]) => spread(entries, removeSome);

  /** Shard by shard. What was taken is given back even where others do not answer. */
  async function sweep(prefix: string, limit: number) {
    const expired: { set: string; member: string; value: string }[] = [];
    let failure: unknown;
    let failed = 0;
    for (const shard of startingAt(redis.shards, sweeps++)) {
      if (expired.length >= limit) break;
      try {
        const args = [prefix, limit - expired.length, shard.prefix];
        const flat = listOf(await scripts.sweep(shard, [index], args));
        expired.push(...inTriples(flat).map(([set, member, value]) => ({ set, member, value })));
      } catch (error) {
        failure = error;
        failed += 1;
      }
    }
    if (failed === redis.shards.length) throw failure;
    return expired;
  }

  return {
    touchAll,
    prolongAll,
    removeAll,
    sweep,
    async touch(set, member, ttlMs, value) {
      const [isNew = false] = await touchAll([{ set, member, value }], ttlMs);
      return { isNew };
    },
    async remove(set, member) {
      const [wasThere = false] = await removeAll([{ set, member }]);
      return wasThere;
    },
    async includes(set, members) {
      const ask = async (places: readonly number[]): Promise<boolean[]> => {
        const some = places.map((at) => members[at] ?? '');
        return listOf(await scripts.includes(shardOf(set), keysOf(set), some)).map((found) => found === 1);
      };
      return (await Promise.all(inParts([...members.keys()]).map(ask))).flat();
    },
    async members(set) {
      const flat = listOf(await scripts.members(shardOf(set), keysOf(set), []));
      return inTriples(flat).map(([member, value, expiresAt]) => ({ member, value, expiresAt: Number(expiresAt) }));
    },
    count: async (set) => Number(await scripts.count(shardOf(set), keysOf(set), [])),
    close: async () => {},
  };
}

function inParts(places: readonly number[]): number[][] {
  const parts: number[][] = [];
  for (let at = 0; at < places.length; at += entriesMax) parts.push(places.slice(at, at + entriesMax));
  return parts;
}

/** All of them, another one first each time: none waits behind the same others. */
function startingAt<T>(all: readonly T[], at: number): T[] {
  const start = at % all.length;
  return [...all.slice(start), ...all.slice(0, start)];
}

function inTriples(flat: readonly (string | number)[]): [string, string, string][] {
  const groups: [string, string, string][] = [];
  for (let i = 0; i + 2 < flat.length; i += 3) groups.push([String(flat[i]), String(flat[i + 1]), String(flat[i + 2])]);
  return groups;
}
