import type { Clock } from './clock.ts';
import type { Log } from './log.ts';
import type { Locks } from './ports.ts';

/** Chores that run again and again. */
export interface Timers {
  /** Runs `work` every `everyMs`, on one process at a time unless it is each process's own chore. */
  every(name: string, everyMs: number, work: () => Promise<unknown>, options?: { onEveryProcess?: boolean }): void;
  start(): void;
  /** Resolves when nothing runs any more. */
  stop(): Promise<void>;
}

export function createTimers({ clock, locks, log }: { clock: Clock; locks: Locks; log: Log }): Timers {
  const stopping = new AbortController();
  const chores: (() => Promise<void>)[] = [];
  let running: Promise<unknown> = Promise.resolve();

  async function once(name: string, everyMs: number, work: () => Promise<unknown>, isShared: boolean): Promise<void> {
    try {
      // The lease is kept until it runs out, so that the next process does not repeat the chore at once.
      if (isShared && !(await locks.acquire(`chore/${name}`, Math.max(1_000, everyMs - 500)))) return;
      await work();
    } catch (error) {
      log.warn({ error, chore: name }, 'chore failed; it will run again');
    }
  }

  return {
    every(name, everyMs, work, { onEveryProcess = false } = {}) {
      chores.push(async () => {
        while (!stopping.signal.aborted) {
          await clock.sleep(everyMs, stopping.signal);
          if (!stopping.signal.aborted) await once(name, everyMs, work, !onEveryProcess);
        }
      });
    },
    start() {
      running = Promise.all(chores.map((chore) => chore()));
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
