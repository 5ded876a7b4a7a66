import type { SettableClock } from '../../../core/clock.ts';
import type { Db } from '../../../core/db.ts';
import { sql } from '../../../core/sql.ts';

const everyMs = 5_000;
/** Differences up to this are the measuring's own. */
const toleranceMs = 50;

/**
 * One time for all processes: the database's. Between two looks it goes on by the monotonic clock, so that setting a
 * machine's clock, or having it wrong, moves nothing. Gives how to stop.
 */
export async function followDatabaseTime(clock: SettableClock, db: Db): Promise<() => void> {
  async function look(): Promise<void> {
    const asked = clock.elapsed();
    const [row] = await db.query<{ now: number }>(
      sql`select (extract(epoch from clock_timestamp()) * 1000)::double precision as now`,
    );
    if (!row) return;
    const tripMs = clock.elapsed() - asked;
    const now = row.now + tripMs / 2;
    if (Math.abs(now - clock.now()) > toleranceMs + tripMs / 2) clock.set(now);
  }

  await look();
  // While the database is away, its last known time runs on.
  const timer = setInterval(() => void look().catch(() => {}), everyMs);
  timer.unref();
  return () => clearInterval(timer);
}
