import type { ProjectScope } from '../../../core/caller.ts';
import { type Clock, iso } from '../../../core/clock.ts';
import type { Db } from '../../../core/db.ts';
import type { Log } from '../../../core/log.ts';
import { findAtRest, settle } from './settle-store.ts';

interface DormancyDeps {
  db: Db;
  clock: Clock;
  log: Log;
}

/** Of the entries at rest so many stay awake: those are the next to be written to. */
const awakeKept = 20;
/** So long nothing has happened in a conversation at rest. */
const dormantAfterMs = 120_000;
/** Who has settled is not looked at again before that: all else may be muted, or busy. */
const pauseMs = 120_000;
/** A send to one of them waits for all. */
const batchMax = 100;
const waitingMax = 100;

interface Owner {
  scope: ProjectScope;
  userId: string;
}

export type Dormancy = ReturnType<typeof createDormancy>;

/** Lets those entries of large inboxes go dormant in which nothing happens (ADR 0224), behind the reader's back. */
export function createDormancy({ db, clock, log }: DormancyDeps) {
  const waiting = new Map<string, Owner>();
  /** Until when an owner is left alone. */
  const paused = new Map<string, number>();
  let running: Promise<void> | null = null;
  let isStopped = false;

  /** For who has a large inbox; nobody waits for what comes of it. */
  function wanted({ projectId, environment }: ProjectScope, userId: string): void {
    if (isStopped || waiting.size >= waitingMax) return;
    const key = `${projectId}/${environment}/${userId}`;
    if ((paused.get(key) ?? 0) > clock.now()) return;
    waiting.set(key, { scope: { projectId, environment }, userId });
    running ??= drainDue();
  }

  async function drainDue(): Promise<void> {
    for (const [key, owner] of waiting) {
      if (isStopped) break;
      await settleAll(owner).catch((error) => log.warn({ error }, 'inbox not settled'));
      waiting.delete(key);
      pause(key);
    }
    running = null;
  }

  function pause(key: string): void {
    const now = clock.now();
    paused.set(key, now + pauseMs);
    // Those that end first come first.
    for (const [other, until] of paused) {
      if (until > now) break;
      paused.delete(other);
    }
  }

  /** Gives how many went dormant. */
  async function settleAll({ scope, userId }: Owner, kept = awakeKept, quietMs = dormantAfterMs): Promise<number> {
    const before = iso(clock.now() - quietMs);
    const ids = await findAtRest(db, scope, { userId, before, kept });
    let settled = 0;
    for (let at = 0; at < ids.length && !isStopped; at += batchMax) {
      const conversationIds = ids.slice(at, at + batchMax).sort();
      const batch = { userId, conversationIds, before, now: iso(clock.now()) };
      settled += await db.transaction((tx) => settle(tx, scope, batch));
    }
    return settled;
  }

  return {
    wanted,
    settle: settleAll,
    async stop(): Promise<void> {
      isStopped = true;
      await running;
    },
  };
}
