import type { ProjectScope } from './caller.ts';
import type { Clock } from './clock.ts';

/** An answer that took this long is given again for so many times as long. */
const slowMs = 500;
const cacheTimes = 20;
const cacheMsMax = 30_000;

/** What is counted grows with a project: looking at a large one all the time must cost a bounded share of the database. */
export function cacheSlowReads<T>(clock: Clock, read: (scope: ProjectScope) => Promise<T>) {
  const slow = new Map<string, { answer: T; until: number }>();
  return async (scope: ProjectScope): Promise<T> => {
    const key = `${scope.projectId} ${scope.environment}`;
    const known = slow.get(key);
    if (known && clock.elapsed() < known.until) return known.answer;
    slow.delete(key);
    const started = clock.elapsed();
    const answer = await read(scope);
    const took = clock.elapsed() - started;
    if (took >= slowMs) slow.set(key, { answer, until: clock.elapsed() + Math.min(took * cacheTimes, cacheMsMax) });
    return answer;
  };
}
