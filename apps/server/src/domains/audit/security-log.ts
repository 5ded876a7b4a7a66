import { fail, type SecurityAction, type SecurityEntry, securityActions } from '@parley/contract';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import type { Ids } from '../../core/ids.ts';
import type { Log } from '../../core/log.ts';
import type { Counters } from '../../core/ports.ts';
import { isUuid } from '../../core/uuid.ts';
import { createSafeWrites } from './safe-writes.ts';
import { hasSecurityEntry, insertSecurityEntry, listSecurityEntries } from './security-store.ts';

type NewSecurityEntry = Omit<SecurityEntry, 'id' | 'action' | 'createdAt'> & { action: SecurityAction };

interface SecurityLogDeps {
  db: Db;
  clock: Clock;
  ids: Ids;
  log: Log;
  counters: Counters;
  spoolPath: string;
  failuresPerHour: number;
}

interface SecurityQuery {
  userId?: string;
  action?: string;
  before?: string;
  limit?: number;
}

const pageSize = 50;
const hourMs = 60 * 60_000;
/** What others can bring about as often as they like. */
const failures: readonly SecurityAction[] = [
  'account.sign_in_failed',
  'account.password_change_failed',
  'account.second_factor_failed',
];

/** What happens to people's accounts: it belongs to the person, and to no project. */
export function createSecurityLog(deps: SecurityLogDeps) {
  const { db, clock, ids, log, counters, failuresPerHour } = deps;
  const pending = new Set<Promise<void>>();
  const { write, retryKept } = createSafeWrites<SecurityEntry>({
    ...deps,
    insert: (entry) => insertSecurityEntry(db, entry),
  });

  /** A person who guesses at passwords must not fill the table: so many an hour, then one entry in place of the rest. */
  async function budgeted(entry: NewSecurityEntry): Promise<NewSecurityEntry | null> {
    if (!failures.includes(entry.action)) return entry;
    const { count } = await counters.hit(`security-failures:${entry.userId}`, hourMs);
    if (count <= failuresPerHour) return entry;
    if (count > failuresPerHour + 1) return null;
    return { ...entry, action: 'account.failures_muted', metadata: { perHour: failuresPerHour } };
  }

  async function add(entry: NewSecurityEntry): Promise<void> {
    const created = { id: ids.newId('audit'), createdAt: iso(clock.now()) };
    const kept = await budgeted(entry);
    if (kept) await write({ ...kept, ...created });
  }

  /** Never rejects. */
  function record(entry: NewSecurityEntry): Promise<void> {
    const adding = add(entry)
      // What cannot be counted is not recorded.
      .catch((error) => log.warn({ error, userId: entry.userId, action: entry.action }, 'a failure was not recorded'))
      .finally(() => pending.delete(adding));
    pending.add(adding);
    return adding;
  }

  async function list(query: SecurityQuery): Promise<SecurityEntry[]> {
    const { userId, action, before } = query;
    if (action !== undefined && !Object.hasOwn(securityActions, action)) fail('SVC_INVALID_ACTION_FILTER');
    if (userId !== undefined && !isUuid(userId)) return [];
    if (before !== undefined && !(await hasSecurityEntry(db, userId, before))) fail('SVC_INVALID_CURSOR');
    return listSecurityEntries(db, { ...query, limit: query.limit ?? pageSize });
  }

  return {
    record,
    list,
    retryKept,
    async stop(): Promise<void> {
      while (pending.size > 0) await Promise.all(pending);
    },
  };
}
