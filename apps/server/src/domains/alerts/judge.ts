import type { AlertState } from '@parley/contract';

/** What a look at the stored figures found. */
export interface Reading {
  /** Whether it is as the alert fears; null where there is too little to say. */
  holds: boolean | null;
  value: number | null;
  detail: string | null;
}

export interface Standing {
  state: AlertState;
  silencedUntil: string | null;
  isBreached: boolean;
  isTold: boolean;
  streak: number;
}

/** So many evaluations in a row begin it, and so many end it: what comes and goes is told once. */
export const evaluationsToFire = 2;
export const evaluationsToResolve = 5;

export interface Verdict extends Standing {
  /** Null: there is nothing to tell. */
  tells: 'firing' | 'resolved' | null;
}

/** Where an alert stands after one more evaluation. */
export function judge(before: Standing, { holds }: Reading, now: string): Verdict {
  const { isBreached, streak } = breachOf(before, holds);
  const silencedUntil = before.silencedUntil !== null && before.silencedUntil > now ? before.silencedUntil : null;
  const isSilent = silencedUntil !== null;
  const isNews = !isSilent && isBreached !== before.isTold;
  return {
    state: stateOf({ isBreached, silencedUntil }),
    silencedUntil,
    isBreached,
    isTold: isNews ? isBreached : before.isTold,
    streak,
    tells: isNews ? (isBreached ? 'firing' : 'resolved') : null,
  };
}

const stateOf = ({ isBreached, silencedUntil }: Pick<Standing, 'isBreached' | 'silencedUntil'>): AlertState =>
  silencedUntil !== null ? 'SILENCED' : isBreached ? 'FIRING' : 'OK';

function breachOf({ isBreached, streak }: Standing, holds: boolean | null) {
  if (holds === null || holds === isBreached) return { isBreached, streak: 0 };
  const enough = isBreached ? evaluationsToResolve : evaluationsToFire;
  return streak + 1 >= enough ? { isBreached: holds, streak: 0 } : { isBreached, streak: streak + 1 };
}
