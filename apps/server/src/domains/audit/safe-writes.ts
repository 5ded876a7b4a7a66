import type { Log } from '../../core/log.ts';
import { createSpool } from './spool.ts';

/** Writes that fail no request: what the database refuses is kept on disk and written later. */
interface SafeWrites<T> {
  /** Never rejects. */
  write(entry: T): Promise<void>;
  /** Writes what was kept. */
  retryKept(): Promise<void>;
}

interface SafeWritesDeps<T> {
  log: Log;
  /** Where entries wait that the database refused. */
  spoolPath: string;
  /** Writing the same entry twice must change nothing. */
  insert: (entry: T) => Promise<void>;
}

export function createSafeWrites<T extends { id: string; action: string; requestId: string }>(
  deps: SafeWritesDeps<T>,
): SafeWrites<T> {
  const { log, insert } = deps;
  const spool = createSpool<T>(deps.spoolPath);

  async function keep(entry: T, error: unknown): Promise<void> {
    log.error(
      { error, auditId: entry.id, action: entry.action, requestId: entry.requestId },
      'audit write failed; kept for retry',
    );
    await spool.add(entry).catch((lost) => log.error({ error: lost, entry }, 'audit entry could not be kept'));
  }

  return {
    write: (entry) => insert(entry).catch((error) => keep(entry, error)),
    retryKept: () => spool.drain(insert),
  };
}
