import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Limits } from '@parley/contract';
import type { Clock } from '../core/clock.ts';

/** The mean delay of the event loop since it was asked for last, in milliseconds. */
export type LoopDelay = () => number;

const windowMs = 1_000;
/** One long turn is no overload: a machine may have slept, or a large answer been made. */
const windowsMin = 3;

export function watchLoopDelay(): LoopDelay {
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  // Never reset: it would lose the turn that is under way, which is the long one.
  let [count, sum] = [0, 0];
  return () => {
    const [before, sumBefore] = [count, sum];
    count = delay.count;
    sum = count === 0 ? 0 : delay.mean * count;
    return count === before ? 0 : (sum - sumBefore) / (count - before) / 1e6;
  };
}

/** Whether so much is queued that more would only make all wait longer. Checked by each request. */
export function createLoadGuard(deps: { clock: Clock; limits: Limits; loopDelay: LoopDelay }): () => boolean {
  const { clock, limits, loopDelay } = deps;
  const delayMsMax = limits.HTTP_MAX_LOOP_DELAY_MS || Number.POSITIVE_INFINITY;
  let [lookedAt, slowWindows] = [clock.elapsed(), 0];
  return () => {
    const now = clock.elapsed();
    if (now - lookedAt >= windowMs) {
      lookedAt = now;
      slowWindows = loopDelay() > delayMsMax ? slowWindows + 1 : 0;
    }
    return slowWindows >= windowsMin;
  };
}
