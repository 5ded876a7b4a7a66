import type { Clock } from '../../src/core/clock.ts';

/** Time that passes only when the test says so. */
export interface FakeClock extends Clock {
  /** Moves time on and wakes, in order, every sleeper whose moment has come. */
  advance(ms: number): Promise<void>;
  /** Moves time on in one step: each sleeper wakes once, however often they would have. For days. */
  jump(ms: number): void;
  /** Sets the clock ahead or back, as an operator would: it says another time, and none has passed. */
  step(ms: number): void;
  /** How long each of those who sleep asked for. */
  sleeping(): number[];
}

export function createFakeClock(startAt = Date.parse('2026-01-01T00:00:00Z')): FakeClock {
  let now = startAt;
  let offMs = 0;
  let sleepers: { ms: number; at: number; wake: () => void }[] = [];

  /** Lets what was woken run as far as it can without time passing. */
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

  return {
    now: () => now + offMs,
    elapsed: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const sleeper = { ms, at: now + ms, wake };
        function wake(): void {
          sleepers = sleepers.filter((other) => other !== sleeper);
          signal?.removeEventListener('abort', wake);
          resolve();
        }
        sleepers.push(sleeper);
        signal?.addEventListener('abort', wake, { once: true });
      }),
    async advance(ms) {
      const end = now + ms;
      for (;;) {
        const due = sleepers.filter((sleeper) => sleeper.at <= end).sort((a, b) => a.at - b.at)[0];
        if (!due) break;
        now = Math.max(now, due.at);
        due.wake();
        await settle();
      }
      now = end;
      await settle();
    },
    jump(ms) {
      now += ms;
      const due = sleepers.filter((sleeper) => sleeper.at <= now);
      for (const { wake } of due) wake();
    },
    step(ms) {
      offMs += ms;
    },
    sleeping: () => sleepers.map(({ ms }) => ms),
  };
}
