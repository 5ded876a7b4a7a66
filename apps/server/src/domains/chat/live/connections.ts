import { maskedAddress } from '../../../core/addresses.ts';
import type { ProjectScope } from '../../../core/caller.ts';
import type { Changes } from '../../../core/changes.ts';
import { type Clock, iso } from '../../../core/clock.ts';
import type { Db } from '../../../core/db.ts';
import { deleteInBatches, type Turn } from '../../../core/delete-in-batches.ts';
import type { Ids } from '../../../core/ids.ts';
import type { ExpiringSets } from '../../../core/ports.ts';
import {
  type ConnectionRow,
  closeStrandedConnections,
  deleteOldConnections,
  listProcesses,
  upsertConnections,
} from './connection-store.ts';

/** What the dashboard shows of one chat socket. */
interface ConnectionFacts extends ProjectScope {
  id: string;
  userId: string;
  userAgent: string | null;
  ip: string;
  connectedAt: number;
  subscriptions: number;
  messagesSent: number;
}

interface ConnectionDeps {
  db: Db;
  expiringSets: ExpiringSets;
  clock: Clock;
  ids: Ids;
  changes: Changes;
}

export type ConnectionLog = ReturnType<typeof createConnectionLog>;

const processes = 'chat-processes';
const processTtlMs = 30_000;
/** How often a process says that it is alive. */
export const aliveEveryMs = 10_000;
/** Later than that: a process that is alive has said so again by the next look. */
export const strandedEveryMs = 15_000;
const sweepMax = 500;
/** Connections that wait to be written. While the database is away those that end add up. */
const changedMax = 100_000;
/** Of one statement: one of all that an outage has left could take longer than a statement may. */
const statementMax = 2_000;
const keepMs = 30 * 24 * 60 * 60 * 1000;

/** Chat sockets as rows, written a second late and many at once: a storm of reconnects is not a storm of writes. */
export function createConnectionLog({ db, expiringSets, clock, ids, changes }: ConnectionDeps) {
  const processId = ids.newUuid();
  /** No batcher: nobody waits for a row, the last of a connection replaces those before, and one that failed is kept. */
  let changed = new Map<string, ConnectionRow | (() => ConnectionFacts)>();
  /** Processes that the last look missed, each with when the first of the looks in a row did. */
  let missed: ReadonlyMap<string, number> = new Map();
  let lookedAt = Number.NEGATIVE_INFINITY;

  const note = (facts: ConnectionFacts, closeCode: number | null = null): void =>
    keep(facts.id, rowOf(facts, closeCode));

  /** Of one that goes on: what is written is how it is by then. */
  function noteUse(id: string, facts: () => ConnectionFacts): void {
    if (!changed.has(id)) keep(id, facts);
  }

  /** What is evicted is written with its next use; if it has ended, it shows as open until this process ends. */
  function keep(id: string, one: ConnectionRow | (() => ConnectionFacts)): void {
    changed.set(id, one);
    const [oldest] = changed.size > changedMax ? changed.keys() : [];
    if (oldest !== undefined) changed.delete(oldest);
  }

  function rowOf(facts: ConnectionFacts, closeCode: number | null): ConnectionRow {
    const { id, projectId, environment, userId, userAgent, subscriptions, messagesSent } = facts;
    return {
      id,
      projectId,
      environment,
      userId,
      processId,
      userAgent,
      ip: maskedAddress(facts.ip),
      subscriptions,
      messagesSent,
      connectedAt: iso(facts.connectedAt),
      disconnectedAt: closeCode === null ? null : iso(clock.now()),
      closeCode,
    };
  }

  let flushing: Promise<void> = Promise.resolve();

  /** One after the other: when it resolves, everything noted before is stored. */
  function flush(): Promise<void> {
    flushing = flushing.catch(() => {}).then(write);
    return flushing;
  }

  async function write(): Promise<void> {
    const noted = [...changed];
    changed = new Map();
    for (let at = 0; at < noted.length; at += statementMax) {
      const some = noted.slice(at, at + statementMax);
      const rows = some.map(([, one]) => (typeof one === 'function' ? rowOf(one(), null) : one));
      try {
        await upsertConnections(db, rows);
      } catch (error) {
        putBack(noted.slice(at));
        throw error;
      }
      for (const row of rows) changes.note('chat', row);
    }
  }

  /** Before what came meanwhile: the oldest are evicted first. */
  function putBack(noted: readonly (readonly [string, ConnectionRow | (() => ConnectionFacts)])[]): void {
    const later = changed;
    changed = new Map(noted);
    for (const [id, one] of later) keep(id, one);
  }

  const markAlive = async (): Promise<void> => void (await expiringSets.touch(processes, processId, processTtlMs));

  /**
   * Rows of processes that were killed. One that is alive may be missing in a single look, when Redis has lost what it
   * had; by the next one it has said again that it is there.
   */
  async function closeStranded(): Promise<void> {
    const now = clock.elapsed();
    await markAlive();
    const live = new Set([processId, ...(await expiringSets.members(processes)).map(({ member }) => member)]);
    const missing = (await listProcesses(db)).filter((id) => !live.has(id));
    // Another process may have looked in the meantime: what was missed before is no longer in a row.
    const isNext = now - lookedAt <= 2 * strandedEveryMs;
    lookedAt = now;
    missed = new Map(missing.map((id) => [id, (isNext ? missed.get(id) : undefined) ?? now]));
    const gone = missing.filter((id) => now - (missed.get(id) ?? now) >= aliveEveryMs);
    if (gone.length > 0) await closeStrandedConnections(db, gone, iso(clock.now()));
    await expiringSets.sweep(processes, sweepMax);
  }

  function deleteOld(turn: Turn): Promise<number> {
    const before = iso(clock.now() - keepMs);
    return deleteInBatches({ turn }, (limit) => deleteOldConnections(db, before, limit));
  }

  return { note, noteUse, flush, markAlive, closeStranded, deleteOld };
}
