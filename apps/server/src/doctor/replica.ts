import { createPostgres } from '../adapters/db/postgres/postgres.ts';
import { createReplica } from '../adapters/db/postgres/replica.ts';
import { type Finding, ok, warn } from './finding.ts';

/** A replica that cannot be used stops nothing: reads go to the primary, which has them all to do. */
export async function checkReplica(databaseUrl: string, readUrl: string): Promise<Finding> {
  const primary = createPostgres({ url: databaseUrl, poolSize: 1 });
  const replica = createReplica({ primary, db: createPostgres({ url: readUrl, poolSize: 1 }) });
  try {
    const { latencyMs, behindBytes } = await replica.look();
    return behindBytes === 0
      ? ok('database', `The replica answers in ${latencyMs.toFixed(1)} ms and has replayed everything.`)
      : warn(
          'database',
          `The replica is ${behindBytes} bytes of log behind.`,
          'See pg_stat_replication of the primary.',
        );
  } catch (error) {
    return warn(
      'database',
      `The replica in DATABASE_READ_URL cannot be used (${(error as Error).message}).`,
      'Until it can, reads go to the primary. It must be a streaming replica of DATABASE_URL.',
    );
  } finally {
    await replica.close();
    await primary.close();
  }
}
