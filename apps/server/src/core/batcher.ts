import { setImmediate as nextTurn } from 'node:timers/promises';

/** The one overflow rule: what waits is bounded, and an item beyond the bound is refused, never held. */
export class BatcherFull extends Error {
  override name = 'BatcherFull';
}

export interface BatcherOptions<Item, Result> {
  /** Writes a batch and gives the result of each item, in their order, if they have any. All get what it throws. */
  write: (items: readonly Item[]) => Promise<readonly Result[] | undefined>;
  batchMax: number;
  /** Items that may wait for a batch; one more is refused with `BatcherFull`. */
  waitingMax: number;
  /** How long the first item waits for company; to the end of the event-loop turn unless given. */
  gatherMs?: number;
  /** Whether another batch may start now; unless given, batches run one after the other. */
  mayStart?: (batches: { running: number; waiting: number }) => boolean;
  /** Called for each batch: gives what decides, item by item, who may be in it. The others wait for a later one. */
  admission?: () => (item: Item) => boolean;
  /** Runs when a batch is written and the next is on its way, before the batch's own callers get their results. */
  onWritten?: (items: readonly Item[], results: readonly Result[]) => void;
}

/** Gathers items and writes them in batches: what arrives while one is written goes with the next. */
interface Batcher<Item, Result> {
  /** Resolves with the item's result once its batch is written. */
  add(item: Item): Promise<Result>;
  /** Call when `mayStart` or `admission` may answer otherwise than before, other than by the end of a batch. */
  recheck(): void;
  /** Writes what waits without gathering any longer; resolves when nothing waits or runs. */
  flush(): Promise<void>;
}

interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

export function createBatcher<Item, Result>(options: BatcherOptions<Item, Result>): Batcher<Item, Result> {
  const { write, batchMax, waitingMax, gatherMs, onWritten } = options;
  const { mayStart = ({ running }) => running === 0, admission = () => () => true } = options;
  const running = new Set<Promise<void>>();
  let waiting: Waiting<Item, Result>[] = [];
  let isScheduled = false;
  /** Batches that wait for the end of the turn to hand out their results. */
  let handingOut = 0;

  const isReady = (): boolean => waiting.length > 0 && mayStart({ running: running.size, waiting: waiting.length });

  function schedule(): void {
    if (isScheduled || !isReady()) return;
    isScheduled = true;
    const begin = (): void => {
      isScheduled = false;
      start();
    };
    if (gatherMs === undefined) setImmediate(begin);
    else setTimeout(begin, gatherMs).unref();
  }

  function start(): void {
    const batch = isReady() ? nextBatch() : [];
    if (batch.length === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    running.add(promise);
    void runBatch(batch, () => {
      running.delete(promise);
      resolve();
    });
    schedule();
  }

  /** Without waiting for the end of the turn: the writer has nothing to do while results are handed out. */
  function startNext(): void {
    if (gatherMs === undefined || waiting.length >= batchMax) start();
    else schedule();
  }

  function nextBatch(): Waiting<Item, Result>[] {
    const batch: Waiting<Item, Result>[] = [];
    const left: Waiting<Item, Result>[] = [];
    const isAdmitted = admission();
    for (const entry of waiting) {
      if (batch.length < batchMax && isAdmitted(entry.item)) batch.push(entry);
      else left.push(entry);
    }
    waiting = left;
    return batch;
  }

  async function runBatch(batch: readonly Waiting<Item, Result>[], ended: () => void): Promise<void> {
    const items = batch.map(({ item }) => item);
    try {
      const results = (await write(items)) ?? [];
      ended();
      startNext();
      // With nothing on its way there is nothing to write first; who ended earlier is answered earlier.
      if (running.size > 0 || waiting.length > 0 || handingOut > 0) {
        handingOut++;
        await nextTurn();
        handingOut--;
      }
      onWritten?.(items, results);
      // Index by index: `write` answers in the order of the items.
      for (const [at, { resolve }] of batch.entries()) resolve(results[at] as Result);
    } catch (error) {
      ended();
      for (const { reject } of batch) reject(error);
      startNext();
    }
  }

  return {
    add: (item) =>
      new Promise((resolve, reject) => {
        if (waiting.length >= waitingMax) throw new BatcherFull(`${waitingMax} items are waiting`);
        waiting.push({ item, resolve, reject });
        schedule();
      }),
    recheck: schedule,
    async flush() {
      start();
      while (running.size > 0 || waiting.length > 0) {
        if (running.size > 0) await Promise.race(running);
        else await nextTurn();
        start();
      }
    },
  };
}
