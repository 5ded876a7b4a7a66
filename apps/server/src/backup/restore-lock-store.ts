import { lockForRestore } from '../adapters/db/shared/migrate.ts';
import type { Db } from '../core/db.ts';
import { sql } from '../core/sql.ts';
import { BackupRefused } from './refused.ts';

/** Throws when the lock was lost, with its connection. */
export type AssertHeld = () => Promise<void>;

/**
 * Does `work` while nobody else restores into this PostgreSQL or migrates it. `db` has the lock and does nothing else:
 * what is read and written goes over other connections.
 */
export async function withRestoreLock(db: Db, work: (assertHeld: AssertHeld) => Promise<void>): Promise<void> {
  let outcome: PromiseSettledResult<void> | undefined;
  const holding = db.transaction(async (tx) => {
    // A transaction that conflicts runs again; a restore must not.
    if (outcome) return;
    await tx.execute(sql`set local idle_in_transaction_session_timeout = 0`);
    if (!(await lockForRestore(tx)))
      throw new BackupRefused(
        'Another restore into this database is under way, or a server is making its tables there: wait for its end.',
      );
    [outcome] = await Promise.allSettled([work(async () => void (await tx.query(sql`select 1 as one`)))]);
  });
  // What came of the work counts, and not that the lock was lost meanwhile.
  await holding.catch((error: unknown) => {
    if (!outcome) throw error;
  });
  if (outcome?.status === 'rejected') throw outcome.reason;
}
