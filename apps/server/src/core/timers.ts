import { setMaxListeners } from 'node:events';
import type { Clock } from './clock.ts';
import type { Log } from './log.ts';
import type { Locks } from './ports.ts';

/** Work that runs every `everyMs`. */
export interface Chore {
  name: string;
  everyMs: number;
  run(): Promise<unknown>;
  /** Each process has its own to do; otherwise one process at a time does it for all. */
  onEveryProcess?: true;
}

interface TimersDeps {
  clock: Clock;
  locks: Locks;
  log: Log;
  chores: readonly Chore[];
}

/** Runs the chores of every part, each on its own schedule. */
export function createTimers({ clock, locks, log, chores }: TimersDeps) {
  const stopping = new AbortController();
  // Each chore listens; Node 20 takes more than ten for a leak.
  setMaxListeners(0, stopping.signal);
  let running: Promise<unknown> = Promise.resolve();

  async function once({ name, everyMs, run, onEveryProcess }: Chore): Promise<void> {
    try {
      // The lease is kept until it runs out, so that the next process does not repeat the chore at once.
      if (!onEveryProcess && !(await locks.acquire(`chore/${name}`, Math.max(1_000, everyMs - 500)))) return;
      await run();
    } catch (error) {
      log.warn({ error, chore: name }, 'chore failed; it will run again');
    }
  }

  async function repeat(chore: Chore): Promise<void> {
    while (!stopping.signal.aborted) {
      await clock.sleep(chore.everyMs, stopping.signal);
      if (!stopping.signal.aborted) await once(chore);
    }
  }

  return {
    start(): void {
      running = Promise.all(chores.map(repeat));
    },
    async stop(): Promise<void> {
      stopping.abort();
      await running;
    },
  };
}
