import { createPostgres } from '../../src/adapters/db/postgres/postgres.ts';
import { createReplica } from '../../src/adapters/db/postgres/replica.ts';
import { DatabaseUnavailable, type Db, type Reader, type Replica, type Tx } from '../../src/core/db.ts';
import { raw, type Sql, sql } from '../../src/core/sql.ts';

/** Stands for a replica: other sessions of the same PostgreSQL, which see it as it was when they were held. */
export interface HeldReplica extends Replica {
  /** From here on nothing more is replayed. `isUnnoticed`: and it says otherwise, as one left behind by a failover may. */
  hold(options?: { isUnnoticed?: boolean }): Promise<void>;
  /** Everything is replayed. */
  release(): Promise<void>;
  /** It does not answer any more, or again. */
  setAway(isAway: boolean): void;
}

interface Snapshot {
  position: string;
  tx: Tx;
  end(): Promise<void>;
}

export function createHeldReplica(primary: Db, adminUrl: string): HeldReplica {
  const sessions = openSessions(primary, adminUrl);
  let held: Snapshot | null = null;
  let [isAway, isUnnoticed] = [false, false];

  async function reader(): Promise<Reader> {
    if (isAway) throw new DatabaseUnavailable('The replica is away.');
    return held?.tx ?? (await sessions);
  }
  const query: Db['query'] = async (statement) => (await reader()).query(statement);
  const unused = () => Promise.reject(new Error('not of a replica'));
  const db: Db = {
    dialect: 'postgres',
    query,
    // In a snapshot, or of a database that has everything, they see the same.
    batch: async (statements) => {
      const rows = [];
      for (const statement of statements) rows.push(await query(statement));
      return rows;
    },
    async ping() {
      await query(sql`select 1`);
      return 0;
    },
    transaction: async (work) => {
      await reader();
      return held ? work(held.tx) : (await sessions).transaction(work);
    },
    execute: unused,
    script: unused,
    close: async () => (await sessions).close(),
  };
  const replayed = (): Sql =>
    held && !isUnnoticed ? sql`${held.position}::pg_lsn` : raw('pg_current_wal_flush_lsn()');
  return {
    ...createReplica({ primary, db, replayed }),
    async hold(options) {
      isUnnoticed = options?.isUnnoticed ?? false;
      held = await takeSnapshot(await sessions);
    },
    async release() {
      const snapshot = held;
      held = null;
      await snapshot?.end();
    },
    setAway(isGone) {
      isAway = isGone;
    },
  };
}

async function openSessions(primary: Db, adminUrl: string): Promise<Db> {
  const [row] = await primary.query<{ name: string }>(sql`select current_database() as name`);
  const url = new URL(adminUrl);
  url.pathname = `/${row?.name}`;
  return createPostgres({ url: url.href, poolSize: 3 });
}

/** Of the database as it is now: what is committed later is not in it. */
function takeSnapshot(db: Db): Promise<Snapshot> {
  const taken = Promise.withResolvers<Snapshot>();
  const over = Promise.withResolvers<void>();
  const ended = db.transaction(async (tx) => {
    await tx.execute(sql`set transaction isolation level repeatable read`);
    const [row] = await tx.query<{ position: string }>(sql`select pg_current_wal_flush_lsn()::text as position`);
    const end = (): Promise<void> => {
      over.resolve();
      return ended;
    };
    taken.resolve({ position: row?.position ?? '', tx, end });
    await over.promise;
  });
  ended.catch(taken.reject);
  return taken.promise;
}
