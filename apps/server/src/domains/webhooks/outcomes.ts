import type { Limits } from '@parley/contract';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import { insertEvents, type StoredEvent } from '../../core/event-store.ts';
import type { Ids } from '../../core/ids.ts';
import type { Log } from '../../core/log.ts';
import { type DeliveryOutcome, type EndpointTally, recordOutcomes, type TrippedEndpoint } from './queue-store.ts';

export interface OutcomeDeps {
  db: Db;
  clock: Clock;
  ids: Ids;
  log: Log;
  limits: Limits;
  /** Dispatches the events recorded here. */
  onCommitted: (events: readonly StoredEvent[]) => void;
}

/** Records a batch of outcomes, and disables endpoints that failed too often in a row. */
export function createSaveOutcomes({ db, clock, ids, log, limits, onCommitted }: OutcomeDeps) {
  function disabledEvent({ projectId, environment, ...endpoint }: TrippedEndpoint): StoredEvent {
    const { webhookId, url, consecutiveFailures, lastError, disabledAt } = endpoint;
    log.warn({ webhookId, projectId, consecutiveFailures }, 'webhook disabled after failures in a row');
    return {
      id: ids.newId('event'),
      projectId,
      environment,
      type: 'webhook.disabled',
      topic: null,
      data: { webhookId, url, consecutiveFailures, lastError, disabledAt },
      createdAt: iso(clock.now()),
    };
  }

  /** One statement; a transaction only where an endpoint might be disabled, which is an event too. */
  return async (outcomes: readonly DeliveryOutcome[]): Promise<void> => {
    const tallies = tally(outcomes);
    const disableAfter = limits.WEBHOOK_DISABLE_AFTER_FAILURES;
    if (tallies.every((tally) => tally.lead + tally.run === 0)) {
      await recordOutcomes(db, outcomes, tallies, disableAfter);
      return;
    }
    const events = await db.transaction(async (tx) => {
      const tripped = await recordOutcomes(tx, outcomes, tallies, disableAfter);
      const made = tripped.map(disabledEvent);
      await insertEvents(tx, made);
      return made;
    });
    if (events.length > 0) onCommitted(events);
  };
}

/** What the outcomes, in their order, mean for each endpoint's count of failures in a row. */
export function tally(outcomes: readonly DeliveryOutcome[]): EndpointTally[] {
  const tallies = new Map<string, EndpointTally>();
  for (const { webhookId, status, at, entry } of outcomes) {
    const known = tallies.get(webhookId) ?? {
      webhookId,
      at,
      lead: 0,
      run: 0,
      tail: 0,
      hasSuccess: false,
      lastError: null,
    };
    tallies.set(webhookId, known);
    known.at = at;
    known.lastError = entry.error;
    if (status === 'DELIVERED') {
      known.hasSuccess = true;
      known.tail = 0;
    } else {
      known.tail++;
      if (known.hasSuccess) known.run = Math.max(known.run, known.tail);
      else known.lead++;
    }
  }
  return [...tallies.values()];
}
