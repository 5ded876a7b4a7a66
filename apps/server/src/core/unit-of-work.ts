import type { EventType, RecordedData } from '@parley/contract';
import type { ProjectScope } from './caller.ts';
import { type Clock, iso } from './clock.ts';
import type { Db, Tx } from './db.ts';
import { insertEvents, type StoredEvent } from './event-store.ts';
import type { Ids } from './ids.ts';

/** Records a fact in the transaction that makes it true. It is told to others only after the commit. */
export type Emit = <T extends EventType>(event: { type: T; topic?: string; data: RecordedData<T> }) => void;

/** One transaction and the facts it creates: both are stored or neither is. */
export type UnitOfWork = <T>(scope: ProjectScope, work: (tx: Tx, emit: Emit) => Promise<T>) => Promise<T>;

export interface UnitOfWorkDeps {
  db: Db;
  clock: Clock;
  ids: Ids;
  /** Called after the commit, not awaited. */
  onCommitted: (events: readonly StoredEvent[]) => void;
}

export function createUnitOfWork({ db, clock, ids, onCommitted }: UnitOfWorkDeps): UnitOfWork {
  return async (scope, work) => {
    let events: StoredEvent[] = [];
    const result = await db.transaction(async (tx) => {
      // The adapter may run this function again after a serialization failure: start from nothing.
      events = [];
      const emit: Emit = ({ type, topic = null, data }) => {
        events.push({
          id: ids.newId('event'),
          projectId: scope.projectId,
          environment: scope.environment,
          type,
          topic,
          data: data as Record<string, unknown>,
          createdAt: iso(clock.now()),
        });
      };
      const value = await work(tx, emit);
      await insertEvents(tx, events);
      return value;
    });
    if (events.length > 0) onCommitted(events);
    return result;
  };
}
