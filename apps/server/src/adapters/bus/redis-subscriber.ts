import { type Clock, systemClock } from '../../core/clock.ts';
import type { BusConnection } from '../redis-stores.ts';

interface SubscriberDeps {
  openConnection: () => BusConnection;
  /** Channels of this process alone: what it sends there must come back. They take turns. */
  beatChannels: readonly string[];
  sendBeat: (channel: string) => Promise<unknown>;
  onMessage: (text: string, channel: string) => void;
  /** The connection was lost, or dead without a sign, and messages flow again. */
  onGap: () => void;
  clock?: Pick<Clock, 'elapsed' | 'sleep'>;
}

const preciseClock = { ...systemClock, elapsed: () => performance.now() };

// After so many missed beats in a row the connection counts as dead. With the time to reconnect that is below 5 s.
const missesMax = 3;
const beatMs = 800;
const beatsMax = 6;
/** Many channels move together. */
const beatAllMs = 200;
/** Of one SUBSCRIBE: Redis does nothing else meanwhile. */
const channelsMax = 1_000;
/** From one to the next. */
const gatherMs = 10;

/**
 * A connection that hears the channels it was asked for. What is asked for in one turn of the loop is one command, and
 * so is what is asked for within `gatherMs` of the one before. It sends itself heartbeats, and is replaced when it does
 * not hear them.
 */
export function createSubscriber(deps: SubscriberDeps) {
  const { openConnection, beatChannels, sendBeat, onMessage, onGap, clock = preciseClock } = deps;
  /** What this process wants to hear, and when messages arrive. */
  const wanted = new Map<string, Promise<void>>();
  /** Those of them that Redis has not confirmed, and of which it was not asked to just now. */
  const unconfirmed = new Set<string>();
  /** Those of which it is asked now. To leave one of them would cross with that, and the library lose track of it. */
  const asked = new Set<string>();
  /** Left while there was no connection: the library would subscribe them again. */
  const abandoned = new Set<string>();
  let joining: { channels: string[]; done: Promise<void> } | null = null;
  let beatsSent = 0;
  let beatsHeard = 0;
  let misses = 0;
  let isLost = false;
  /** There was a connection, and there is none. */
  let isDown = false;
  let joinedAt = Number.NEGATIVE_INFINITY;
  let beatingAll: NodeJS.Timeout | undefined;
  let connection = open();

  function open(): BusConnection {
    const opened = openConnection();
    opened.onLoss(() => {
      if (opened !== connection) return;
      isLost = true;
      isDown = !opened.isReady;
      // Connected all the same: channels have moved, and a beat to each shard makes the library see where.
      if (opened.isReady && beatChannels.length > 1) beatingAll ??= setTimeout(beatAll, beatAllMs).unref();
    });
    opened.onReady(() => {
      if (opened === connection) isDown = false;
      void renew(opened, wanted.keys());
    });
    opened.connect();
    return opened;
  }

  // Channels the library has subscribed again by itself cost nothing here; those added meanwhile are new to it.
  async function renew(opened: BusConnection, channels: Iterable<string>): Promise<void> {
    try {
      await subscribe(opened, [...channels]);
      await opened.subscribe(beatChannels, onBeat);
      const left = [...abandoned].filter((channel) => !wanted.has(channel));
      abandoned.clear();
      leaveNow(left);
      beat();
    } catch {
      isLost = true; // lost again: the next 'ready' comes here too
    }
  }

  /** Rejects when the connection is lost meanwhile, or Redis refuses. */
  async function subscribe(opened: BusConnection, channels: readonly string[]): Promise<void> {
    for (let at = 0; at < channels.length; at += channelsMax) {
      // Many take a while: some may have been left meanwhile.
      const some = channels.slice(at, at + channelsMax).filter((channel) => wanted.has(channel));
      if (some.length === 0) continue;
      for (const channel of some) asked.add(channel);
      try {
        await opened.subscribe(some, onMessage);
      } finally {
        for (const channel of some) asked.delete(channel);
        leaveNow(some.filter((channel) => !wanted.has(channel)));
      }
      for (const channel of some) unconfirmed.delete(channel);
    }
  }

  /** With all others of this turn, and in a crowd with those of the next ones. */
  function join(channel: string): Promise<void> {
    if (joining) {
      joining.channels.push(channel);
      return joining.done;
    }
    const channels = [channel];
    const done = gathered().then(() => {
      joining = null;
      const joined = joinNow(channels);
      joinedAt = clock.elapsed();
      return joined;
    });
    joining = { channels, done };
    return done;
  }

  /** Timers may be early: they count whole milliseconds, from when the loop last looked at the time. */
  async function gathered(): Promise<void> {
    const endsAt = joinedAt + gatherMs;
    if (clock.elapsed() >= endsAt) await new Promise((resolve) => setImmediate(resolve));
    for (let now = clock.elapsed(); now < endsAt; now = clock.elapsed()) await clock.sleep(Math.ceil(endsAt - now));
  }

  async function joinNow(channels: readonly string[]): Promise<void> {
    // The library would keep it until its next attempt to connect.
    if (isDown) return postpone(channels);
    try {
      await subscribe(connection, channels);
    } catch {
      postpone(channels);
    }
  }

  /** Asked again when there is a connection, or with the next beat; a gap follows. */
  function postpone(channels: readonly string[]): void {
    for (const channel of channels) if (wanted.has(channel)) unconfirmed.add(channel);
    isLost = true;
  }

  function leaveNow(channels: readonly string[]): void {
    if (channels.length === 0) return;
    connection.unsubscribe(channels, onMessage).catch(() => {
      for (const channel of channels) abandoned.add(channel);
    });
  }

  function onBeat(): void {
    beatsHeard += 1;
    misses = 0;
    if (!isLost || unconfirmed.size > 0) return;
    isLost = false;
    onGap();
  }

  function beat(): void {
    const channel = beatChannels[beatsSent++ % beatChannels.length];
    if (channel !== undefined) sendBeat(channel).catch(() => {});
  }

  function beatAll(): void {
    beatingAll = undefined;
    for (const _ of beatChannels) beat();
  }

  const watch = setInterval(() => {
    if (unconfirmed.size > 0 && connection.isReady) void renew(connection, unconfirmed);
    // Each shard within five seconds: one that has moved is noticed by that, also where Redis refuses to be heard there.
    for (let at = 0; at < beatChannels.length; at += beatsMax) beat();
    misses += 1;
    if (misses <= missesMax) return;
    isLost = true;
    // Connected, and receives nothing: only a new connection helps. Otherwise the library is reconnecting already.
    if (!connection.isReady) return;
    misses = 0;
    isDown = true;
    connection.destroy();
    connection = open();
  }, beatMs);
  watch.unref();

  return {
    /** Resolves once messages arrive; at once while there is no connection, for then `onGap` follows. */
    listen(channel: string): Promise<void> {
      const known = wanted.get(channel);
      if (known) return known;
      const ready = join(channel);
      wanted.set(channel, ready);
      return ready;
    },
    /** All in one command. */
    leave(channels: readonly string[]): void {
      for (const channel of channels) {
        wanted.delete(channel);
        unconfirmed.delete(channel);
      }
      leaveNow(channels.filter((channel) => !asked.has(channel)));
    },
    /** Resolves when its own heartbeat arrives; after `withinMs` it counts as lost, and `onGap` follows. */
    async firstBeat(withinMs: number): Promise<void> {
      const end = performance.now() + withinMs;
      while (beatsHeard === 0 && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 5));
      if (beatsHeard === 0) isLost = true;
    },
    /** For one that takes the place of another: messages between the two are gone. */
    expectGap(): void {
      isLost = true;
    },
    close(): void {
      clearInterval(watch);
      clearTimeout(beatingAll);
      connection.destroy();
    },
  };
}
