import { createBatcher } from './batcher.ts';
import { type Clock, iso } from './clock.ts';
import type { Db, Tx } from './db.ts';
import { type EventRef, isStranded, lockStrandedEvents, markDispatched, type StoredEvent } from './event-store.ts';
import type { Log } from './log.ts';
import type { Part } from './part.ts';
import type { Chore } from './timers.ts';

interface DispatcherDeps {
  db: Db;
  clock: Clock;
  log: Log;
  /** Queues webhook deliveries, in the transaction that marks the events as dispatched. */
  enqueue: (tx: Tx, events: readonly EventRef[]) => Promise<AfterCommit | undefined>;
  /** Gets what a killed process recorded and perhaps never announced. */
  onStranded: (events: readonly StoredEvent[]) => void;
}

/** What to do once the transaction is through. */
export type AfterCommit = () => void;

/** The relay from recorded events to webhooks. */
interface Dispatcher extends Part {
  /** The sweep: by every process, since it needs no shared state. */
  readonly chores: readonly Chore[];
  /** Takes events right after their commit. Returns at once. */
  accept(events: readonly EventRef[]): void;
  /** Dispatches what killed processes left behind; resolves with how many. */
  sweep(): Promise<number>;
  /** Resolves when everything accepted so far was dispatched or left to the sweep. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

const batchMax = 500;
const waitingMax = 50_000;
const sweepEveryMs = 2_000;
/** Younger events are still in the hands of the process that recorded them. */
const strandedAfterMs = 5_000;

export function createDispatcher({ db, clock, log, enqueue, onStranded }: DispatcherDeps): Dispatcher {
  const batcher = createBatcher<EventRef, undefined>({ batchMax, waitingMax, write: dispatchBatch });

  async function dispatch(tx: Tx, events: readonly EventRef[]): Promise<AfterCommit | undefined> {
    const won = await markDispatched(
      tx,
      events.map((event) => event.id),
      iso(clock.now()),
    );
    const ours = events.filter((event) => won.has(event.id));
    return ours.length > 0 ? enqueue(tx, ours) : undefined;
  }

  async function dispatchBatch(events: readonly EventRef[]): Promise<undefined> {
    try {
      const afterCommit = await db.transaction((tx) => dispatch(tx, events));
      afterCommit?.();
    } catch (error) {
      log.warn({ error, events: events.length }, 'events were not queued for webhooks; the sweep will');
    }
  }

  const strandedBefore = (): string => iso(clock.now() - strandedAfterMs);

  async function sweep(): Promise<number> {
    const before = strandedBefore();
    const { stranded, afterCommit } = await db.transaction(async (tx) => {
      const events = await lockStrandedEvents(tx, before, batchMax);
      return { stranded: events, afterCommit: events.length > 0 ? await dispatch(tx, events) : undefined };
    });
    if (stranded.length > 0) announce(stranded);
    afterCommit?.();
    return stranded.length;
  }

  function announce(stranded: readonly StoredEvent[]): void {
    try {
      onStranded(stranded);
    } catch (error) {
      log.warn({ error, events: stranded.length }, 'stranded events were not announced');
    }
  }

  return {
    accept(events) {
      // Refused only when too many wait: those stay in the store as not dispatched, for the sweep of any process.
      for (const event of events) batcher.add(event).catch(() => undefined);
    },
    sweep,
    settled: () => batcher.flush(),
    chores: [
      {
        name: 'stranded-events',
        everyMs: sweepEveryMs,
        run: sweep,
        onEveryProcess: true,
        isDue: () => isStranded(strandedBefore()),
      },
    ],
    stop: () => batcher.flush(),
  };
}
