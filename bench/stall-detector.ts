import { Worker } from 'node:worker_threads';

/** A timed operation: its start by the wall clock, and its duration. */
export interface Timed {
  at: number;
  ms: number;
}

/**
 * Separates stalls of the machine from our own. A shared machine stalls for a tenth of a second now and then, and would
 * decide the 99th percentile of either side of a comparison.
 */
export interface StallDetector {
  /** Durations of the operations during which the machine did not stall. */
  unstalled(times: readonly Timed[]): number[];
  stop(): Promise<unknown>;
}

/** The backlog of a stall is worked off within this time. */
const afterMs = 150;
const beforeMs = 20;

export function startStallDetector(): StallDetector {
  const thread = new Worker(new URL('./stall-detector-thread.ts', import.meta.url));
  const stalledAt: number[] = [];
  thread.on('message', (at: number) => stalledAt.push(at));
  const isUnstalled = ({ at, ms }: Timed): boolean =>
    !stalledAt.some((stall) => at < stall + afterMs && at + ms > stall - beforeMs);
  return {
    unstalled: (times) => times.filter(isUnstalled).map(({ ms }) => ms),
    stop: () => thread.terminate(),
  };
}
