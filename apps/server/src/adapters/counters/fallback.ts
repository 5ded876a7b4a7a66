import type { Clock } from '../../core/clock.ts';
import { type Counters, SharedStateUnavailable } from '../../core/ports.ts';
import { createMemoryCounters } from './memory.ts';

export interface FallbackDeps {
  shared: Counters;
  clock: Clock;
  /** How many processes share the work, as far as this one last knew. */
  processCount(): number;
}

/**
 * While the shared store is away each process counts by itself, against its share of the limit: never unlimited, and
 * never refusing everybody.
 */
export function createFallbackCounters({ shared, clock, processCount }: FallbackDeps): Counters {
  const own = createMemoryCounters(clock);
  const shares = () => Math.max(1, processCount());
  return {
    async hit(key, windowMs, by) {
      try {
        return await shared.hit(key, windowMs, by);
      } catch (error) {
        rethrowUnlessUnavailable(error);
        // The others are taken to be as busy as this one.
        const { count, remainingMs } = await own.hit(key, windowMs, by);
        return { count: count * shares(), remainingMs };
      }
    },
    async take(key, windowMs, limit, by) {
      try {
        return await shared.take(key, windowMs, limit, by);
      } catch (error) {
        rethrowUnlessUnavailable(error);
        return await own.take(key, windowMs, Math.max(1, Math.floor(limit / shares())), by);
      }
    },
    async reset(key) {
      await own.reset(key);
      await shared.reset(key).catch(rethrowUnlessUnavailable);
    },
    async close() {
      await own.close();
      await shared.close();
    },
  };
}

function rethrowUnlessUnavailable(error: unknown): void {
  if (!(error instanceof SharedStateUnavailable)) throw error;
}
