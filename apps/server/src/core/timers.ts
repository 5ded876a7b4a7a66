import type { Clock } from './clock.ts';
import type { Reader } from './db.ts';
import type { Turn } from './delete-in-batches.ts';
import { type Due, findDue } from './due-store.ts';
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
  /**
   * Whether `run` would find anything. All of one moment are asked in one statement, and nothing runs that has nothing to
   * do. It may say yes in vain; a wrong no is made good within `unaskedMs`.
   */
  isDue?(): Due;
}

interface TimersDeps {
  clock: Clock;
  db: Reader;
  locks: Locks;
  log: Log;
  chores: readonly Chore[];
}

/** Of the time from one run to the next: the rest is for those who write. */
const share = 0.5;
/** For so long a chore is left to its `isDue`; then it runs once whatever that says. */
const unaskedMs = 30_000;
/** A lease ends so long before its holder's next run. */
const leaseSlackMs = 500;

/** The first multiple of the period after `now`. */
function nextTurn(startedAt: number, everyMs: number, now: number): number {
  const next = startedAt + (Math.floor((now - startedAt) / everyMs) + 1) * everyMs;
  // A period that is no whole number may be rounded to the moment that has just come.
  return next > now ? next : next + everyMs;
}

interface Entry {
  chore: Chore;
  nextAt: number;
  /** When it last ran, or was another's to run. */
  ranAt: number;
  isRunning: boolean;
}

/**
 * Runs the chores of every part, each at the multiples of its period since the start (ADR 228): those of one moment wake
 * the process once, and processes keep the distance that their starts had.
 */
export function createTimers({ clock, db, locks, log, chores }: TimersDeps) {
  const stopping = new AbortController();
  const running = new Set<Promise<void>>();
  let ticking: Promise<void> = Promise.resolve();

  function turnOf({ everyMs }: Chore): Turn {
    const endsAt = clock.elapsed() + everyMs * share;
    return { isOver: () => stopping.signal.aborted || clock.elapsed() >= endsAt };
  }

  /** The lease is kept until it runs out, so that the next process does not repeat the chore at once. */
  async function isOurs({ chore, nextAt }: Entry): Promise<boolean> {
    const { name, everyMs, onEveryProcess, onDatabaseAlone } = chore;
    if (onEveryProcess) return true;
    // By the grid, however late this run is: it must not keep its own process from the next one.
    const leaseMs = Math.max(everyMs / 4, nextAt - leaseSlackMs - clock.elapsed());
    try {
      return await locks.acquire(`chore/${name}`, leaseMs);
    } catch (error) {
      if (onDatabaseAlone && error instanceof SharedStateUnavailable) return true;
      throw error;
    }
  }

  async function once(entry: Entry): Promise<void> {
    const { chore } = entry;
    entry.ranAt = clock.elapsed();
    try {
      if (await isOurs(entry)) await chore.run(turnOf(chore));
    } catch (error) {
      log.warn({ error, chore: chore.name }, 'chore failed; it will run again');
    }
  }

  /** While nobody can say what is due, everything is. */
  async function askAll(entries: readonly Entry[]): Promise<boolean[]> {
    try {
      return await findDue(
        db,
        entries.map(({ chore }) => chore.isDue?.() ?? true),
      );
    } catch (error) {
      log.warn({ error }, 'not known which chores have something to do; all of them run');
      return entries.map(() => true);
    }
  }

  function track(work: Promise<void>): void {
    const tracked = work.finally(() => running.delete(tracked));
    running.add(tracked);
  }

  /** One that still runs goes on, and its turn is left out. */
  async function runFree(entries: readonly Entry[], due: Promise<boolean[]> | null): Promise<void> {
    const free = entries.map((entry) => !entry.isRunning);
    for (const entry of entries) entry.isRunning = true;
    const answers = await due;
    await Promise.all(
      entries.map(async (entry, at) => {
        if (!free[at]) return;
        const isUnasked = clock.elapsed() - entry.ranAt >= unaskedMs;
        if (((answers?.[at] ?? true) || isUnasked) && !stopping.signal.aborted) await once(entry);
        entry.isRunning = false;
      }),
    );
  }

  async function tickUntilStopped(): Promise<void> {
    const startedAt = clock.elapsed();
    const entries = chores.map(
      (chore): Entry => ({ chore, nextAt: startedAt + chore.everyMs, ranAt: startedAt, isRunning: false }),
    );
    while (entries.length > 0) {
      const nextAt = Math.min(...entries.map((entry) => entry.nextAt));
      await clock.sleep(Math.max(0, nextAt - clock.elapsed()), stopping.signal);
      if (stopping.signal.aborted) return;
      const now = clock.elapsed();
      const come = entries.filter(({ nextAt }) => nextAt <= now);
      for (const entry of come) entry.nextAt = nextTurn(startedAt, entry.chore.everyMs, now);
      // Those that run are asked for too: few sets of chores mean few texts, and each is planned once.
      const asked = come.filter(({ chore }) => chore.isDue);
      track(runFree(asked, asked.some(({ isRunning }) => !isRunning) ? askAll(asked) : null));
      track(
        runFree(
          come.filter(({ chore }) => !chore.isDue),
          null,
        ),
      );
    }
  }

  return {
    /** Moments whose chores have not ended. */
    inFlight: (): number => running.size,
    start(): void {
      ticking = tickUntilStopped();
    },
    async stop(): Promise<void> {
      stopping.abort();
      await ticking;
      await Promise.all(running);
    },
  };
}
