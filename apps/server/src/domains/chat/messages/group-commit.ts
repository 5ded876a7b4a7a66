import { createBatcher } from '../../../core/batcher.ts';
import type { Clock } from '../../../core/clock.ts';
import { DatabaseUnavailable } from '../../../core/db.ts';

/** Single writes to conversations, stored in batches: one commit serves all requests that arrived before it. */
interface GroupCommit<Item, Outcome> {
  /** Resolves after the commit of the batch the item was in. */
  add(item: Item): Promise<Outcome>;
  /** As many wait, or did a moment ago, as are worth a batch of their own: the database is what all of them wait for. */
  isCrowded(): boolean;
}

interface GroupCommitOptions<Item, Outcome> {
  clock: Clock;
  /** Stores all items or none, and says what became of each. */
  store: (items: readonly Item[]) => Promise<Outcome[]>;
  /** Publishes what has been stored, before those who asked get their answers. */
  publish: (items: readonly Item[], outcomes: readonly Outcome[]) => void;
  /** Items that share a key must not be in one batch: they could not see each other. */
  keysOf: (item: Item) => readonly string[];
  /** Those of the item's keys that every later item finds taken: later ones may be in one batch. */
  takenKeys: (item: Item, outcome: Outcome) => readonly string[];
  /** What a batch locks for this item: no batch runs beside another that holds the same, it would only wait. */
  lockOf: (item: Item) => string;
}

const batchMax = 200;
/** At most so many at once, and more than two only when all that run take long. */
const runningMax = 3;
/** A batch has its own price: a second one runs beside the first when so many wait. */
const besideMin = 12;
/** Longer than most batches take: between two of them nobody waits for a moment. */
const crowdedMs = 100;
/** A batch that takes longer is waiting for a lock: the next need not wait with it. */
const lateMs = 20;
/** More than this and the database is not keeping up: a refusal is better than a long wait. */
const waitingMax = 5_000;

interface Entry<Item> {
  item: Item;
  keys: readonly string[];
  /** Keys that no waiting item can take. */
  taken: Set<string>;
}

export function createGroupCommit<Item, Outcome>(
  options: GroupCommitOptions<Item, Outcome>,
): GroupCommit<Item, Outcome> {
  const { clock, store, publish, keysOf, takenKeys, lockOf } = options;
  const locked = new Set<string>();
  const waiting = new Set<Entry<Item>>();
  /** Batches under way that are not late, with when each began. */
  const timely = new Map<readonly Entry<Item>[], number>();
  let late = 0;
  let isWatching = false;
  let crowdedAt = Number.NEGATIVE_INFINITY;

  const batcher = createBatcher<Entry<Item>, PromiseSettledResult<Outcome>>({
    batchMax,
    waitingMax,
    admission,
    write,
    mayStart(batches) {
      if (batches.running === late) return late < runningMax;
      return late === 0 && batches.running === 1 && batches.waiting >= besideMin;
    },
    onWritten(entries, results) {
      const stored = entries.flatMap(({ item }, at) => {
        const result = results[at];
        return result?.status === 'fulfilled' ? [{ item, outcome: result.value }] : [];
      });
      publish(
        stored.map(({ item }) => item),
        stored.map(({ outcome }) => outcome),
      );
    },
  });

  function admission(): (entry: Entry<Item>) => boolean {
    if (waiting.size >= besideMin) crowdedAt = clock.elapsed();
    const keys = new Set<string>();
    return (entry) => {
      if (locked.has(lockOf(entry.item))) return false;
      if (entry.keys.some((key) => keys.has(key) && !entry.taken.has(key))) return false;
      for (const key of entry.keys) keys.add(key);
      waiting.delete(entry);
      return true;
    };
  }

  async function write(entries: readonly Entry<Item>[]): Promise<PromiseSettledResult<Outcome>[]> {
    const items = entries.map(({ item }) => item);
    const locks = new Set(items.map(lockOf));
    for (const lock of locks) locked.add(lock);
    timely.set(entries, clock.elapsed());
    if (!isWatching) void watch();
    try {
      const outcomes = await store(items);
      noteTaken(items, outcomes);
      return outcomes.map((value) => ({ status: 'fulfilled', value }));
    } catch (error) {
      if (items.length === 1 || error instanceof DatabaseUnavailable) throw error;
      return await storeOneByOne(items);
    } finally {
      if (!timely.delete(entries)) late--;
      for (const lock of locks) locked.delete(lock);
    }
  }

  /** One item that cannot be stored must not take the others with it. */
  async function storeOneByOne(items: readonly Item[]): Promise<PromiseSettledResult<Outcome>[]> {
    const results: PromiseSettledResult<Outcome>[] = [];
    for (const item of items) {
      const [result] = await Promise.allSettled([store([item])]);
      // `store` gives one outcome for one item.
      results.push(result.status === 'rejected' ? result : { status: 'fulfilled', value: result.value[0] as Outcome });
    }
    return results;
  }

  /** One timer for all batches, on to the next that is due: most of them end long before they would be late. */
  async function watch(): Promise<void> {
    isWatching = true;
    while (timely.size > 0) {
      const [began = 0] = timely.values();
      await clock.sleep(began + lateMs - clock.elapsed());
      noteLate();
    }
    isWatching = false;
  }

  function noteLate(): void {
    const before = late;
    for (const [entries, began] of timely) {
      if (clock.elapsed() - began < lateMs) break;
      timely.delete(entries);
      late++;
    }
    if (late > before) batcher.recheck();
  }

  function noteTaken(items: readonly Item[], outcomes: readonly Outcome[]): void {
    if (waiting.size === 0) return;
    const taken = new Set(items.flatMap((item, at) => takenKeys(item, outcomes[at] as Outcome)));
    if (taken.size === 0) return;
    for (const entry of waiting) for (const key of entry.keys) if (taken.has(key)) entry.taken.add(key);
  }

  return {
    isCrowded: () => waiting.size >= besideMin || clock.elapsed() - crowdedAt < crowdedMs,
    async add(item) {
      const entry: Entry<Item> = { item, keys: keysOf(item), taken: new Set() };
      waiting.add(entry);
      const result = await batcher.add(entry).catch((error) => {
        waiting.delete(entry);
        throw error;
      });
      if (result.status === 'rejected') throw result.reason;
      return result.value;
    },
  };
}
