import { type Clock, systemClock } from '../../../core/clock.ts';
import { DatabaseUnavailable, type Db, type Reader, type Replica, type Row } from '../../../core/db.ts';
import { raw, type Sql, sql } from '../../../core/sql.ts';

interface ReplicaOptions {
  primary: Reader;
  /** The server that follows it. */
  db: Db;
  clock?: Clock;
  /** Up to where it has replayed the primary's log; null when it does not follow any. */
  replayed?: () => Sql;
}

/** How long a list waits for the replica to catch up: longer would be felt, and the primary answers at once. */
const listPatienceMs = 200;

/** A replica by streaming replication. Its position is that in the log (LSN). */
export function createReplica({
  primary,
  db,
  clock = systemClock,
  replayed = () => raw('case when pg_is_in_recovery() then pg_last_wal_replay_lsn() end'),
}: ReplicaOptions): Replica {
  let verified: Promise<void> | undefined;

  /** Once, and again after a failure: another server may be behind the address then. */
  async function verify(): Promise<void> {
    try {
      const [own, other] = await Promise.all([identify(primary), identify(db)]);
      if (own !== other) throw notFollowing();
      hasReplayedIt(await db.query(hasReplayed('0/0')));
    } catch (error) {
      if (error instanceof DatabaseUnavailable) throw error;
      // A password, a privilege, its time: what it takes to know may be right the next time.
      const reason = error instanceof Error ? error.message : String(error);
      throw new DatabaseUnavailable(`The replica does not say what it follows: ${reason}`, { cause: error });
    }
  }

  async function ask<T>(work: () => Promise<T>): Promise<T> {
    verified ??= verify();
    try {
      await verified;
      return await work();
    } catch (error) {
      if (error instanceof DatabaseUnavailable) verified = undefined;
      throw error;
    }
  }

  const hasReplayed = (position: string): Sql => sql`select ${replayed()} >= ${position}::pg_lsn as "isThere"`;

  async function awaitReplay(position: string, patienceMs: number): Promise<boolean> {
    const until = clock.elapsed() + patienceMs;
    for (let pauseMs = 1; ; pauseMs *= 2) {
      if (hasReplayedIt(await db.query(hasReplayed(position)))) return true;
      if (clock.elapsed() + pauseMs > until) return false;
      await clock.sleep(pauseMs);
    }
  }

  async function queryCurrent<T extends object>(statement: Sql): Promise<T[] | null> {
    const position = await committed(primary);
    if (!(await awaitReplay(position, listPatienceMs))) return null;
    // Position and rows of one session: behind one address there may be several replicas.
    const [standing = [], rows = []] = await db.batch([hasReplayed(position), statement]);
    // The caller names the row's type next to its SQL, as with any statement.
    return hasReplayedIt(standing) ? (rows as T[]) : null;
  }

  async function readCurrent<T>(work: (from: Reader) => Promise<T>, patienceMs: number): Promise<T | null> {
    const position = await committed(primary);
    if (!(await awaitReplay(position, patienceMs))) return null;
    // A transaction only keeps the session: each of its statements sees what is replayed by then.
    return db.transaction(async (tx) => (hasReplayedIt(await tx.query(hasReplayed(position))) ? await work(tx) : null));
  }

  async function look() {
    const latencyMs = await db.ping();
    const position = await committed(primary);
    await awaitReplay(position, listPatienceMs);
    const [row] = await db.query<{ behindBytes: number }>(
      sql`select greatest(0, pg_wal_lsn_diff(${position}::pg_lsn, ${replayed()}))::float8 as "behindBytes"`,
    );
    return { latencyMs, behindBytes: row?.behindBytes ?? 0 };
  }

  return {
    query: (statement) => ask(() => db.query(statement)),
    queryCurrent: (statement) => ask(() => queryCurrent(statement)),
    readCurrent: (work, patienceMs) => ask(() => readCurrent(work, patienceMs)),
    look: () => ask(look),
    close: () => db.close(),
  };
}

const notFollowing = () => new DatabaseUnavailable('DATABASE_READ_URL is not a replica of DATABASE_URL.');

/** Null is of a server that follows nobody: the primary itself, or one that was promoted and goes its own way. */
function hasReplayedIt([row]: readonly Row[]): boolean {
  if (row?.['isThere'] === null) throw notFollowing();
  return row?.['isThere'] === true;
}

/** Where the log ends that is on disk: nobody has been told of a commit beyond it. */
async function committed(primary: Reader): Promise<string> {
  const [row] = await primary.query<{ position: string }>(sql`select pg_current_wal_flush_lsn()::text as position`);
  return row?.position ?? '';
}

/** The same for a cluster and all that follow it. */
async function identify(db: Reader): Promise<string> {
  const [row] = await db.query<{ id: string }>(sql`
    select concat_ws('/', (select system_identifier from pg_control_system()), current_database()) as id`);
  return row?.id ?? '';
}
