import type { Clock } from '../../core/clock.ts';
import type { Counters } from '../../core/ports.ts';

interface Window {
  count: number;
  endsAt: number;
}

/** Entries beyond this are cleared of ended windows before a new one is added. */
const tidyAt = 10_000;

export function createMemoryCounters(clock: Clock): Counters {
  const windows = new Map<string, Window>();

  function current(key: string, windowMs: number): Window {
    const now = clock.elapsed();
    const known = windows.get(key);
    if (known && known.endsAt > now) return known;
    if (windows.size >= tidyAt) for (const [name, window] of windows) if (window.endsAt <= now) windows.delete(name);
    const opened = { count: 0, endsAt: now + windowMs };
    windows.set(key, opened);
    return opened;
  }

  return {
    async hit(key, windowMs, by = 1) {
      const window = current(key, windowMs);
      window.count += by;
      return { count: window.count, remainingMs: window.endsAt - clock.elapsed() };
    },
    async take(key, windowMs, limit, by = 1) {
      const window = current(key, windowMs);
      const taken = window.count + by <= limit;
      if (taken) window.count += by;
      return { taken, count: window.count, remainingMs: window.endsAt - clock.elapsed() };
    },
    async reset(key) {
      windows.delete(key);
    },
    async close() {
      windows.clear();
    },
  };
}
