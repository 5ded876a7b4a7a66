import type { Clock } from '../../../core/clock.ts';
import type { Db } from '../../../core/db.ts';
import type { Bus, Unsubscribe } from '../../../core/ports.ts';
import { type ChangeEntry, topicOf } from './change.ts';
import { type Channel, createChannel, recentMs } from './channel.ts';
import { findChannel } from './channel-store.ts';

/** What travels between processes. */
export type Envelope =
  | { entry: ChangeEntry }
  /** Changes up to this one are in the store, and perhaps were not announced. */
  | { upTo: number }
  | { isRecount: true }
  | { read: { userId: string; seq: number }; frame: string }
  | { frame: string; except?: string };

interface ChannelsDeps {
  db: Db;
  bus: Bus;
  clock: Clock;
  onMessage: (channel: Channel, message: Envelope) => void;
}

interface Open {
  channel: Channel;
  unsubscribe: Unsubscribe;
  /** When the last listener left. */
  idleSince: number;
}

/** The conversations open in this process: opened at the first need, evicted when they had no subscriber for a while. */
export type Channels = ReturnType<typeof createChannels>;

/** Quiet conversations kept for those who come back. */
const idleMax = 5_000;

export function createChannels({ db, bus, clock, onMessage }: ChannelsDeps) {
  const open = new Map<string, Open>();
  const opening = new Map<string, Promise<Channel | null>>();

  async function load(uuid: string): Promise<Channel | null> {
    const row = await findChannel(db, uuid);
    if (!row) return null;
    // Subscribe first, read then: what happens in between arrives twice rather than never.
    const early: Envelope[] = [];
    let receive = (message: Envelope): void => void early.push(message);
    // Only our own processes publish here.
    const unsubscribe = await bus.subscribe(topicOf(row.conversationId), (message) => receive(message as Envelope));
    const current = await findChannel(db, uuid);
    if (!current) {
      unsubscribe();
      return null;
    }
    const channel = createChannel(current);
    open.set(uuid, { channel, unsubscribe, idleSince: clock.now() });
    receive = (message) => onMessage(channel, message);
    for (const message of early) receive(message);
    return channel;
  }

  function evict({ channel, unsubscribe }: Open): void {
    open.delete(channel.uuid);
    unsubscribe();
  }

  return {
    /** Up to date from now on; null when there is no such conversation. */
    async get(uuid: string): Promise<Channel | null> {
      const known = open.get(uuid);
      if (known) return known.channel.status === 'DELETED' ? null : known.channel;
      const running = opening.get(uuid);
      if (running) return running;
      const started = load(uuid).finally(() => opening.delete(uuid));
      opening.set(uuid, started);
      return started;
    },
    /** False once it was evicted: it gets no changes and must be opened again. */
    isOpen: (channel: Channel): boolean => open.get(channel.uuid)?.channel === channel,
    find: (uuid: string): Channel | undefined => open.get(uuid)?.channel,
    all: (): Channel[] => [...open.values()].map(({ channel }) => channel),
    evictIdle(): void {
      const now = clock.now();
      const idle: Open[] = [];
      for (const entry of open.values()) {
        entry.channel.forget(now);
        if (entry.channel.listeners.size > 0) entry.idleSince = now;
        else idle.push(entry);
      }
      idle.sort((left, right) => right.idleSince - left.idleSince);
      for (const [at, entry] of idle.entries()) {
        const isKept = at < idleMax && now - entry.idleSince < recentMs && entry.channel.status !== 'DELETED';
        if (!isKept) evict(entry);
      }
    },
    evictAll(): void {
      for (const entry of [...open.values()]) evict(entry);
    },
  };
}
