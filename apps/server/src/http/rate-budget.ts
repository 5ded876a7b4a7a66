import { fail, type RouteRow } from '@parley/contract';
import { addressKey } from '../core/addresses.ts';
import type { Caller } from '../core/caller.ts';
import type { Counters } from '../core/ports.ts';

/** Spends one request of the row's budget; gives the headers that say what is left, or 429. */
export type Spend = (name: string, row: RouteRow, caller: Caller, ip: string) => Promise<Record<string, string>>;

export function createSpend({ counters, windowSeconds }: { counters: Counters; windowSeconds: number }): Spend {
  return async (name, row, caller, ip): Promise<Record<string, string>> => {
    if (row.budget === undefined) return {};
    const key = `budget:${name}:${budgetIdentity(caller, ip)}`;
    const { count, remainingMs, taken } = await counters.take(key, windowSeconds * 1000, row.budget);
    const resetSeconds = Math.max(1, Math.ceil(remainingMs / 1000));
    if (!taken) fail('SVC_RATE_LIMITED', { retryAfterSeconds: resetSeconds });
    return {
      'x-ratelimit-limit': String(row.budget),
      'x-ratelimit-remaining': String(Math.max(0, row.budget - count)),
      'x-ratelimit-reset': String(resetSeconds),
    };
  };
}

/** The most specific identity the request carries; never combined with the address once there is one. */
function budgetIdentity(caller: Caller, ip: string): string {
  switch (caller.kind) {
    case 'apiKey':
      return `key:${caller.publicId}`;
    case 'session':
      return `user:${caller.userId}`;
    case 'rtcToken':
    case 'chatToken':
      return `token:${caller.tokenId}`;
    case 'sfuSecret':
    case 'none':
      return `ip:${addressKey(ip)}`;
  }
}
