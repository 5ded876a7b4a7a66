import type { RouteRow } from '@parley/contract';
import { addressKey } from '../core/addresses.ts';
import type { Caller } from '../core/caller.ts';
import type { RateLimiter } from '../core/rate-limiter.ts';

/** Spends one request of the row's budget; gives the headers that say what is left, or 429. */
export type Spend = (name: string, row: RouteRow, caller: Caller, ip: string) => Promise<Record<string, string>>;

export function createSpend(rateLimiter: RateLimiter): Spend {
  return async (name, row, caller, ip): Promise<Record<string, string>> => {
    if (row.budget === undefined) return {};
    const key = `budget:${name}:${budgetIdentity(caller, ip)}`;
    const { remaining, resetSeconds } = await rateLimiter.spend(key, row.budget);
    return {
      'x-ratelimit-limit': String(row.budget),
      'x-ratelimit-remaining': String(remaining),
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
