import type { Clock } from '../../core/clock.ts';
import type { Locks } from '../../core/ports.ts';

export function createMemoryLocks(clock: Clock): Locks {
  const held = new Map<string, { until: number }>();

  return {
    async acquire(name, ttlMs) {
      const current = held.get(name);
      if (current && current.until > clock.now()) return null;
      const mine = { until: clock.now() + ttlMs };
      held.set(name, mine);
      const isMine = () => held.get(name) === mine && mine.until > clock.now();
      return {
        async renew() {
          if (!isMine()) return false;
          mine.until = clock.now() + ttlMs;
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
