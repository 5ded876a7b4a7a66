import { setMaxListeners } from 'node:events';
import type { Clock } from './clock.ts';
import type { Turn } from './delete-in-batches.ts';
import type { Log } from './log.ts';
import { type Locks, SharedStateUnavailable } from './ports.ts';

/** Work that runs every `everyMs`. */
export interface Chore {
  name: string;
  everyMs: number;
  /** What takes long looks at the turn between its steps, and goes on in the next one. */
  run(turn: Turn): Promise<unknown>;
  /** Each process has its own to do; otherwise one process at a time does it for all. */
  onEveryProcess?: true;
  /** It needs no shared state: while that is away every process does it, which harms nothing. */
  onDatabaseAlone?: true;
}

interface TimersDeps {
  clock: Clock;
  locks: Locks;
  log: Log;
  chores: readonly Chore[];
}

/** Of the time from one run to the next: the rest is for those who write. */
const share = 0.5;

/** Runs the chores of every part, each on its own schedule. */
export function createTimers({ clock, locks, log, chores }: TimersDeps) {
  const stopping = new AbortController();
  // Each chore listens; Node 20 takes more than ten for a leak.
  setMaxListeners(0, stopping.signal);
  let running: Promise<unknown> = Promise.resolve();

  function turnOf({ everyMs }: Chore): Turn {
    const endsAt = clock.elapsed() + everyMs * share;
    return { isOver: () => stopping.signal.aborted || clock.elapsed() >= endsAt };
  }

  /** The lease is kept until it runs out, so that the next process does not repeat the chore at once. */
  async function isOurs({ name, everyMs, onEveryProcess, onDatabaseAlone }: Chore): Promise<boolean> {
    if (onEveryProcess) return true;
    try {
      return await locks.acquire(`chore/${name}`, Math.max(1_000, everyMs - 500));
    } catch (error) {
      if (onDatabaseAlone && error instanceof SharedStateUnavailable) return true;
      throw error;
    }
  }

  async function once(chore: Chore): Promise<void> {
    try {
      if (await isOurs(chore)) await chore.run(turnOf(chore));
    } catch (error) {
      log.warn({ error, chore: chore.name }, 'chore failed; it will run again');
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
