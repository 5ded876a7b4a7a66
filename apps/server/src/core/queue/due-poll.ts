import type { Clock } from '../clock.ts';

interface DuePoll {
  /** Brings the next poll forward to this time. */
  schedule(atMs: number): void;
  start(): void;
  /** Resolves when the last poll ended. */
  stop(): Promise<void>;
}

/** Polls at an interval, and earlier when something is known to become due. `poll` must not reject. */
export function createDuePoll({
  clock,
  everyMs,
  poll,
}: {
  clock: Clock;
  everyMs: number;
  poll: () => Promise<void>;
}): DuePoll {
  let isStopped = false;
  let running: Promise<void> = Promise.resolve();
  let sleeping = new AbortController();
  let nextAtMs = Number.POSITIVE_INFINITY;

  async function loop(): Promise<void> {
    while (!isStopped) {
      const now = clock.now();
      if (nextAtMs > now) {
        sleeping = new AbortController();
        await clock.sleep(Math.min(everyMs, nextAtMs - now), sleeping.signal);
        // Rescheduled, or stopped.
        if (sleeping.signal.aborted) continue;
      }
      nextAtMs = Number.POSITIVE_INFINITY;
      await poll();
    }
  }

  return {
    schedule(atMs) {
      if (atMs >= nextAtMs) return;
      nextAtMs = atMs;
      sleeping.abort();
    },
    start() {
      running = loop();
    },
    async stop() {
      isStopped = true;
      sleeping.abort();
      await running;
    },
  };
}
