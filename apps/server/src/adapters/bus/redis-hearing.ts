import { randomUUID } from 'node:crypto';
import type { Redis, Shard } from '../redis.ts';
import type { Station } from '../redis-stores.ts';
import { createSubscriber } from './redis-subscriber.ts';

interface HearingDeps {
  redis: Redis;
  onMessage: (text: string, channel: string) => void;
  /** Messages may have been lost, and flow again. */
  onGap: () => void;
}

/** One server, and the subscriber that hears it. */
interface Post {
  shards: ReadonlySet<Shard>;
  /** Another one where a server has other shards than before. */
  signature: string;
  subscriber: ReturnType<typeof createSubscriber>;
}

// A cluster's slots move, and so do masters; what moved is heard elsewhere within this time.
const lookMs = 400;

/** Hears channels wherever their shards are: a connection for each server, which follows them when they move. */
export function createHearing({ redis, onMessage, onGap }: HearingDeps) {
  const self = randomUUID();
  const posts = new Map<string, Post>();
  /** What this process wants to hear, with its shard. */
  const wanted = new Map<string, Shard>();
  const beatChannelOf = ({ prefix }: Shard): string => `${prefix}bus:beat:${self}`;
  let hasStarted = false;

  function open(station: Station, shards: readonly Shard[]): Post {
    const ofBeat = new Map(shards.map((shard) => [beatChannelOf(shard), shard]));
    const subscriber = createSubscriber({
      openEar: station.open,
      beatChannels: [...ofBeat.keys()],
      sendBeat: async (channel) => ofBeat.get(channel)?.command((commands) => commands.publish(channel, '')),
      onMessage,
      onGap,
    });
    return { shards: new Set(shards), signature: station.tags.join(), subscriber };
  }

  /** Opens what is new and closes what is gone; what moved is heard by a new connection, and a gap follows. */
  function look(): void {
    for (const [at, { link, shards }] of redis.parts.entries()) {
      const stations = link.stations();
      // Nothing is known of it now: what was known stays.
      if (stations.length === 0) continue;
      const current = new Map(stations.map((station) => [`${at}/${station.address}`, station]));
      for (const [id, post] of posts) {
        if (!id.startsWith(`${at}/`) || current.get(id)?.tags.join() === post.signature) continue;
        post.subscriber.close();
        posts.delete(id);
      }
      for (const [id, station] of current) {
        if (posts.has(id)) continue;
        const own = new Set(station.tags);
        const post = open(
          station,
          shards.filter(({ tag }) => own.has(tag)),
        );
        posts.set(id, post);
        if (hasStarted) post.subscriber.expectGap();
        for (const [channel, shard] of wanted) if (post.shards.has(shard)) void post.subscriber.listen(channel);
      }
    }
  }

  function postOf(shard: Shard | undefined): Post | undefined {
    for (const post of posts.values()) if (shard && post.shards.has(shard)) return post;
    return undefined;
  }

  look();
  const looking = setInterval(look, lookMs);
  looking.unref();

  return {
    /** Resolves once messages arrive; at once while there is no connection, for then `onGap` follows. */
    async listen(shard: Shard, channel: string): Promise<void> {
      wanted.set(channel, shard);
      await postOf(shard)?.subscriber.listen(channel);
    },
    leave(channels: readonly string[]): void {
      for (const [post, some] of Map.groupBy(channels, (channel) => postOf(wanted.get(channel)))) {
        for (const channel of some) wanted.delete(channel);
        post?.subscriber.leave(some);
      }
    },
    /** Resolves when messages arrive from everywhere, or after `withinMs`: then `onGap` follows. */
    async start(withinMs: number): Promise<void> {
      const end = performance.now() + withinMs;
      while (posts.size === 0 && performance.now() < end) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        look();
      }
      hasStarted = true;
      const left = Math.max(0, end - performance.now());
      await Promise.all([...posts.values()].map(({ subscriber }) => subscriber.firstBeat(left)));
    },
    close(): void {
      clearInterval(looking);
      for (const { subscriber } of posts.values()) subscriber.close();
    },
  };
}
