import { createBatcher } from '../../../core/batcher.ts';
import type { Changes } from '../../../core/changes.ts';
import { type Clock, iso } from '../../../core/clock.ts';
import type { Db, Tx } from '../../../core/db.ts';
import type { Log } from '../../../core/log.ts';
import type { UsageCounts } from '../../../core/usage-counts.ts';
import {
  addScores,
  insertSamples,
  type KnownConnection,
  listKnown,
  type SampledConnection,
  sampledUntil,
  updateScores,
  upsertCalls,
} from './call-store.ts';
import { type MeasuredBy, pack, readBatch, receivedBytesOf, type SampleBatch, spanMsOf } from './samples.ts';
import { type ScoreSums, scoreOf, sumsOf } from './scoring.ts';

interface SampleWriterDeps {
  db: Db;
  clock: Clock;
  log: Log;
  changes: Changes;
  usageCounts: UsageCounts;
}

interface Item extends SampledConnection {
  measuredBy: MeasuredBy;
  at: string;
  packed: string;
  spanMs: number;
  receivedBytes: number;
  sums: ScoreSums;
}

const batchMax = 200;
/** Samples are best effort: beyond this many waiting, new ones are dropped. */
const waitingMax = 5_000;
/** One batch may come early: the last one when somebody leaves, or after an outage. */
const aheadMsMax = 25_000;

/** Stores what clients measured, and what it is worth; and beside it what the media node counted. */
export function createSampleWriter({ db, clock, log, changes, usageCounts }: SampleWriterDeps) {
  const batcher = createBatcher<Item, boolean>({ batchMax, waitingMax, write });

  async function write(items: readonly Item[]): Promise<boolean[]> {
    try {
      const stored = await db.transaction((tx) => writeItems(tx, items));
      for (const item of items) {
        if (!stored.has(item)) continue;
        changes.note('connections', item);
        if (item.measuredBy === 'client') usageCounts.add('sentBytes', item, null, item.receivedBytes);
      }
      return items.map((item) => stored.has(item));
    } catch (error) {
      log.warn({ error, batches: items.length }, 'samples were not stored');
      return items.map(() => false);
    }
  }

  async function add(from: SampledConnection, batch: SampleBatch | null): Promise<boolean> {
    if (batch === null) return false;
    const item = {
      ...from,
      measuredBy: batch.measuredBy,
      at: iso(clock.now()),
      packed: pack(batch).toString('base64'),
      spanMs: spanMsOf(batch),
      receivedBytes: receivedBytesOf(batch),
      sums: sumsOf(batch),
    };
    return batcher.add(item).catch(() => false);
  }

  return {
    /** False when they make no sense, belong to another caller, come too often, or could not be stored. */
    take: (from: SampledConnection, data: Readonly<Record<string, unknown>>): Promise<boolean> =>
      add(from, readBatch(data)),
    /** What the media node of a participant counted; its caller sees to it that they do not come too often. */
    takeOfNode: (from: SampledConnection, data: Readonly<Record<string, unknown>>): Promise<boolean> =>
      add(from, readBatch(data, 'node')),
    settled: () => batcher.flush(),
  };
}

type KeyParts = Pick<SampledConnection, 'projectId' | 'environment' | 'connectionId' | 'roomId' | 'identity'>;

/** With room and identity: a connection is only its own participant's, no matter who else names it in the same write. */
const keyOf = ({ projectId, environment, connectionId, roomId, identity }: KeyParts): string =>
  JSON.stringify([projectId, environment, connectionId, roomId, identity]);

async function writeItems(tx: Tx, items: readonly Item[]): Promise<ReadonlySet<Item>> {
  const known = new Map((await listKnown(tx, items.map(bare))).map((row) => [keyOf(row), row]));
  const own = items.flatMap((item) => {
    const row = known.get(keyOf(item));
    return row ? [{ item, row }] : [];
  });
  const measured = await scoreOwn(
    tx,
    own.filter(({ item }) => item.measuredBy === 'client'),
  );
  const stored = [...measured, ...own.filter(({ item }) => item.measuredBy === 'node')];
  if (stored.length === 0) return new Set();
  await insertSamples(
    tx,
    stored.map(({ item: { at, packed }, row }) => ({ connection: row.id, at, packed })),
  );
  return new Set(stored.map(({ item }) => item));
}

/** Adds what clients measured to their scores and those of their calls; gives what is to be stored. */
async function scoreOwn(tx: Tx, own: readonly Owned[]): Promise<readonly Owned[]> {
  if (own.length === 0) return [];
  // Locks the calls: what is read of their connections after it holds.
  await upsertCalls(
    tx,
    own.map(({ item: { at }, row }) => ({ ...row, at })),
  );
  const stored = withoutOverlaps(own, await sampledUntil(tx, [...new Set(own.map(({ row }) => row.id))]));
  if (stored.length === 0) return [];
  const sums = await addScores(
    tx,
    stored.map(({ item, row, until }) => ({ connection: row.id, callId: row.callId, until, ...item.sums })),
  );
  const scores = sums.map((row) => ({ connection: row.connection, score: scoreOf(row) }));
  await updateScores(tx, scores, [...new Set(stored.map(({ row }) => row.callId))]);
  return stored;
}

interface Owned {
  item: Item;
  row: KnownConnection;
}

/** Those that account for no more time than has passed since the first of their connection. */
function withoutOverlaps(own: readonly Owned[], sampled: Map<string, string>): (Owned & { until: string })[] {
  return own.flatMap(({ item, row }) => {
    const at = Date.parse(item.at);
    const before = Date.parse(sampled.get(row.id) ?? item.at);
    if (before - aheadMsMax > at) return [];
    const until = iso(Math.max(before, at) + item.spanMs);
    sampled.set(row.id, until);
    return [{ item, row, until }];
  });
}

const bare = ({ projectId, environment, connectionId, roomId, identity }: Item): SampledConnection => ({
  projectId,
  environment,
  connectionId,
  roomId,
  identity,
});
