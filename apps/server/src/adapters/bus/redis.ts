import { randomUUID } from 'node:crypto';
import type { Bus } from '../../core/ports.ts';
import type { Redis } from '../redis.ts';
import { createListeners } from './listeners.ts';
import { createSubscriber } from './redis-subscriber.ts';

/**
 * What goes over a shard's channel, everything one process published to it in one turn: a line with the sender, then two
 * for each message, its topic and its JSON. Every process gets every message: those of topics without a listener there
 * must cost no more than finding the end of a line.
 */
const envelopeOf = (from: string, messages: readonly (readonly [topic: string, message: unknown])[]): string =>
  [from, ...messages.flatMap(([topic, message]) => [topic, JSON.stringify(message ?? null)])].join('\n');

const shardCount = 64;
// Without Redis the process starts all the same.
const startMs = 1_500;

interface RedisBusDeps {
  redis: Redis;
  onError: (error: unknown) => void;
}

/**
 * The bus of many processes. Listeners in the publishing process are called directly, so that they get it while Redis is
 * away; the process skips its own envelopes, so that they get it only once. No other echo suppression is needed.
 */
export async function openRedisBus({ redis, onError }: RedisBusDeps): Promise<Bus> {
  const self = randomUUID();
  const listeners = createListeners(onError);
  const gapListeners = new Set<() => void>();
  const channelOf = (name: string | number) => `${redis.prefix}bus:${name}`;
  let queue: [topic: string, message: unknown][] = [];
  let hasFailed = false;
  let isClosed = false;

  const subscriber = createSubscriber({ redis, beatChannel: channelOf(`beat:${self}`), onGap: fireGap });

  function fireGap(): void {
    for (const listener of gapListeners) listener();
  }

  function flush(): void {
    const batch = queue;
    queue = [];
    if (isClosed) return;
    for (const [shard, messages] of Map.groupBy(batch, ([topic]) => shardOf(topic))) {
      void send(channelOf(shard), envelopeOf(self, messages));
    }
  }

  async function send(channel: string, text: string): Promise<void> {
    try {
      await redis.command((client) => client.publish(channel, text));
    } catch {
      // Other processes missed this and cannot know: the gap is published once there is a connection.
      hasFailed = true;
    }
  }

  async function announcePublishFailure(): Promise<void> {
    if (!hasFailed || isClosed) return;
    hasFailed = false;
    await send(channelOf('lost'), self);
  }

  function onEnvelope(text: string): void {
    const [from, ...lines] = text.split('\n');
    if (from === self) return;
    for (let at = 0; at < lines.length; at += 2) {
      const topic = lines[at] ?? '';
      if (listeners.has(topic)) listeners.deliver(topic, JSON.parse(lines[at + 1] ?? 'null'));
    }
  }

  await subscriber.listen(channelOf('lost'), (from) => {
    if (from !== self) fireGap();
  });
  await subscriber.firstBeat(startMs);
  const announcing = setInterval(announcePublishFailure, 500);
  announcing.unref();

  return {
    publish(topic, message) {
      if (isClosed) return;
      if (queue.length === 0) setImmediate(flush);
      queue.push([topic, message]);
      listeners.deliver(topic, message);
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
      clearInterval(announcing);
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
