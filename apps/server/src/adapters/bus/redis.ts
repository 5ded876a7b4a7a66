import { randomUUID } from 'node:crypto';
import type { Bus } from '../../core/ports.ts';
import type { Redis } from '../redis.ts';
import { createListeners } from './listeners.ts';
import { createSubscriber } from './redis-subscriber.ts';

/** What goes over a shard's channel: everything one process published to it in one turn. */
interface Envelope {
  from: string;
  messages: [topic: string, message: unknown][];
}

const shardCount = 64;
// Without Redis the process starts all the same.
const startMs = 1_500;

export interface RedisBusDeps {
  redis: Redis;
  onError: (error: unknown) => void;
}

/**
 * The bus of many processes. Listeners in the publishing process are served directly, so that they hear it while Redis
 * is away, and only once when it is not.
 */
export async function openRedisBus({ redis, onError }: RedisBusDeps): Promise<Bus> {
  const self = randomUUID();
  const listeners = createListeners(onError);
  const gapListeners = new Set<() => void>();
  const channelOf = (name: string | number) => `${redis.prefix}bus:${name}`;
  let queue: [topic: string, message: unknown][] = [];
  let hasLost = false;
  let isClosed = false;

  const subscriber = createSubscriber({ redis, beatChannel: channelOf(`beat:${self}`), onGap: fireGap });

  function fireGap(): void {
    for (const listener of gapListeners) listener();
  }

  function flush(): void {
    const batch = queue;
    queue = [];
    if (isClosed) return;
    for (const [topic, message] of batch) listeners.deliver(topic, message);
    for (const [shard, messages] of Map.groupBy(batch, ([topic]) => shardOf(topic))) {
      void send(channelOf(shard), JSON.stringify({ from: self, messages } satisfies Envelope));
    }
  }

  async function send(channel: string, text: string): Promise<void> {
    try {
      await redis.command((client) => client.publish(channel, text));
    } catch {
      // The others did not hear this and cannot know: they are told as soon as there is a connection.
      hasLost = true;
    }
  }

  async function confessLoss(): Promise<void> {
    if (!hasLost || isClosed) return;
    hasLost = false;
    await send(channelOf('lost'), self);
  }

  function onEnvelope(text: string): void {
    const { from, messages }: Envelope = JSON.parse(text);
    if (from === self) return;
    for (const [topic, message] of messages) listeners.deliver(topic, message);
  }

  await subscriber.listen(channelOf('lost'), (from) => {
    if (from !== self) fireGap();
  });
  await subscriber.firstBeat(startMs);
  const confession = setInterval(confessLoss, 500);
  confession.unref();

  return {
    publish(topic, message) {
      if (queue.length === 0) setImmediate(flush);
      queue.push([topic, message]);
    },
    async subscribe(topic, listener) {
      const remove = listeners.add(topic, listener);
      await subscriber.listen(channelOf(shardOf(topic)), onEnvelope);
      return remove;
    },
    onGap(listener) {
      const own = () => listener();
      gapListeners.add(own);
      return () => gapListeners.delete(own);
    },
    ping: () => redis.ping(),
    async close() {
      isClosed = true;
      clearInterval(confession);
      await subscriber.close();
    },
  };
}

/** FNV-1a: the same shard in every process. */
function shardOf(topic: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < topic.length; i += 1) hash = Math.imul(hash ^ topic.charCodeAt(i), 0x01000193);
  return (hash >>> 0) % shardCount;
}
