import type { Change } from './records.ts';

/**
 * Puts numbered changes in order: each is delivered once, without a gap. Duplicates are dropped, early ones
 * wait until the gap is filled.
 */
export interface ChangeLog {
  /** Number of the last change given on; null before the first subscription. */
  readonly last: number | null;
  /** True while changes wait for one that is missing. */
  readonly hasGap: boolean;
  /** Everything up to here is known by other means. */
  start(change: number): void;
  /** A live change: the next one, an early one or a known one. */
  take(change: Change): void;
  /** What was missed, read from the server: with these, everything up to `upTo` is known. */
  cover(changes: readonly Change[], upTo: number): void;
}

export function createChangeLog(onChange: (change: Change) => void): ChangeLog {
  let last: number | null = null;
  const early = new Map<number, Change>();

  function give(change: Change): void {
    last = change.change;
    onChange(change);
  }

  /** Emits the changes whose predecessors have arrived. */
  function release(): void {
    for (const number of early.keys()) if (last !== null && number <= last) early.delete(number);
    for (let next = early.get((last ?? 0) + 1); last !== null && next; next = early.get(last + 1)) {
      early.delete(next.change);
      give(next);
    }
  }

  return {
    get last() {
      return last;
    },
    get hasGap() {
      return early.size > 0;
    },
    start(change) {
      last = change;
      // Numbers of another history mean nothing here.
      early.clear();
    },
    take(change) {
      if (last !== null && change.change <= last) return;
      early.set(change.change, change);
      release();
    },
    cover(changes, upTo) {
      for (const change of changes.toSorted((a, b) => a.change - b.change)) {
        if (last !== null && change.change > last) give(change);
      }
      last = Math.max(last ?? 0, upTo);
      release();
    },
  };
}
