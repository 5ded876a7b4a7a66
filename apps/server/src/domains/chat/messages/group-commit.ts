import { setImmediate as nextTurn } from 'node:timers/promises';
import { fail } from '@parley/contract';
import type { Clock } from '../../../core/clock.ts';
import { DatabaseUnavailable } from '../../../core/db.ts';

/** Gathers single writes into batches: one commit serves everybody who asked in the meantime. */
export interface GroupCommit<Item, Outcome> {
  /** Resolves after the commit of the batch the item was in. */
  add(item: Item): Promise<Outcome>;
}

export interface GroupCommitOptions<Item, Outcome> {
  clock: Clock;
  /**
   * Stores all items or none, and says what became of each. A batch in line runs when the one before it has ended (only
   * what has to run again may come after the next); any other runs beside what is under way.
   */
  store: (items: readonly Item[], options: { isInLine: boolean }) => Promise<Outcome[]>;
  /** Tells the others what has been stored, before those who asked hear of it. */
  tell: (items: readonly Item[], outcomes: readonly Outcome[]) => void;
  /** Items that share a key must not be in one batch: they could not see each other. */
  keysOf: (item: Item) => readonly string[];
  /** True when `store` keeps the order of batches in line; without a line batches only run beside each other. */
  hasLine: boolean;
  /** Those of the item's keys that everybody who comes later with one will find taken: they may come together. */
  foundKeys: (item: Item, outcome: Outcome) => readonly string[];
  /** What a batch locks for this item: no batch runs beside another that holds the same, it would only wait. */
  lockOf: (item: Item) => string;
}

const batchMax = 200;
/** One in line or two; each of the others beside them, when all that are under way take long. */
const underWayMax = 3;
/** A batch has its own price: a second one gets in line behind the first when it is at least so large. */
const behindMin = 12;
/** A batch that takes longer, as behind a lock, holds up its line: the next runs beside it. */
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

interface UnderWay {
  locks: ReadonlySet<string>;
  isInLine: boolean;
}

export function createGroupCommit<Item, Outcome>(
  options: GroupCommitOptions<Item, Outcome>,
): GroupCommit<Item, Outcome> {
  const { clock, store, tell, keysOf, foundKeys, lockOf, hasLine } = options;
  const underWay = new Set<UnderWay>();
  let waiting: Waiting<Item, Outcome>[] = [];
  let late = 0;
  let isScheduled = false;

  function isFull(): boolean {
    if (underWay.size === late) return late === underWayMax;
    return late > 0 || underWay.size > 1 || waiting.length < behindMin;
  }

  function schedule(): void {
    if (isScheduled || isFull() || waiting.length === 0) return;
    isScheduled = true;
    // At the end of the turn: requests that arrived together go together.
    setImmediate(() => {
      isScheduled = false;
      startNext();
    });
  }

  function nextBatch(isInLine: boolean): Waiting<Item, Outcome>[] {
    const beside = [...underWay].filter((batch) => !(isInLine && batch.isInLine));
    const isLocked = (lock: string): boolean => beside.some(({ locks }) => locks.has(lock));
    const batch: Waiting<Item, Outcome>[] = [];
    const left: Waiting<Item, Outcome>[] = [];
    const keys = new Set<string>();
    for (const entry of waiting) {
      const own = keysOf(entry.item);
      const isFree =
        !isLocked(lockOf(entry.item)) && !own.some((key) => keys.has(key) && entry.found?.has(key) !== true);
      if (batch.length < batchMax && isFree) {
        batch.push(entry);
        for (const key of own) keys.add(key);
      } else left.push(entry);
    }
    waiting = left;
    return batch;
  }

  async function run(batch: Waiting<Item, Outcome>[], isInLine: boolean): Promise<void> {
    const items = batch.map(({ item }) => item);
    const self = { locks: new Set(items.map(lockOf)), isInLine };
    underWay.add(self);
    const ended = new AbortController();
    const watched = watch(ended.signal);
    const outcomes = await store(items, { isInLine }).catch((error) => salvage(batch, error));
    ended.abort(null);
    if (await watched) late--;
    underWay.delete(self);
    if (outcomes) noteFound(batch, outcomes);
    startNext();
    if (outcomes) await settle(batch, outcomes);
  }

  /** Without waiting for the end of the turn: the database has nothing to do while answers are written. */
  function startNext(): void {
    const isInLine = hasLine && late === 0;
    const batch = isFull() ? [] : nextBatch(isInLine);
    if (batch.length === 0) return;
    void run(batch, isInLine);
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
    const found = batch.flatMap(({ item }, at) => foundKeys(item, outcomes[at] as Outcome));
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
      await store([entry.item], { isInLine: false }).then((outcomes) => settle([entry], outcomes), entry.reject);
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
