import { type Clock, iso } from './clock.ts';
import type { Db, Tx } from './db.ts';
import { lockStrandedEvents, markDispatched, type StoredEvent } from './event-store.ts';
import type { Log } from './log.ts';

export interface DispatcherDeps {
  db: Db;
  clock: Clock;
  log: Log;
  /** Tells the sockets. Best effort: a client that misses a frame catches up from the store. */
  fanOut: (events: readonly StoredEvent[]) => void;
  /** Queues webhook deliveries, in the transaction that marks the events as handed on. */
  enqueue: (tx: Tx, events: readonly StoredEvent[]) => Promise<AfterCommit | undefined>;
}

/** What to do once the transaction is through. */
export type AfterCommit = () => void;

export interface Dispatcher {
  /** Takes events right after their commit. Returns at once. */
  accept(events: readonly StoredEvent[]): void;
  /** Hands on what killed processes left behind; resolves with how many. */
  sweep(): Promise<number>;
  /** Resolves when everything accepted so far was handed on (or left to the sweep). */
  settled(): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

const batchMax = 500;
const sweepEveryMs = 2_000;
/** Younger events are still in the hands of the process that recorded them. */
const strandedAfterMs = 5_000;

export function createDispatcher({ db, clock, log, fanOut, enqueue }: DispatcherDeps): Dispatcher {
  const queue: StoredEvent[] = [];
  let draining: Promise<void> | null = null;
  let sweeping: Promise<void> = Promise.resolve();
  const stopping = new AbortController();

  function tellSockets(events: readonly StoredEvent[]): void {
    try {
      fanOut(events);
    } catch (error) {
      log.warn({ error, events: events.length }, 'fan-out failed');
    }
  }

  async function handOn(tx: Tx, events: readonly StoredEvent[]): Promise<AfterCommit | undefined> {
    const won = await markDispatched(
      tx,
      events.map((event) => event.id),
      iso(clock.now()),
    );
    const ours = events.filter((event) => won.has(event.id));
    return ours.length > 0 ? enqueue(tx, ours) : undefined;
  }

  async function drain(): Promise<void> {
    while (queue.length > 0) {
      const batch = queue.splice(0, batchMax);
      try {
        const afterCommit = await db.transaction((tx) => handOn(tx, batch));
        afterCommit?.();
      } catch (error) {
        // They stay in the store as not dispatched: the sweep of any process finds them.
        log.warn({ error, events: batch.length }, 'events were not queued for webhooks; the sweep will');
      }
    }
    draining = null;
  }

  async function sweep(): Promise<number> {
    const before = iso(clock.now() - strandedAfterMs);
    const { stranded, afterCommit } = await db.transaction(async (tx) => {
      const events = await lockStrandedEvents(tx, before, batchMax);
      return { stranded: events, afterCommit: events.length > 0 ? await handOn(tx, events) : undefined };
    });
    if (stranded.length > 0) tellSockets(stranded);
    afterCommit?.();
    return stranded.length;
  }

  async function sweepForEver(): Promise<void> {
    while (!stopping.signal.aborted) {
      await clock.sleep(sweepEveryMs, stopping.signal);
      if (stopping.signal.aborted) return;
      await sweep().catch((error) => log.warn({ error }, 'event sweep failed'));
    }
  }

  return {
    accept(events) {
      if (events.length === 0) return;
      // Sockets first, before any webhook row is written.
      tellSockets(events);
      for (const event of events) if (!event.isHandedOn) queue.push(event);
      if (queue.length > 0) draining ??= drain();
    },
    sweep,
    async settled() {
      while (draining) await draining;
    },
    start() {
      sweeping = sweepForEver();
    },
    async stop() {
      stopping.abort();
      await sweeping;
      while (draining) await draining;
    },
  };
}
