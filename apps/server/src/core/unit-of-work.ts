import type { EventType, RecordedData } from '@parley/contract';
import type { ProjectScope } from './caller.ts';
import { type Clock, iso } from './clock.ts';
import type { Db, Tx } from './db.ts';
import { insertEvents, type StoredEvent } from './event-store.ts';
import type { Ids } from './ids.ts';
import type { Log } from './log.ts';

/** Records an event in the transaction that makes it true. */
export type Emit = <T extends EventType>(event: {
  type: T;
  topic?: string;
  data: RecordedData<T>;
  /** Runs after the commit, before webhooks are queued: for socket subscribers. */
  afterCommit?: (scope: ProjectScope) => void;
}) => void;

/** One transaction and the events it creates: both are stored or neither is. */
export type UnitOfWork = <T>(scope: ProjectScope, work: (tx: Tx, emit: Emit) => Promise<T>) => Promise<T>;

interface UnitOfWorkDeps {
  db: Db;
  clock: Clock;
  ids: Ids;
  log: Log;
  /** Called after the commit, not awaited. */
  onCommitted: (events: readonly StoredEvent[]) => void;
}

export function createUnitOfWork({ db, clock, ids, log, onCommitted }: UnitOfWorkDeps): UnitOfWork {
  function announce(callbacks: readonly ((scope: ProjectScope) => void)[], scope: ProjectScope): void {
    for (const callback of callbacks) {
      try {
        callback(scope);
      } catch (error) {
        // What is committed has happened: its caller must not get an error.
        log.warn({ error }, 'a change was not announced');
      }
    }
  }

  return async (scope, work) => {
    let events: StoredEvent[] = [];
    let callbacks: ((scope: ProjectScope) => void)[] = [];
    const result = await db.transaction(async (tx) => {
      // The adapter may run this function again after a serialization failure: start from nothing.
      events = [];
      callbacks = [];
      const emit: Emit = ({ type, topic = null, data, afterCommit }) => {
        events.push({
          id: ids.newId('event'),
          projectId: scope.projectId,
          environment: scope.environment,
          type,
          topic,
          data: data as Record<string, unknown>,
          createdAt: iso(clock.now()),
        });
        if (afterCommit) callbacks.push(afterCommit);
      };
      const value = await work(tx, emit);
      await insertEvents(tx, events);
      return value;
    });
    announce(callbacks, scope);
    if (events.length > 0) onCommitted(events);
    return result;
  };
}
