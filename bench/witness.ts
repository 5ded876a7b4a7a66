import { Worker } from 'node:worker_threads';

/** Something that was timed: when it began, by the clock on the wall, and how long it took. */
export interface Timed {
  at: number;
  ms: number;
}

/**
 * Tells what the machine did from what we did. A machine that is shared stands nearly still for a tenth of a second now
 * and then; a 99th percentile is then of the machine, on either side of a comparison.
 */
export interface Witness {
  /** How long each took, of those during which the machine was not held back. */
  fair(times: readonly Timed[]): number[];
  stop(): Promise<unknown>;
}

/** What it held up is still being worked off. */
const afterMs = 150;
const beforeMs = 20;

export function callWitness(): Witness {
  const thread = new Worker(new URL('./witness-thread.ts', import.meta.url));
  const heldBackAt: number[] = [];
  thread.on('message', (at: number) => heldBackAt.push(at));
  const isFair = ({ at, ms }: Timed): boolean =>
    !heldBackAt.some((held) => at < held + afterMs && at + ms > held - beforeMs);
  return {
    fair: (times) => times.filter(isFair).map(({ ms }) => ms),
    stop: () => thread.terminate(),
  };
}
