import { type Environment, environments } from '@parley/contract';
import type { Changes } from '../../core/changes.ts';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import type { EventRef, IsAskedFor, StoredEvent } from '../../core/event-store.ts';
import type { Ids } from '../../core/ids.ts';
import { insertEntry, insertNetworkEntry, type NewAuditEntry, type RecordedEntry } from './audit-store.ts';

export interface EntryWritesDeps {
  db: Db;
  clock: Clock;
  ids: Ids;
  changes: Changes;
  isAskedFor: IsAskedFor;
  /** Gets the events right after their commit. */
  dispatch: (events: readonly EventRef[]) => void;
}

/** Entries of the audit log with their events. */
export function createEntryWrites({ db, clock, ids, changes, isAskedFor, dispatch }: EntryWritesDeps) {
  function eventOf(entry: NewAuditEntry, environment: Environment): StoredEvent {
    return {
      id: ids.newId('event'),
      projectId: entry.projectId,
      environment,
      type: 'audit.recorded',
      topic: null,
      data: { entry: { ...entry, publicId: entry.id } },
      createdAt: iso(clock.now()),
    };
  }

  async function write(
    entry: NewAuditEntry,
    insert: (recorded: RecordedEntry) => Promise<ReadonlySet<string>>,
  ): Promise<void> {
    const where = entry.environment === null ? environments : [entry.environment];
    const events = where.map((environment) => eventOf(entry, environment));
    const stored = await insert({ entry, events, isAskedFor });
    changes.note('audit', { projectId: entry.projectId, environment: null });
    if (stored.size > 0) dispatch(events.filter(({ id }) => stored.has(id)));
  }

  return {
    write: (entry: NewAuditEntry) => write(entry, (recorded) => insertEntry(db, recorded)),
    writeNetwork: (entry: NewAuditEntry, use: Parameters<typeof insertNetworkEntry>[1]) =>
      write(entry, (recorded) => insertNetworkEntry(db, use, recorded)),
  };
}
