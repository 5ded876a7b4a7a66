import type { Clock } from './clock.ts';
import { DatabaseUnavailable, type Db, type Reader, type Replica } from './db.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

/** Reads that need not be of the database itself, and still see what was written before them. */
export interface ReplicatedReads {
  /** Everything that was committed before the call is in its rows, by any process. */
  current: Reader;
  /**
   * The same for several statements of one answer, none of which sees less than the one before it: `work` is done at the
   * replica, and done anew at the database where that is behind for so long or away.
   */
  together<T extends object>(patienceMs: number, work: (from: Reader, isReplica: boolean) => Promise<T>): Promise<T>;
  /** Whether the replica is worth asking now. */
  hasReplica(): boolean;
  /** Null when the database is to be asked: the replica is away, or `ask` says that it is behind. Never throws. */
  fromReplica<T>(ask: (replica: Replica) => Promise<T | null>): Promise<T | null>;
}

interface ReplicatedReadsDeps {
  db: Db;
  replica: Replica | null;
  clock: Clock;
  log: Log;
  metrics: Metrics;
}

/** So long nobody waits for a replica that did not answer. */
const awayMs = 5_000;

export function createReplicatedReads({ db, replica, clock, log, metrics }: ReplicatedReadsDeps): ReplicatedReads {
  let [isAway, askAgainAt] = [false, 0];

  const hasReplica = (): boolean => replica !== null && clock.elapsed() >= askAgainAt;

  function note(result: 'replica' | 'behind' | 'away'): void {
    metrics.count('parley_replica_reads_total', { result });
    if (result === 'away' || !isAway) return;
    [isAway, askAgainAt] = [false, 0];
    log.info({}, 'the replica answers again');
  }

  function noteFailure(error: unknown): void {
    note('away');
    // Any other error is the statement's: the database will say so itself.
    if (!(error instanceof DatabaseUnavailable)) return;
    askAgainAt = clock.elapsed() + awayMs;
    if (!isAway) log.warn({ error }, 'the replica cannot be read: reads go to the primary');
    isAway = true;
  }

  async function fromReplica<T>(ask: (replica: Replica) => Promise<T | null>): Promise<T | null> {
    if (replica === null || !hasReplica()) return null;
    // One asks whether it is back: the others do not wait for that.
    if (isAway) askAgainAt = clock.elapsed() + awayMs;
    try {
      const answer = await ask(replica);
      note(answer === null ? 'behind' : 'replica');
      return answer;
    } catch (error) {
      noteFailure(error);
      return null;
    }
  }

  return {
    hasReplica,
    fromReplica,
    together: async (patienceMs, work) =>
      (await fromReplica((follower) => follower.readCurrent((from) => work(from, true), patienceMs))) ??
      (await work(db, false)),
    current: {
      query: async (statement) =>
        (await fromReplica((follower) => follower.queryCurrent(statement))) ?? (await db.query(statement)),
    },
  };
}
