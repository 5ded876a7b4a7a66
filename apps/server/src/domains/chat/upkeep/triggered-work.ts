import { type Clock, iso } from '../../../core/clock.ts';
import { type Turn, withoutDeadline } from '../../../core/delete-in-batches.ts';
import type { Due } from '../../../core/due-store.ts';
import type { Log } from '../../../core/log.ts';

/** What is due now is nobody else's until then. */
export interface ClaimRange {
  now: string;
  until: string;
  limit: number;
}

interface Work<Item> {
  /** As the log calls it. */
  what: string;
  claimMs: number;
  batchMax: number;
  claim(range: ClaimRange): Promise<readonly Item[]>;
  attempt(due: readonly Item[]): Promise<unknown>;
  /** True while `claim` finds any. */
  isAnyDue(now: string): Due;
}

/** Work on claimed rows: a chore, and at once for who has just made one. */
export function createTriggeredWork<Item>({ log, clock }: { log: Log; clock: Clock }, work: Work<Item>) {
  const { what, claimMs, batchMax, claim, attempt, isAnyDue } = work;
  let running: Promise<unknown> | null = null;
  let isAsked = false;
  let isStopped = false;

  async function drainDue(turn: Turn): Promise<number> {
    for (let total = 0; ; ) {
      const now = clock.now();
      const due = await claim({ now: iso(now), until: iso(now + claimMs), limit: batchMax });
      await attempt(due);
      total += due.length;
      if (due.length === 0 || isStopped || turn.isOver()) return total;
    }
  }

  /** One run at a time in a process; who asks during it has another one after it. */
  async function run(turn: Turn = withoutDeadline): Promise<number> {
    while (running) await running.catch(() => {});
    if (isStopped) return 0;
    const mine = drainDue(turn);
    running = mine;
    try {
      return await mine;
    } finally {
      running = null;
    }
  }

  return {
    run,
    isDue: () => isAnyDue(iso(clock.now())),
    isStopped: () => isStopped,
    /** Nobody waits for what comes of it. */
    trigger(): void {
      if (isAsked || isStopped) return;
      isAsked = true;
      setImmediate(() => {
        isAsked = false;
        run().catch((error) => log.warn({ error }, `${what} failed; it will be tried again`));
      });
    },
    async stop(): Promise<void> {
      isStopped = true;
      await running?.catch(() => {});
    },
  };
}
