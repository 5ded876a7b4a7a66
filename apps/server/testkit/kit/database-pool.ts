import { DatabaseUnavailable, type Db } from '../../src/core/db.ts';
import { sql } from '../../src/core/sql.ts';
import { openTestDatabase, type TestDatabase } from './test-database.ts';
import { hasWorkerEnd, stopAtWorkerEnd } from './worker-life.ts';

/** Those that are empty and wait for the next service of this test worker: to open one takes a second of CPU. */
const idle: TestDatabase[] = [];

/** A migrated database without rows, for one service: used before by another of this worker, or a new one. */
export async function takeDatabase(): Promise<TestDatabase> {
  const taken = idle.pop() ?? (await openTestDatabase());
  const { db, close, isQuiet } = closable(taken.db);
  return {
    db,
    url: taken.url,
    async close() {
      // What still runs belongs to nobody any more: it must not meet the rows of the next service.
      const isReusable = hasWorkerEnd() && isQuiet();
      close();
      if (isReusable && (await isEmptied(taken.db))) keep(taken);
      else await taken.close();
    },
  };
}

function keep(database: TestDatabase): void {
  idle.push(database);
  stopAtWorkerEnd({ stop: async () => void (await idle.pop()?.close()) });
}

/** The same database for one user: refuses statements once that one has closed it. */
function closable(db: Db): { db: Db; close: () => void; isQuiet: () => boolean } {
  let isClosed = false;
  let running = 0;
  async function run<T>(work: () => Promise<T>): Promise<T> {
    if (isClosed) throw new DatabaseUnavailable('The database is closed.');
    running++;
    try {
      return await work();
    } finally {
      running--;
    }
  }
  return {
    isQuiet: () => running === 0,
    close: () => {
      isClosed = true;
    },
    db: {
      dialect: db.dialect,
      query: (statement) => run(() => db.query(statement)),
      execute: (statement) => run(() => db.execute(statement)),
      transaction: (work) => run(() => db.transaction(work)),
      batch: (statements) => run(() => db.batch(statements)),
      script: (...texts) => run(() => db.script(...texts)),
      ping: () => run(() => db.ping()),
      close: () => db.close(),
    },
  };
}

/** Whether it is as a new one again; a database that a test has broken or closed is not. */
async function isEmptied(db: Db): Promise<boolean> {
  try {
    await db.batch([sql`set local session_replication_role = replica`, deleteAll]);
    return true;
  } catch {
    return false;
  }
}

/** As a replica no trigger and no foreign key stands in the way; TRUNCATE would write every table and index anew. */
const deleteAll = sql`do $$
  declare name text;
  begin
    for name in
      select relname from pg_class
      where relkind = 'r' and relnamespace = 'public'::regnamespace and relname <> 'schema_migrations'
    loop
      execute format('delete from %I', name);
    end loop;
  end $$`;
