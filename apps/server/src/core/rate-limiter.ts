import { fail, type LimitName, type Limits } from '@parley/contract';
import type { Caller, ProjectScope } from './caller.ts';
import type { Counters } from './ports.ts';

/** What is left of a budget. */
interface Allowance {
  isAllowed: boolean;
  remaining: number;
  /** Until the window ends; at least 1. */
  resetSeconds: number;
}

/** How often something may happen: fixed windows that start with the first use, counted over all processes. */
export interface RateLimiter {
  /** Takes one of `limit` uses of `key`. A window is RATE_LIMIT_WINDOW_SECONDS long by default. */
  take(key: string, limit: number, windowMs?: number): Promise<Allowance>;
  /** The same, or SVC_RATE_LIMITED when nothing is left. */
  spend(key: string, limit: number, windowMs?: number): Promise<Allowance>;
  /** Spends a row of the limits table for one subject of a project, over REST and sockets together. */
  spendFor(name: LimitName, scope: ProjectScope, subject: string): Promise<Allowance>;
  /** The next use of `key` is the first again. */
  clear(key: string): Promise<void>;
}

export function createRateLimiter({ counters, limits }: { counters: Counters; limits: Limits }): RateLimiter {
  const defaultWindowMs = limits.RATE_LIMIT_WINDOW_SECONDS * 1000;

  async function take(key: string, limit: number, windowMs = defaultWindowMs): Promise<Allowance> {
    const { taken, count, remainingMs } = await counters.take(key, windowMs, limit);
    return { isAllowed: taken, remaining: Math.max(0, limit - count), resetSeconds: wholeSeconds(remainingMs) };
  }

  async function spend(key: string, limit: number, windowMs?: number): Promise<Allowance> {
    const allowance = await take(key, limit, windowMs);
    return allowance.isAllowed ? allowance : fail('SVC_RATE_LIMITED', { retryAfterSeconds: allowance.resetSeconds });
  }

  return {
    take,
    spend,
    spendFor: (name, { projectId, environment }, subject) =>
      spend(`budget:${name}:${projectId}:${environment}:${subject}`, limits[name]),
    clear: (key) => counters.reset(key),
  };
}

/** One budget for both doors, counted for users; a developer's backend has none. */
export async function spendUserBudget(limiter: RateLimiter, name: LimitName, caller: Caller): Promise<void> {
  if (caller.kind === 'chatToken') await limiter.spendFor(name, caller, caller.userId);
}

/** The `retryAfterSeconds` of a wait: never 0, never too short. */
export const wholeSeconds = (ms: number): number => Math.max(1, Math.ceil(ms / 1000));
