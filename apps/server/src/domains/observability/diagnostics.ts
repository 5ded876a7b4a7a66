import type { Dependency, DependencyStatus, Diagnostics } from '@parley/contract';
import { type Clock, iso } from '../../core/clock.ts';

/** One look at a dependency. Throwing means that it is down. */
export type Check = () => Promise<{ status?: DependencyStatus; latencyMs?: number | null; message?: string | null }>;

const patienceMs = 2_000;

/** Asks every dependency at once; one that does not answer in time is down, not unknown. */
export function createDiagnostics({ clock, checks }: { clock: Clock; checks: Readonly<Record<string, Check>> }) {
  async function look(name: string, check: Check): Promise<Dependency> {
    const checkedAt = iso(clock.now());
    try {
      const { status = 'OK', latencyMs = null, message = null } = await inTime(check());
      return {
        name,
        status,
        latencyMs: latencyMs === null ? null : Math.round(latencyMs * 100) / 100,
        checkedAt,
        message,
      };
    } catch (error) {
      const message = error instanceof TooSlow ? `No answer within ${patienceMs / 1000} s.` : 'It does not answer.';
      return { name, status: 'DOWN', latencyMs: null, checkedAt, message };
    }
  }

  return async (): Promise<Diagnostics> => {
    const dependencies = await Promise.all(Object.entries(checks).map(([name, check]) => look(name, check)));
    return { status: worstOf(dependencies.map(({ status }) => status)), checkedAt: iso(clock.now()), dependencies };
  };
}

/** The service as a whole is down only with its database; anything else degrades it. */
function worstOf(statuses: readonly DependencyStatus[]): DependencyStatus {
  if (statuses[0] === 'DOWN') return 'DOWN';
  return statuses.every((status) => status === 'OK' || status === 'UNKNOWN') ? 'OK' : 'DEGRADED';
}

class TooSlow extends Error {}

async function inTime<T>(work: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new TooSlow()), patienceMs);
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
