import { createBatcher } from '../batcher.ts';
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';

interface RecorderDeps<Outcome> {
  clock: Clock;
  log: Log;
  save: (outcomes: readonly Outcome[]) => Promise<void>;
}

interface Recorder<Outcome> {
  /** Resolves when the outcome is stored, or when its claim has run out and the next attempt is due anyway. */
  record(outcome: Outcome): Promise<void>;
}

const batchMax = 200;
/** Far more than requests can be in flight. */
const waitingMax = 10_000;
const retryMs = 500;

/** One statement for all outcomes that came while the one before was written. */
export function createRecorder<Outcome extends { lease: string }>({
  clock,
  log,
  save,
}: RecorderDeps<Outcome>): Recorder<Outcome> {
  const batcher = createBatcher<Outcome, undefined>({ batchMax, waitingMax, write });

  async function write(outcomes: readonly Outcome[]): Promise<undefined> {
    for (let left = outcomes; left.length > 0; left = left.filter(isLeased)) {
      try {
        await save(left);
        break;
      } catch (error) {
        log.warn({ error, outcomes: left.length }, 'outcomes not recorded; trying again');
        await clock.sleep(retryMs);
      }
    }
  }

  /** Past its lease an outcome is worth nothing: the item is due again, and at least once is what we promise. */
  const isLeased = ({ lease }: Outcome): boolean => Date.parse(lease) > clock.now();

  return { record: (outcome) => batcher.add(outcome) };
}
