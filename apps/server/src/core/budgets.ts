import { fail, type LimitName, type Limits } from '@parley/contract';
import type { ProjectScope } from './caller.ts';
import type { Counters } from './ports.ts';

/** Budgets that are a row of the limits table, counted per subject over all processes and both doors (REST, socket). */
export interface Budgets {
  /** Counts one use for `subject` in a project, or SVC_RATE_LIMITED. */
  spend(name: LimitName, scope: ProjectScope, subject: string): Promise<void>;
  /** The same for somebody who has no project yet: an address. Gives the seconds to wait, or null when there is room. */
  waitSeconds(name: LimitName, address: string): Promise<number | null>;
}

export function createBudgets({ counters, limits }: { counters: Counters; limits: Limits }): Budgets {
  const windowMs = limits.RATE_LIMIT_WINDOW_SECONDS * 1000;

  async function waitFor(key: string, limit: number): Promise<number | null> {
    const { taken, remainingMs } = await counters.take(key, windowMs, limit);
    return taken ? null : Math.max(1, Math.ceil(remainingMs / 1000));
  }

  return {
    async spend(name, { projectId, environment }, subject) {
      const retryAfterSeconds = await waitFor(`budget:${name}:${projectId}:${environment}:${subject}`, limits[name]);
      if (retryAfterSeconds !== null) fail('SVC_RATE_LIMITED', { retryAfterSeconds });
    },
    waitSeconds: (name, address) => waitFor(`budget:${name}:${address}`, limits[name]),
  };
}
