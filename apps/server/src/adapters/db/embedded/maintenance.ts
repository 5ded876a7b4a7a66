import type { Answer } from './wire-reader.ts';

interface MaintenanceDeps {
  /** Runs one text at once; this thread has no other. */
  run(text: string): Answer;
  /** No transaction is open. */
  isFree(): boolean;
  /** No request for a moment. */
  isIdle(): boolean;
}

// Recovery after a crash reads the log since the last checkpoint: this much takes well under a second.
const logBytesMax = 16 * 1024 * 1024;

const logBytes = `select pg_wal_lsn_diff(pg_current_wal_lsn(), redo_lsn)::float8 as bytes from pg_control_checkpoint()`;

// Autovacuum's own thresholds. `isUrgent`: so many dead rows that even a busy database had better stop for them.
const maintenanceCandidate = `
  select format('%I.%I', schemaname, relname) as name,
    n_dead_tup > 50 + 0.2 * n_live_tup as is_dirty,
    n_dead_tup > 20000 + n_live_tup as is_urgent
  from pg_stat_all_tables
  where schemaname in ('public', 'pg_catalog') and (n_dead_tup > 50 + 0.2 * n_live_tup or n_mod_since_analyze > 50 + 0.1 * n_live_tup)
  order by n_dead_tup + n_mod_since_analyze desc limit 1`;

/**
 * PGlite has no background processes: nothing writes checkpoints (the log grows forever), vacuums or analyzes
 * for the planner. One call does at most one of these.
 */
export function createMaintenance({ run, isFree, isIdle }: MaintenanceDeps) {
  return function maintain(): void {
    if (!isFree()) return;
    if (Number(run(logBytes).results[0]?.rows[0]?.['bytes']) > logBytesMax) return void run('checkpoint');
    const table = run(maintenanceCandidate).results[0]?.rows[0];
    if (!table) return;
    if (table['is_dirty'] && (isIdle() || table['is_urgent'])) run(`vacuum (analyze) ${table['name']}`);
    else if (isIdle()) run(`analyze ${table['name']}`);
  };
}
