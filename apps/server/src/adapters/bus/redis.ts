import { randomUUID } from 'node:crypto';
import type { Bus } from '../../core/ports.ts';
import type { Redis } from '../redis.ts';
import { createInterest } from './interest.ts';
import { createListeners } from './listeners.ts';
import { createSubscriber } from './redis-subscriber.ts';

/** What goes over a topic's channel, everything one process published to it in one turn: the sender, then JSON, a line each. */
const envelopeOf = (from: string, messages: readonly unknown[]): string =>
  [from, ...messages.map((message) => JSON.stringify(message ?? null))].join('\n');

/** As one command: a turn may publish to hundreds of topics, and what a command costs us is not its bytes. */
const publishAll = `
for at = 2, #ARGV, 2 do redis.call('PUBLISH', ARGV[at], ARGV[at + 1]) end
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
  const topicPrefix = `${redis.prefix}bus/`;
  const channelOf = (topic: string): string => topicPrefix + topic;
  // No topic begins like these.
  const lostChannel = `${redis.prefix}bus:lost`;
  let queue = new Map<string, unknown[]>();
  let hasFailed = false;
  let isClosed = false;

  const subscriber = createSubscriber({
    redis,
    beatChannel: `${redis.prefix}bus:beat:${self}`,
    onMessage: (text, channel) => (channel === lostChannel ? onLoss(text) : onEnvelope(text, channel)),
    onGap: fireGap,
  });
  const interest = createInterest({
    graceMs,
    isWanted: listeners.has,
    leave: (topics) => subscriber.leave(topics.map(channelOf)),
  });

  function fireGap(): void {
    for (const listener of gapListeners) listener();
  }

  function flush(): void {
    const batch = queue;
    queue = new Map();
    if (isClosed) return;
    void send([...batch].map(([topic, messages]) => [channelOf(topic), envelopeOf(self, messages)]));
  }

  async function send(envelopes: readonly [channel: string, text: string][]): Promise<void> {
    const [[channel, text] = ['', ''], ...others] = envelopes;
    try {
      if (others.length > 0) await runPublishAll([], envelopes.flat());
      else await redis.command((client) => client.publish(channel, text));
    } catch {
      // Other processes missed this and cannot know: the gap is published once there is a connection.
      hasFailed = true;
    }
  }

  async function announcePublishFailure(): Promise<void> {
    if (!hasFailed || isClosed) return;
    hasFailed = false;
    await send([[lostChannel, self]]);
  }

  function onLoss(from: string): void {
    if (from !== self) fireGap();
  }

  function onEnvelope(text: string, channel: string): void {
    if (text.startsWith(self)) return;
    const topic = channel.slice(topicPrefix.length);
    // It may be heard a little longer than there are listeners.
    if (!listeners.has(topic)) return;
    const [, ...messages] = text.split('\n');
    for (const message of messages) listeners.deliver(topic, JSON.parse(message));
  }

  await subscriber.listen(lostChannel);
  await subscriber.firstBeat(startMs);
  const announcing = setInterval(announcePublishFailure, 500);
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
      await subscriber.listen(channelOf(topic));
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
      await subscriber.close();
    },
  };
}
