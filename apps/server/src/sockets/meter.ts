/** What one use of a limit on a connection came to. */
export interface Reading {
  /** By how many the uses of this window exceed the limit. */
  excess: number;
  remainingMs: number;
}

/** Counts what one connection does in fixed windows that start with the first use; `null` counts and never exceeds. */
export function createMeter(limit: number | null, windowMs: number): (now: number) => Reading {
  let count = 0;
  let until = 0;
  return (now) => {
    if (now >= until) [count, until] = [0, now + windowMs];
    count++;
    return { excess: limit === null ? 0 : Math.max(0, count - limit), remainingMs: until - now };
  };
}
