import { createHash } from 'node:crypto';
import type { Clock } from '../core/clock.ts';
import { parseRedisUrl, type RedisAddress } from './redis-address.ts';
import { type Command, createLink, isRefusal, type Link } from './redis-link.ts';
import { type OnError, openCluster, openSentinel, openServer, type Store, tagsOf } from './redis-stores.ts';

interface RedisOptions {
  /** As in REDIS_URL. */
  url: string;
  /** In front of every key and channel. */
  prefix: string;
  /** Time of the scripts; the server's own unless a test brings one. */
  clock?: Clock;
  onError?: OnError;
}

/** A part of the names: what it has is on one server, so that a script may touch several of its keys. */
export interface Shard {
  /** In front of each of its keys and channels. */
  prefix: string;
  command: Command;
  link: Link;
  tag: string;
}

/** A Lua script: `now` is its first argument, in milliseconds. At least one key says where it runs. */
type Script = (shard: Shard, keys: readonly string[], args: readonly (string | number)[]) => Promise<unknown>;

export type Redis = ReturnType<typeof createRedis>;

/** Shared by all ports: a server, several, a master behind sentinels or a cluster, with the names spread over its shards. */
export function createRedis({ url, prefix, clock, onError = () => {} }: RedisOptions) {
  const address = parseRedisUrl(url);
  const tags = tagsOf(address.kind);
  const parts = storesOf(address, onError).map(({ id, open }) => {
    const link = createLink(open);
    const shards: Shard[] = tags.map((tag) => ({ prefix: prefix + tag, command: link.lane(tag), link, tag }));
    return { id, link, shards };
  });

  /** The same in every process, whatever the order of the servers; one more takes only its share of the names. */
  function shardOf(name: string): Shard {
    const hash = hashOf(name);
    let [best, highest] = [parts[0], -1];
    if (parts.length > 1) {
      for (const part of parts) {
        const weight = hashOf(part.id, hash);
        if (weight > highest) [best, highest] = [part, weight];
      }
    }
    return best?.shards[hash % tags.length] ?? noShard();
  }

  function script(body: string): Script {
    const lua = `${nowOfScript}\n${body}`;
    const sha = createHash('sha1').update(lua).digest('hex');
    return async (shard, keys, args) => {
      const options = {
        keys: keys.map((key) => shard.prefix + key),
        arguments: [String(clock ? clock.now() : 0)].concat(args.map(String)),
      };
      try {
        return await shard.command((commands) => commands.evalSha(sha, options));
      } catch (error) {
        if (!isRefusal(error) || !error.message.startsWith('NOSCRIPT')) throw error;
        return await shard.command((commands) => commands.eval(lua, options));
      }
    };
  }

  return {
    prefix,
    /** Publish/subscribe within shards, as a cluster has it. */
    isCluster: address.kind === 'cluster',
    shards: parts.flatMap(({ shards }) => shards),
    /** Each with its shards. */
    parts,
    shardOf,
    script,
    ready: () => Promise.all(parts.map(({ link }) => link.ready())),
    async ping(): Promise<number> {
      const start = performance.now();
      // Each server within the time limit of its part.
      await Promise.all(parts.map(({ link, shards: [shard] }) => shard?.command(() => Promise.all(link.pings()))));
      return performance.now() - start;
    },
    async close(): Promise<void> {
      for (const { link } of parts) await link.close();
    },
  };
}

function storesOf(address: RedisAddress, onError: OnError): { id: string; open: () => Store }[] {
  if (address.kind === 'cluster') return [{ id: '', open: () => openCluster(address, onError) }];
  if (address.kind === 'sentinel') return [{ id: '', open: () => openSentinel(address, onError) }];
  const { servers } = address;
  return servers.map(({ id, url }) => ({ id: servers.length === 1 ? '' : id, open: () => openServer(url, onError) }));
}

function noShard(): never {
  throw new Error('REDIS_URL names no server.');
}

/** FNV-1a, mixed: the same in every process. */
function hashOf(text: string, seed = 0x811c9dc5): number {
  let hash = seed;
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

// The server's clock is the one that all processes share; 0 asks for it.
const nowOfScript = `
local now = tonumber(ARGV[1])
if now == 0 then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end`;

/** What a script gave back: a flat list of numbers and texts. */
export function listOf(answer: unknown): (string | number)[] {
  if (!Array.isArray(answer)) throw new Error('A Redis script gave no list.');
  return answer.map((item) => (typeof item === 'number' ? item : String(item)));
}
