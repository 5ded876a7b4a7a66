import type { Clock } from '../../core/clock.ts';
import type { Locks } from '../../core/ports.ts';

export function createMemoryLocks(clock: Clock): Locks {
  const expiries = new Map<string, number>();

  return {
    async acquire(name, ttlMs) {
      const now = clock.elapsed();
      if ((expiries.get(name) ?? 0) > now) return false;
      expiries.set(name, now + ttlMs);
      return true;
    },
    async close() {
      expiries.clear();
    },
  };
}
