import type { Limits } from '@parley/contract';
import { wholeSeconds } from '../core/rate-limiter.ts';

export type MeterVerdict = { is: 'accept' | 'ignore' } | { is: 'warn' | 'close'; retryAfterSeconds: number };

/** Frames over budget that are ignored before the connection is closed. */
const strikesMax = 20;

/** Frames of one connection in a fixed window: over the limit one warning, then silence, then the end. */
export function createFrameMeter(limit: number | null, limits: Limits): { count(now: number): MeterVerdict } {
  const windowMs = limits.RATE_LIMIT_WINDOW_SECONDS * 1000;
  let count = 0;
  let until = 0;

  return {
    count(now) {
      if (limit === null) return { is: 'accept' };
      if (now >= until) {
        count = 0;
        until = now + windowMs;
      }
      count++;
      const retryAfterSeconds = wholeSeconds(until - now);
      if (count <= limit) return { is: 'accept' };
      if (count === limit + 1) return { is: 'warn', retryAfterSeconds };
      return count > limit + strikesMax ? { is: 'close', retryAfterSeconds } : { is: 'ignore' };
    },
  };
}
