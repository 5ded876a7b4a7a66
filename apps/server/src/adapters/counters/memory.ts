import type { Clock } from '../../core/clock.ts';
import { FixedWindow } from '../../core/fixed-window.ts';
import type { Counters } from '../../core/ports.ts';

/** Entries beyond this are cleared of ended windows before a new one is added. */
const tidyAt = 10_000;

export function createMemoryCounters(clock: Clock): Counters {
  const windows = new Map<string, FixedWindow>();

  function windowOf(key: string, windowMs: number, now: number): FixedWindow {
    const known = windows.get(key);
    if (known && known.remainingMs(now) > 0) return known;
    if (windows.size >= tidyAt) {
      for (const [name, window] of windows) if (window.remainingMs(now) <= 0) windows.delete(name);
    }
    const opened = new FixedWindow(windowMs);
    windows.set(key, opened);
    return opened;
  }

  return {
    async hit(key, windowMs, by = 1) {
      const now = clock.elapsed();
      const window = windowOf(key, windowMs, now);
      const count = window.use(now, by);
      return { count, remainingMs: window.remainingMs(now) };
    },
    async take(key, windowMs, limit, by = 1) {
      const now = clock.elapsed();
      const window = windowOf(key, windowMs, now);
      const taken = window.count(now) + by <= limit;
      const count = window.use(now, taken ? by : 0);
      return { taken, count, remainingMs: window.remainingMs(now) };
    },
    async reset(key) {
      windows.delete(key);
    },
    async close() {
      windows.clear();
    },
  };
}
