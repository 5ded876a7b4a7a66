import { randomUUID } from 'node:crypto';
import type { Redis, Shard } from '../redis.ts';
import type { BusNode } from '../redis-stores.ts';
import { createSubscriber } from './redis-subscriber.ts';

interface SubscriptionsDeps {
  redis: Redis;
  onMessage: (text: string, channel: string) => void;
  /** Messages may have been lost, and flow again. */
  onGap: () => void;
}

/** One server, and the subscriber that hears it. */
interface NodeSubscriber {
  shards: ReadonlySet<Shard>;
  /** Another one where a server has other shards than before. */
  signature: string;
  subscriber: ReturnType<typeof createSubscriber>;
}

// A cluster's slots move, and so do masters; what moved is heard elsewhere within this time.
const lookMs = 400;

/** Hears channels wherever their shards are: a connection for each server, which follows them when they move. */
export function createSubscriptions({ redis, onMessage, onGap }: SubscriptionsDeps) {
  const self = randomUUID();
  const nodes = new Map<string, NodeSubscriber>();
  /** What this process wants to hear, with its shard. */
  const wanted = new Map<string, Shard>();
  const beatChannelOf = ({ prefix }: Shard): string => `${prefix}bus:beat:${self}`;
  let hasStarted = false;

  function open(busNode: BusNode, shards: readonly Shard[]): NodeSubscriber {
    const ofBeat = new Map(shards.map((shard) => [beatChannelOf(shard), shard]));
    const subscriber = createSubscriber({
      openConnection: busNode.open,
      beatChannels: [...ofBeat.keys()],
      sendBeat: async (channel) => ofBeat.get(channel)?.command((commands) => commands.publish(channel, '')),
      onMessage,
      onGap,
    });
    return { shards: new Set(shards), signature: busNode.tags.join(), subscriber };
  }

  /** Opens what is new and closes what is gone; what moved is heard by a new connection, and a gap follows. */
  function look(): void {
    for (const [at, { link, shards }] of redis.parts.entries()) {
      const busNodes = link.busNodes();
      // Nothing is known of it now: what was known stays.
      if (busNodes.length === 0) continue;
      const current = new Map(busNodes.map((busNode) => [`${at}/${busNode.address}`, busNode]));
      for (const [id, node] of nodes) {
        if (!id.startsWith(`${at}/`) || current.get(id)?.tags.join() === node.signature) continue;
        node.subscriber.close();
        nodes.delete(id);
      }
      for (const [id, busNode] of current) {
        if (nodes.has(id)) continue;
        const own = new Set(busNode.tags);
        const node = open(
          busNode,
          shards.filter(({ tag }) => own.has(tag)),
        );
        nodes.set(id, node);
        if (hasStarted) node.subscriber.expectGap();
        for (const [channel, shard] of wanted) if (node.shards.has(shard)) void node.subscriber.listen(channel);
      }
    }
  }

  function nodeOf(shard: Shard | undefined): NodeSubscriber | undefined {
    for (const node of nodes.values()) if (shard && node.shards.has(shard)) return node;
    return undefined;
  }

  look();
  const looking = setInterval(look, lookMs);
  looking.unref();

  return {
    /** Resolves once messages arrive; at once while there is no connection, for then `onGap` follows. */
    async listen(shard: Shard, channel: string): Promise<void> {
      wanted.set(channel, shard);
      await nodeOf(shard)?.subscriber.listen(channel);
    },
    leave(channels: readonly string[]): void {
      for (const [node, some] of Map.groupBy(channels, (channel) => nodeOf(wanted.get(channel)))) {
        for (const channel of some) wanted.delete(channel);
        node?.subscriber.leave(some);
      }
    },
    /** Resolves when messages arrive from everywhere, or after `withinMs`: then `onGap` follows. */
    async start(withinMs: number): Promise<void> {
      const end = performance.now() + withinMs;
      while (nodes.size === 0 && performance.now() < end) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        look();
      }
      hasStarted = true;
      const left = Math.max(0, end - performance.now());
      await Promise.all([...nodes.values()].map(({ subscriber }) => subscriber.firstBeat(left)));
    },
    close(): void {
      clearInterval(looking);
      for (const { subscriber } of nodes.values()) subscriber.close();
    },
  };
}
