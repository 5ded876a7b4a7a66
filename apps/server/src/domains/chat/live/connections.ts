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

export interface ConnectionDeps {
  db: Db;
  expiringSets: ExpiringSets;
  clock: Clock;
  ids: Ids;
  changes: Changes;
}

export type ConnectionLog = ReturnType<typeof createConnectionLog>;

const processTtlMs = 30_000;
const keepMs = 30 * 24 * 60 * 60 * 1000;

/** Chat sockets as rows, written a second late and many at once: a storm of reconnects is not a storm of writes. */
export function createConnectionLog({ db, expiringSets, clock, ids, changes }: ConnectionDeps) {
  const processId = ids.newUuid();
  let changed = new Map<string, ConnectionRow | (() => ConnectionFacts)>();

  const note = (facts: ConnectionFacts, closeCode: number | null = null): void =>
    void changed.set(facts.id, rowOf(facts, closeCode));

  /** Of one that goes on: what is written is how it is by then. */
  function noteUse(id: string, facts: () => ConnectionFacts): void {
    if (!changed.has(id)) changed.set(id, facts);
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
    const noted = changed;
    changed = new Map();
    const rows = [...noted.values()].map((one) => (typeof one === 'function' ? rowOf(one(), null) : one));
    try {
      await upsertConnections(db, rows);
    } catch (error) {
      for (const [id, one] of noted) if (!changed.has(id)) changed.set(id, one);
      throw error;
    }
    for (const row of rows) changes.note('chat', row);
  }

  const markAlive = async (): Promise<void> =>
    void (await expiringSets.touch('chat-processes', processId, processTtlMs));

  /** Rows of processes that were killed; a process that is alive has said so within the last half minute. */
  async function closeStranded(): Promise<void> {
    await markAlive();
    const live = (await expiringSets.members('chat-processes')).map(({ member }) => member);
    await closeStrandedConnections(db, live, iso(clock.now()));
  }

  function deleteOld(turn: Turn): Promise<number> {
    const before = iso(clock.now() - keepMs);
    return deleteInBatches({ turn }, (limit) => deleteOldConnections(db, before, limit));
  }

  return { note, noteUse, flush, markAlive, closeStranded, deleteOld };
}
