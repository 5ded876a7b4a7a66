import type { Redis, RedisClient } from '../redis.ts';

export interface SubscriberDeps {
  redis: Redis;
  /** A channel of this process alone: what it sends there must come back. */
  beatChannel: string;
  /** The connection was lost, or dead without a sign, and messages flow again. */
  onGap: () => void;
}

// After so many missed beats in a row the connection counts as dead. With the time to reconnect that is below 5 s.
const missesMax = 3;
const beatMs = 800;

/** A subscriber connection that sends itself heartbeats, and is replaced when it does not hear them. */
export function createSubscriber({ redis, beatChannel, onGap }: SubscriberDeps) {
  const channels = new Map<string, { listener: (text: string) => void; ready: Promise<void> }>();
  let beatsHeard = 0;
  let misses = 0;
  let isLost = false;
  let client = open();

  function open(): RedisClient {
    const opened = redis.duplicate();
    const lose = () => {
      if (opened === client) isLost = true;
    };
    opened.on('error', lose).on('reconnecting', lose);
    opened.on('ready', () => subscribeAll(opened));
    opened.connect().catch(() => {}); // rejects only when closed before it was ever connected
    return opened;
  }

  // Channels the library has subscribed again by itself cost nothing here; those added meanwhile are new to it.
  async function subscribeAll(opened: RedisClient): Promise<void> {
    try {
      for (const [channel, { listener }] of channels) await opened.subscribe(channel, listener);
      await opened.subscribe(beatChannel, onBeat);
      beat();
    } catch {
      isLost = true; // lost again: the next 'ready' comes here too
    }
  }

  function onBeat(): void {
    beatsHeard += 1;
    misses = 0;
    if (!isLost) return;
    isLost = false;
    onGap();
  }

  function beat(): void {
    redis.command((commands) => commands.publish(beatChannel, '')).catch(() => {});
  }

  const watch = setInterval(() => {
    beat();
    misses += 1;
    if (misses <= missesMax) return;
    isLost = true;
    // Connected and yet deaf: only a new connection helps. Otherwise the library is reconnecting already.
    if (!client.isReady) return;
    misses = 0;
    client.destroy();
    client = open();
  }, beatMs);
  watch.unref();

  return {
    /** Resolves once messages arrive; at once while there is no connection, for then `onGap` follows. */
    async listen(channel: string, listener: (text: string) => void): Promise<void> {
      const known = channels.get(channel);
      if (known) return await known.ready;
      const ready = client.isReady ? client.subscribe(channel, listener).catch(() => {}) : Promise.resolve();
      channels.set(channel, { listener, ready });
      await ready;
    },
    /** Resolves when its own heartbeat arrives; after `withinMs` it counts as lost, and `onGap` follows. */
    async firstBeat(withinMs: number): Promise<void> {
      const end = performance.now() + withinMs;
      while (beatsHeard === 0 && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 5));
      if (beatsHeard === 0) isLost = true;
    },
    async close(): Promise<void> {
      clearInterval(watch);
      if (client.isOpen) client.destroy();
    },
  };
}
