import { type Clock, iso } from '../clock.ts';
import type { Due } from '../due-store.ts';
import type { Log } from '../log.ts';
import type { Bus, Unsubscribe } from '../ports.ts';
import type { Sql } from '../sql.ts';
import type { Chore } from '../timers.ts';
import { createClaims } from './claims.ts';
import { createDuePoll } from './due-poll.ts';
import { type Ask, createLanes } from './lanes.ts';

/** How the work on an item went, for the share of places that its lane gets. */
export interface Worked {
  isDelivered: boolean;
  durationMs: number;
}

interface QueueDeps<Item> {
  clock: Clock;
  log: Log;
  bus: Bus;
  /** Of this queue among those on the bus. */
  name: string;
  placesMax: number;
  windowMax: number;
  /** How often the queue is looked at for what nobody announced; a second unless given. */
  pollEveryMs?: number;
  /** True while `listLanes` may find any. */
  isWaiting(): Sql;
  /** Lanes with something that is or will be due, each with the time of its first. */
  listLanes(now: string): Promise<{ laneId: string; dueAt: string }[]>;
  claim(asks: readonly Ask[]): Promise<Item[]>;
  laneOf(item: Item): string;
  /** Does the work of a claimed item and records its outcome. */
  work(item: Item): Promise<Worked>;
}

/** Works off a queue in the database. Any number of processes may run one on the same queue. */
export interface QueueWorker {
  /** Something may be due in these lanes. */
  wake(laneIds: readonly string[]): void;
  /** Something becomes due then. */
  schedule(atMs: number): void;
  inFlight(): number;
  /** At the last poll: how long the item that has waited longest had been due. */
  overdueMs(): number;
  /** The look at the queue for what nobody announced. */
  readonly chore: Chore;
  start(): Promise<void>;
  /** Resolves when what is in flight has been recorded. */
  stop(): Promise<void>;
  /** Resolves when nothing is due and nothing in flight. */
  settled(): Promise<void>;
}

interface DueMessage {
  laneIds: string[];
}

const announceEveryMs = 100;
const pollEveryMsDefault = 1_000;

export function createQueueWorker<Item>(deps: QueueDeps<Item>): QueueWorker {
  const { clock, log, bus, name, listLanes, laneOf, pollEveryMs = pollEveryMsDefault } = deps;
  const topic = `${name}/due`;
  const lanes = createLanes(deps);
  const claims = createClaims({ ...deps, lanes, work, onDrained: announceBacklog });
  const duePoll = createDuePoll({ clock, poll });
  let unsubscribe: Unsubscribe = () => {};
  let announceAt = 0;
  let overdueMs = 0;

  async function work(item: Item): Promise<void> {
    let worked: Worked = { isDelivered: false, durationMs: 0 };
    try {
      worked = await deps.work(item);
    } finally {
      lanes.finished(laneOf(item), worked);
    }
  }

  /** More is due than this process can take: others need not wait for their next poll. */
  function announceBacklog(): void {
    const laneIds = lanes.waiting();
    if (laneIds.length === 0 || clock.elapsed() < announceAt) return;
    announceAt = clock.elapsed() + announceEveryMs;
    bus.publish(topic, { laneIds } satisfies DueMessage);
  }

  function wake(laneIds: readonly string[]): void {
    for (const laneId of laneIds) lanes.ready(laneId);
    claims.pump();
  }

  /** Finds what was not announced: retries, resumed lanes, what other processes left. */
  async function findDue(): Promise<void> {
    const now = clock.now();
    const due = (await listLanes(iso(now))).map(({ laneId, dueAt }) => ({ laneId, dueMs: Date.parse(dueAt) }));
    const next = Math.min(...due.filter(({ dueMs }) => dueMs > now).map(({ dueMs }) => dueMs));
    overdueMs = Math.max(0, ...due.map(({ dueMs }) => now - dueMs));
    wake(due.filter(({ dueMs }) => dueMs <= now).map(({ laneId }) => laneId));
    duePoll.schedule(next);
  }

  function poll(): Promise<void> {
    return findDue().catch((error) => log.warn({ error, queue: name }, 'queue not read; trying again'));
  }

  /** Once more after the last one, which then says that nothing is overdue. */
  const isDue = (): Due => overdueMs > 0 || deps.isWaiting();

  return {
    chore: { name: `${name}-queue`, everyMs: pollEveryMs, run: poll, onEveryProcess: true, isDue },
    wake,
    schedule: duePoll.schedule,
    inFlight: lanes.inFlight,
    overdueMs: () => overdueMs,
    async start() {
      // Only our own processes publish here.
      unsubscribe = await bus.subscribe(topic, (message) => wake((message as DueMessage).laneIds));
      duePoll.start();
    },
    async settled() {
      await findDue();
      await claims.settled();
    },
    async stop() {
      claims.stop();
      unsubscribe();
      await duePoll.stop();
      await claims.settled();
    },
  };
}
