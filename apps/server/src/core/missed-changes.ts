import type { Clock } from './clock.ts';
import { DatabaseUnavailable, type Db } from './db.ts';
import type { Bus } from './ports.ts';

/**
 * Longer than a statement can run whose connection is gone (15 s), and than its commit takes to be seen: until then a
 * look into the store may have come too early.
 */
const doubtMs = 30_000;

/** Whether there may be changes in the store that nobody was told of. */
export interface MissedChanges {
  /** Between processes messages can be lost without a sign; and the answer to a commit can be, also in one process. */
  arePossible(): Promise<boolean>;
}

interface MissedChangesDeps {
  db: Db;
  bus: Pick<Bus, 'ping'>;
  clock: Clock;
}

/** Watches the database for writes whose outcome is not known: the change may be stored, and was not announced. */
export function createMissedChanges({ db, bus, clock }: MissedChangesDeps): { db: Db; missedChanges: MissedChanges } {
  let doubtEndsAt = -1;

  async function watch<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (error) {
      if (error instanceof DatabaseUnavailable) doubtEndsAt = clock.elapsed() + doubtMs;
      throw error;
    }
  }

  const isLossy = (): Promise<boolean> =>
    bus.ping().then(
      (roundTripMs) => roundTripMs !== null,
      () => true,
    );

  return {
    db: {
      ...db,
      query: (statement) => db.query(statement),
      execute: (statement) => watch(db.execute(statement)),
      transaction: (work) => watch(db.transaction(work)),
      batch: (statements) => watch(db.batch(statements)),
    },
    missedChanges: { arePossible: async () => clock.elapsed() < doubtEndsAt || (await isLossy()) },
  };
}
