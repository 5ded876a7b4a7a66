import type { Clock } from '../../../core/clock.ts';
import type { Db } from '../../../core/db.ts';
import type { Bus, Unsubscribe } from '../../../core/ports.ts';
import { type ChangeEntry, topicOf } from './change.ts';
import { type Channel, createChannel, recentMs } from './channel.ts';
import { type ChannelRow, findChannel } from './channel-store.ts';

/** What the others are told of somebody when a conversation falls silent, or is so no longer. */
interface LastFrame {
  of: string;
  frame: string;
}

/** What travels between processes. */
export type Envelope =
  | { entry: ChangeEntry }
  /** Changes up to this one are in the store, and perhaps were not announced. */
  | { upTo: number }
  | { isRecount: true; isSilent?: boolean; lastFrames?: LastFrame[] }
  | { read: { userId: string; seq: number }; frame: string }
  /** `by` is whose doing it is. */
  | { frame: string; except?: string; by?: string };

interface ChannelsDeps {
  db: Db;
  bus: Bus;
  clock: Clock;
  onMessage: (channel: Channel, message: Envelope) => void;
}

interface Open {
  channel: Channel;
  /** Null while it is parked: nobody has listened for some seconds, and this process does not hear of it. */
  unsubscribe: Unsubscribe | null;
  /** When the last listener left. */
  idleSince: number;
}

/**
 * The conversations open in this process: opened at the first need, parked when they had no subscriber for some seconds,
 * evicted after minutes.
 */
export type Channels = ReturnType<typeof createChannels>;

/** Quiet conversations kept for those who come back. */
const idleMax = 5_000;
/** For those who come back at once, as after a change of networks, or a proxy that was started again. */
const parkAfterMs = 15_000;

/** Nothing happened since, so that all it knows still holds; read marks are no changes, members are read again. */
const isUnchanged = ({ epoch, head }: Channel, now: ChannelRow): boolean =>
  epoch === now.epoch && head === now.lastChange;

export function createChannels({ db, bus, clock, onMessage }: ChannelsDeps) {
  const open = new Map<string, Open>();
  const opening = new Map<string, Promise<Channel | null>>();

  async function load(uuid: string): Promise<Channel | null> {
    const parked = open.get(uuid)?.channel;
    const row = parked ?? (await findChannel(db, uuid));
    if (!row) return null;
    // Subscribe first, read then: what happens in between arrives twice rather than never.
    const early: Envelope[] = [];
    let receive = (message: Envelope): void => void early.push(message);
    // Only our own processes publish here.
    const unsubscribe = await bus.subscribe(topicOf(row.conversationId), (message) => receive(message as Envelope));
    const current = await findChannel(db, uuid);
    if (!current) {
      unsubscribe();
      open.delete(uuid);
      return null;
    }
    const channel = parked && isUnchanged(parked, current) ? parked : createChannel(current);
    channel.forgetMembers();
    channel.setSilent(current.isSilent);
    open.set(uuid, { channel, unsubscribe, idleSince: clock.now() });
    receive = (message) => onMessage(channel, message);
    for (const message of early) receive(message);
    return channel;
  }

  function park(entry: Open): void {
    entry.unsubscribe?.();
    entry.unsubscribe = null;
  }

  function evict(entry: Open): void {
    open.delete(entry.channel.uuid);
    park(entry);
  }

  /** Those that get changes. */
  const live = (): Open[] => [...open.values()].filter(({ unsubscribe }) => unsubscribe !== null);

  return {
    /** Up to date from now on; null when there is no such conversation. */
    async get(uuid: string): Promise<Channel | null> {
      const known = open.get(uuid);
      if (known?.unsubscribe) return known.channel.status === 'DELETED' ? null : known.channel;
      const running = opening.get(uuid);
      if (running) return running;
      const started = load(uuid).finally(() => opening.delete(uuid));
      opening.set(uuid, started);
      return started;
    },
    /** False once it was parked or evicted: it gets no changes and must be opened again. */
    isOpen(channel: Channel): boolean {
      const known = open.get(channel.uuid);
      return known?.channel === channel && known.unsubscribe !== null;
    },
    find: (uuid: string): Channel | undefined => open.get(uuid)?.channel,
    all: (): Channel[] => live().map(({ channel }) => channel),
    /** Hears no more of conversations that nobody here listens to. */
    parkIdle(): void {
      const now = clock.now();
      for (const entry of live()) {
        if (entry.channel.listeners.size > 0) entry.idleSince = now;
        else if (now - entry.idleSince >= parkAfterMs) park(entry);
      }
    },
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
