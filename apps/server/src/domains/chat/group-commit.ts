import { setImmediate as nextTurn } from 'node:timers/promises';
import { fail } from '@parley/contract';
import type { Clock } from '../../core/clock.ts';
import { DatabaseUnavailable } from '../../core/db.ts';

/** Gathers single writes into batches: one commit serves everybody who asked in the meantime. */
export interface GroupCommit<Item, Outcome> {
  /** Resolves after the commit of the batch the item was in. */
  add(item: Item): Promise<Outcome>;
}

export interface GroupCommitOptions<Item, Outcome> {
  clock: Clock;
  /** Stores all items or none, and says what became of each. */
  store: (items: readonly Item[]) => Promise<Outcome[]>;
  /** Tells the others what has been stored, before those who asked hear of it. */
  tell: (items: readonly Item[], outcomes: readonly Outcome[]) => void;
  /** Items that share a key must not be in one batch: they could not see each other. */
  keysOf: (item: Item) => readonly string[];
  /** True when everybody who comes later with one of the item's keys will find it stored: they may come together. */
  isFound: (outcome: Outcome) => boolean;
  /** What a batch locks for this item: no other batch of this process is under way for the same, it would only wait. */
  lockOf: (item: Item) => string;
}

const batchMax = 200;
const inFlightMax = 2;
/** A batch has its own price: a second one starts beside the first when it is at least so large … */
const secondMin = 32;
/** … or when the first takes long, as behind a lock. */
const lateMs = 20;
/** More than this and the database is not keeping up: better to say so than to let everybody wait. */
const waitingMax = 5_000;

interface Waiting<Item, Outcome> {
  item: Item;
  /** Keys that no other waiting item can store any more. */
  found: Set<string> | null;
  resolve: (outcome: Outcome) => void;
  reject: (error: unknown) => void;
}

export function createGroupCommit<Item, Outcome>(
  options: GroupCommitOptions<Item, Outcome>,
): GroupCommit<Item, Outcome> {
  const { clock, store, tell, keysOf, isFound, lockOf } = options;
  const locked = new Set<string>();
  let waiting: Waiting<Item, Outcome>[] = [];
  let inFlight = 0;
  let late = 0;
  let isScheduled = false;

  const isFull = (): boolean => inFlight >= inFlightMax || (inFlight > late && waiting.length < secondMin);

  function schedule(): void {
    if (isScheduled || isFull() || waiting.length === 0) return;
    isScheduled = true;
    // At the end of the turn: requests that arrived together go together.
    setImmediate(() => {
      isScheduled = false;
      startNext();
    });
  }

  function nextBatch(): Waiting<Item, Outcome>[] {
    const batch: Waiting<Item, Outcome>[] = [];
    const left: Waiting<Item, Outcome>[] = [];
    const keys = new Set<string>();
    for (const entry of waiting) {
      const own = keysOf(entry.item);
      const isFree =
        !locked.has(lockOf(entry.item)) && !own.some((key) => keys.has(key) && entry.found?.has(key) !== true);
      if (batch.length < batchMax && isFree) {
        batch.push(entry);
        for (const key of own) keys.add(key);
      } else left.push(entry);
    }
    waiting = left;
    return batch;
  }

  async function run(batch: Waiting<Item, Outcome>[]): Promise<void> {
    inFlight++;
    const items = batch.map(({ item }) => item);
    const locks = items.map(lockOf);
    for (const lock of locks) locked.add(lock);
    const ended = new AbortController();
    const watched = watch(ended.signal);
    const outcomes = await store(items).catch((error) => salvage(batch, error));
    ended.abort(null);
    if (await watched) late--;
    inFlight--;
    for (const lock of locks) locked.delete(lock);
    if (outcomes) noteFound(batch, outcomes);
    startNext();
    if (outcomes) await settle(batch, outcomes);
  }

  /** Without waiting for the end of the turn: the database has nothing to do while answers are written. */
  function startNext(): void {
    const batch = isFull() ? [] : nextBatch();
    if (batch.length === 0) return;
    void run(batch);
    schedule();
  }

  async function settle(batch: readonly Waiting<Item, Outcome>[], outcomes: readonly Outcome[]): Promise<void> {
    // Until the batch that has just been started is on its way; all that follows an answer would come before it.
    await nextTurn();
    tell(
      batch.map(({ item }) => item),
      outcomes,
    );
    // Index by index: `store` answers in the order of the items.
    for (const [at, { resolve }] of batch.entries()) resolve(outcomes[at] as Outcome);
  }

  /** Resolves when the batch has ended, with whether it was late. */
  async function watch(ended: AbortSignal): Promise<boolean> {
    await clock.sleep(lateMs, ended);
    if (ended.aborted) return false;
    late++;
    schedule();
    return true;
  }

  function noteFound(batch: readonly Waiting<Item, Outcome>[], outcomes: readonly Outcome[]): void {
    if (waiting.length === 0) return;
    const found = batch.flatMap(({ item }, at) => (isFound(outcomes[at] as Outcome) ? keysOf(item) : []));
    if (found.length === 0) return;
    const keys = new Set(found);
    for (const entry of waiting) {
      const own = keysOf(entry.item).filter((key) => keys.has(key));
      if (own.length > 0) entry.found = new Set([...(entry.found ?? []), ...own]);
    }
  }

  /** One item that cannot be stored must not take the others with it. */
  async function salvage(batch: readonly Waiting<Item, Outcome>[], error: unknown): Promise<null> {
    if (batch.length === 1 || error instanceof DatabaseUnavailable) {
      for (const { reject } of batch) reject(error);
      return null;
    }
    for (const entry of batch) {
      await store([entry.item]).then((outcomes) => settle([entry], outcomes), entry.reject);
    }
    return null;
  }

  return {
    add: (item) =>
      new Promise((resolve, reject) => {
        if (waiting.length >= waitingMax) fail('SVC_SERVICE_UNAVAILABLE', { retryAfterSeconds: 1 });
        waiting.push({ item, found: null, resolve, reject });
        schedule();
      }),
  };
}
