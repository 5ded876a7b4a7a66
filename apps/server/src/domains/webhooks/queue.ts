import { type Clock, iso } from '../../core/clock.ts';
import type { Tx } from '../../core/db.ts';
import type { AfterCommit } from '../../core/dispatcher.ts';
import type { StoredEvent } from '../../core/event-store.ts';
import { insertDeliveries } from './queue-store.ts';

export interface QueueDeps {
  clock: Clock;
  /** Wakes the worker for endpoints with new deliveries. */
  wake: (webhookIds: readonly string[]) => void;
}

/** The dispatcher's second listener: a row for each event and endpoint, in the transaction that hands the events on. */
export function createEnqueue({ clock, wake }: QueueDeps) {
  return async (tx: Tx, events: readonly StoredEvent[]): Promise<AfterCommit> => {
    const webhookIds = await insertDeliveries(tx, events, iso(clock.now()));
    return () => wake(webhookIds);
  };
}
