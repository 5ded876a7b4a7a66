import { randomUUID } from 'node:crypto';
import type { Bus } from '../../core/ports.ts';
import type { Redis, Shard } from '../redis.ts';
import type { Link } from '../redis-link.ts';
import { envelopeOf, messagesOf } from './envelope.ts';
import { createInterest } from './interest.ts';
import { createListeners } from './listeners.ts';
import { createSubscriptions } from './redis-subscriptions.ts';

/** Of the envelopes: processes with another one share no channels, and hear each other by their looks into the store. */
const format = 2;

/** As one command: a turn may publish to hundreds of topics, and what a command costs us is not its bytes. */
const publishAll = `
for at = 3, #ARGV, 2 do redis.call(ARGV[2], ARGV[at], ARGV[at + 1]) end
return 0`;

// Without Redis the process starts all the same.
const startMs = 1_500;

interface RedisBusDeps {
  redis: Redis;
  onError: (error: unknown) => void;
  /** How long a topic is heard after its last listener has left. */
  graceMs?: number;
}

/**
 * The bus of many processes: a channel a topic, which a process hears while somebody there listens. Listeners in the
 * publishing process are called directly, so that they get it while Redis is away; the process skips its own envelopes,
 * so that they get it only once.
 */
export async function openRedisBus({ redis, onError, graceMs = 5_000 }: RedisBusDeps): Promise<Bus> {
  const self = randomUUID();
  const listeners = createListeners(onError);
  const gapListeners = new Set<() => void>();
  const runPublishAll = redis.script(publishAll);
  const publishCommand = redis.isCluster ? 'SPUBLISH' : 'PUBLISH';
  const channelOf = ({ prefix }: Shard, topic: string): string => `${prefix}bus${format}/${topic}`;
  // Prefixes of all shards are as long.
  const topicAt = channelOf(redis.shardOf(''), '').length;
  // One for each part of the store, in its first shard. No topic begins like these.
  const lossChannels = new Map<string, Shard>();
  for (const { id, shards } of redis.parts) {
    for (const shard of shards.slice(0, 1)) lossChannels.set(`${shard.prefix}bus:lost${id}`, shard);
  }
  /** What one event-loop turn publishes: bounded by what the publishers' own queues let through in a turn. */
  let queue = new Map<string, unknown[]>();
  /** Where others could not be told something. */
  const failed = new Set<Link>();
  let isClosed = false;

  const subscriptions = createSubscriptions({
    redis,
    onMessage: (text, channel) => (lossChannels.has(channel) ? onLoss(text) : onEnvelope(text, channel)),
    onGap: fireGap,
  });
  const interest = createInterest({
    graceMs,
    isWanted: listeners.has,
    leave: (topics) => subscriptions.leave(topics.map((topic) => channelOf(redis.shardOf(topic), topic))),
  });

  function fireGap(): void {
    for (const listener of gapListeners) listener();
  }

  function flush(): void {
    const batch = queue;
    queue = new Map();
    if (isClosed) return;
    for (const [shard, some] of Map.groupBy(batch, ([topic]) => redis.shardOf(topic))) {
      void send(
        shard,
        some.map(([topic, messages]) => [channelOf(shard, topic), envelopeOf(self, messages)]),
      );
    }
  }

  async function send(shard: Shard, envelopes: readonly [channel: string, text: string][]): Promise<void> {
    const [[channel, text] = ['', ''], ...others] = envelopes;
    try {
      if (others.length > 0) await runPublishAll(shard, ['bus'], [publishCommand, ...envelopes.flat()]);
      else await shard.command((commands) => commands.publish(channel, text));
    } catch {
      // Other processes missed this and cannot know: the gap is published once there is a connection.
      failed.add(shard.link);
    }
  }

  function announcePublishFailures(): void {
    if (isClosed) return;
    const links = new Set(failed);
    failed.clear();
    for (const [channel, shard] of lossChannels) if (links.has(shard.link)) void send(shard, [[channel, self]]);
  }

  function onLoss(from: string): void {
    if (from !== self) fireGap();
  }

  function onEnvelope(text: string, channel: string): void {
    if (text.startsWith(self)) return;
    const topic = channel.slice(topicAt);
    // It may be heard a little longer than there are listeners.
    if (!listeners.has(topic)) return;
    for (const message of messagesOf(text)) listeners.deliver(topic, message);
  }

  for (const [channel, shard] of lossChannels) void subscriptions.listen(shard, channel);
  await subscriptions.start(startMs);
  const announcing = setInterval(announcePublishFailures, 500);
  announcing.unref();

  return {
    publish(topic, message) {
      if (isClosed) return;
      if (queue.size === 0) setImmediate(flush);
      const queued = queue.get(topic);
      if (queued) queued.push(message);
      else queue.set(topic, [message]);
      listeners.deliver(topic, message);
    },
    async subscribe(topic, listener) {
      const remove = listeners.add(topic, listener);
      const shard = redis.shardOf(topic);
      await subscriptions.listen(shard, channelOf(shard, topic));
      return () => {
        remove();
        interest.check(topic);
      };
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
      interest.close();
      subscriptions.close();
    },
  };
}
