import type { Clock } from '../../core/clock.ts';
import type { Locks } from '../../core/ports.ts';

export function createMemoryLocks(clock: Clock): Locks {
  const held = new Map<string, { until: number }>();

  return {
    async acquire(name, ttlMs) {
      const current = held.get(name);
      if (current && current.until > clock.elapsed()) return null;
      const mine = { until: clock.elapsed() + ttlMs };
      held.set(name, mine);
      const isMine = () => held.get(name) === mine && mine.until > clock.elapsed();
      return {
        async renew() {
          if (!isMine()) return false;
          mine.until = clock.elapsed() + ttlMs;
          return true;
        },
        async release() {
          if (isMine()) held.delete(name);
        },
      };
    },
    async close() {
      held.clear();
    },
  };
}
