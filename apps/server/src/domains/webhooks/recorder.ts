import type { Clock } from '../../core/clock.ts';
import type { Log } from '../../core/log.ts';
import type { DeliveryOutcome, EndpointTally } from './queue-store.ts';

export interface RecorderDeps {
  clock: Clock;
  log: Log;
  save: (outcomes: readonly DeliveryOutcome[], tallies: readonly EndpointTally[]) => Promise<void>;
}

export interface Recorder {
  /** Resolves when the outcome is stored, or when its claim has run out and the next attempt is due anyway. */
  record(outcome: DeliveryOutcome): Promise<void>;
}

const batchMax = 200;
const retryMs = 500;

/** Gathers outcomes while a batch is being written: one statement for all that finished meanwhile. */
export function createRecorder({ clock, log, save }: RecorderDeps): Recorder {
  let waiting: { outcome: DeliveryOutcome; done: () => void }[] = [];
  let isWriting = false;

  async function write(): Promise<void> {
    isWriting = true;
    while (waiting.length > 0) {
      const batch = waiting.slice(0, batchMax);
      const outcomes = batch.map(({ outcome }) => outcome);
      try {
        await save(outcomes, tally(outcomes));
      } catch (error) {
        log.warn({ error, outcomes: outcomes.length }, 'webhook outcomes not recorded; trying again');
        await clock.sleep(retryMs);
        forgetExpired();
        continue;
      }
      waiting = waiting.slice(batch.length);
      for (const { done } of batch) done();
    }
    isWriting = false;
  }

  /** Past its lease an outcome is worth nothing: the delivery is due again, and at least once is what we promise. */
  function forgetExpired(): void {
    const now = clock.now();
    const expired = waiting.filter(({ outcome }) => Date.parse(outcome.lease) <= now);
    waiting = waiting.filter(({ outcome }) => Date.parse(outcome.lease) > now);
    for (const { done } of expired) done();
  }

  return {
    record: (outcome) =>
      new Promise((done) => {
        waiting.push({ outcome, done });
        if (!isWriting) void write();
      }),
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
