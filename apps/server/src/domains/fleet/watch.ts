import { type Clock, iso } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import type { Due } from '../../core/due-store.ts';
import { deleteProcesses, isAnySilent, listSilentProcesses, touchProcess, touchWatch } from './watch-store.ts';

/** Who has been silent for how long, judged only while we ourselves were there to listen. */
export interface Watch {
  readonly processId: string;
  /** What was last seen before this is offline; null while our own absence makes that unknowable. */
  silentBefore(timeoutMs: number): string | null;
  /** Server processes that died, with the moment they were last seen. */
  deadProcesses(): Promise<{ id: string; seenAt: string }[]>;
  /** True while `deadProcesses` finds one that died a short while ago: what it left is dealt with by then. */
  hasDead(): Due;
  /** Says that this process is alive. Every few seconds. */
  beat(): Promise<void>;
  /** Deletes the rows of processes that died long ago. */
  forgetProcesses(): Promise<number>;
}

export const beatEveryMs = 5_000;
const gapMs = 10_000;
const processTimeoutMs = 15_000;
const recentlySilentMs = 5 * 60_000;
const forgetProcessAfterMs = 24 * 60 * 60_000;

export function createWatch({ db, clock, processId }: { db: Db; clock: Clock; processId: string }): Watch {
  /** Null until the first beat: before it, nothing is known. */
  let receivingSince: number | null = null;
  let beatAt = 0;

  function silentBefore(timeoutMs: number): string | null {
    const now = clock.now();
    // While we could not store, no other process could: only a heartbeat shows since when we listen again.
    const wasAbsent = now - beatAt > gapMs;
    return receivingSince === null || wasAbsent || receivingSince > now - timeoutMs ? null : iso(now - timeoutMs);
  }

  return {
    processId,
    silentBefore,
    async deadProcesses() {
      const cutoff = silentBefore(processTimeoutMs);
      return cutoff === null ? [] : listSilentProcesses(db, cutoff);
    },
    hasDead() {
      const cutoff = silentBefore(processTimeoutMs);
      return cutoff !== null && isAnySilent(cutoff, iso(clock.now() - recentlySilentMs));
    },
    async beat() {
      const now = clock.now();
      receivingSince = Date.parse(await touchWatch(db, iso(now), iso(now - gapMs)));
      beatAt = now;
      await touchProcess(db, processId, iso(now));
    },
    forgetProcesses: () => deleteProcesses(db, iso(clock.now() - forgetProcessAfterMs)),
  };
}
