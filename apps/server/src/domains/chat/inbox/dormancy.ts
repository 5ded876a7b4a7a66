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

/** Entries that a page may walk before the rest is settled, and how many of them stay awake then. */
const [awakeMax, awakeKept] = [100, 20];
/** So long nothing has happened in a conversation at rest. */
const restMs = 60_000;
/** Who has settled is not looked at again before that: all else may be muted, or busy. */
const pauseMs = 60_000;
const batchMax = 200;
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

  /** Whose page walked so many; nobody waits for what comes of it. */
  function noticed({ projectId, environment }: ProjectScope, userId: string, awake: number): void {
    if (awake < awakeMax || isStopped || waiting.size >= waitingMax) return;
    const key = `${projectId}/${environment}/${userId}`;
    if ((paused.get(key) ?? 0) > clock.now()) return;
    waiting.set(key, { scope: { projectId, environment }, userId });
    running ??= workOff();
  }

  async function workOff(): Promise<void> {
    for (const [key, owner] of waiting) {
      if (isStopped) break;
      await settleAll(owner).catch((error) => log.warn({ error }, 'inbox not settled'));
      paused.set(key, clock.now() + pauseMs);
      waiting.delete(key);
    }
    for (const [key, until] of paused) if (until <= clock.now()) paused.delete(key);
    running = null;
  }

  /** Gives how many went dormant. */
  async function settleAll({ scope, userId }: Owner, kept = awakeKept, quietMs = restMs): Promise<number> {
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
    noticed,
    settle: settleAll,
    async stop(): Promise<void> {
      isStopped = true;
      await running;
    },
  };
}
