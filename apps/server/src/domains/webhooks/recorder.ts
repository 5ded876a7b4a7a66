import { createBatcher } from '../../core/batcher.ts';
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
/** Far more than requests can be in flight. */
const waitingMax = 10_000;
const retryMs = 500;

/** One statement for all outcomes that came while the one before was written. */
export function createRecorder({ clock, log, save }: RecorderDeps): Recorder {
  const batcher = createBatcher<DeliveryOutcome, undefined>({ batchMax, waitingMax, write });

  async function write(outcomes: readonly DeliveryOutcome[]): Promise<undefined> {
    for (let left = outcomes; left.length > 0; left = left.filter(isLeased)) {
      try {
        await save(left, tally(left));
        break;
      } catch (error) {
        log.warn({ error, outcomes: left.length }, 'webhook outcomes not recorded; trying again');
        await clock.sleep(retryMs);
      }
    }
  }

  /** Past its lease an outcome is worth nothing: the delivery is due again, and at least once is what we promise. */
  const isLeased = ({ lease }: DeliveryOutcome): boolean => Date.parse(lease) > clock.now();

  return { record: (outcome) => batcher.add(outcome) };
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
