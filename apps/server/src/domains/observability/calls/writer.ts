import { createBatcher } from '../../../core/batcher.ts';
import type { Changes } from '../../../core/changes.ts';
import { type Clock, iso } from '../../../core/clock.ts';
import type { Db, Tx } from '../../../core/db.ts';
import type { Log } from '../../../core/log.ts';
import {
  addScores,
  insertSamples,
  listKnown,
  type SampledConnection,
  updateScores,
  upsertCalls,
} from './call-store.ts';
import { pack, readBatch } from './samples.ts';
import { type ScoreSums, scoreOf, sumsOf } from './scoring.ts';

export interface SampleWriterDeps {
  db: Db;
  clock: Clock;
  log: Log;
  changes: Changes;
}

interface Item extends SampledConnection {
  at: string;
  packed: string;
  sums: ScoreSums;
}

const batchMax = 200;
/** Samples are best effort: beyond this many waiting, new ones are dropped. */
const waitingMax = 5_000;

/** Stores what clients measured, and what it is worth. */
export function createSampleWriter({ db, clock, log, changes }: SampleWriterDeps) {
  const batcher = createBatcher<Item, boolean>({ batchMax, waitingMax, write });

  async function write(items: readonly Item[]): Promise<boolean[]> {
    try {
      const stored = await db.transaction((tx) => writeItems(tx, items));
      for (const item of items) if (stored.has(item)) changes.note('connections', item);
      return items.map((item) => stored.has(item));
    } catch (error) {
      log.warn({ error, batches: items.length }, 'samples were not stored');
      return items.map(() => false);
    }
  }

  return {
    /** False when they make no sense, belong to another caller, or could not be stored. */
    async take(from: SampledConnection, data: Readonly<Record<string, unknown>>): Promise<boolean> {
      const batch = readBatch(data);
      if (batch === null) return false;
      const item = { ...from, at: iso(clock.now()), packed: pack(batch).toString('base64'), sums: sumsOf(batch) };
      return batcher.add(item).catch(() => false);
    },
    settled: () => batcher.flush(),
  };
}

const keyOf = ({ projectId, environment, connectionId }: Omit<SampledConnection, 'roomId' | 'identity'>): string =>
  `${projectId}/${environment}/${connectionId}`;

async function writeItems(tx: Tx, items: readonly Item[]): Promise<ReadonlySet<Item>> {
  const known = new Map((await listKnown(tx, items.map(bare))).map((row) => [keyOf(row), row]));
  const stored = items.flatMap((item) => {
    const row = known.get(keyOf(item));
    return row && row.roomId === item.roomId ? [{ item, row }] : [];
  });
  if (stored.length === 0) return new Set();
  await upsertCalls(
    tx,
    stored.map(({ item: { at }, row }) => ({ ...row, at })),
  );
  await insertSamples(
    tx,
    stored.map(({ item: { at, packed }, row }) => ({ connection: row.id, at, packed })),
  );
  const sums = await addScores(
    tx,
    stored.map(({ item, row }) => ({ connection: row.id, callId: row.callId, ...item.sums })),
  );
  const scores = sums.map((row) => ({ connection: row.connection, score: scoreOf(row) }));
  await updateScores(tx, scores, [...new Set(stored.map(({ row }) => row.callId))]);
  return new Set(stored.map(({ item }) => item));
}

const bare = ({ projectId, environment, connectionId, roomId, identity }: Item): SampledConnection => ({
  projectId,
  environment,
  connectionId,
  roomId,
  identity,
});
