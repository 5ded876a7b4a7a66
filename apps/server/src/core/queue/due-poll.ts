import type { Clock } from '../clock.ts';

interface DuePoll {
  /** Brings the next poll forward to this time. */
  schedule(atMs: number): void;
  start(): void;
  /** Resolves when the last poll ended. */
  stop(): Promise<void>;
}

/** Timers of more than 24 days fire at once. */
const sleepMaxMs = 60 * 60_000;

/** Polls when something is known to become due. `poll` must not reject. */
export function createDuePoll({ clock, poll }: { clock: Clock; poll: () => Promise<void> }): DuePoll {
  let isStopped = false;
  let running: Promise<void> = Promise.resolve();
  let sleeping = new AbortController();
  let nextAtMs = Number.POSITIVE_INFINITY;

  async function loop(): Promise<void> {
    while (!isStopped) {
      const now = clock.now();
      if (nextAtMs > now) {
        sleeping = new AbortController();
        await clock.sleep(Math.min(sleepMaxMs, nextAtMs - now), sleeping.signal);
        // It may have been rescheduled, or the wall clock set.
        continue;
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
