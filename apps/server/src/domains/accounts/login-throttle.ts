import { fail } from '@parley/contract';
import type { Clock } from '../../core/clock.ts';
import { type Counters, SharedStateUnavailable } from '../../core/ports.ts';
import { hashOf } from './secrets.ts';

/**
 * Slows down guessing at one account from many addresses. It delays where the rate limiter refuses: the right password
 * gets in after the wait (ADR 12). Unknown addresses are counted too.
 */
export interface LoginThrottle {
  /** Counts an attempt and waits as long as those before it have earned. */
  wait(email: string): Promise<void>;
  /** The right password: the next attempt is the first again. */
  clear(email: string): Promise<void>;
}

const windowMs = 15 * 60_000;
const freeAttempts = 8;
const firstDelayMs = 250;
const delayMsMax = 4_000;
/** Without the shared counter guesses cannot be counted, so every login is delayed a little. */
const blindDelayMs = 1_000;
const waitingMax = 500;

export function createLoginThrottle({ counters, clock }: { counters: Counters; clock: Clock }): LoginThrottle {
  let waiting = 0;
  const keyOf = (email: string): string => `login:${hashOf(email.toLowerCase())}`;

  async function delayMs(email: string): Promise<number> {
    try {
      const { count } = await counters.hit(keyOf(email), windowMs);
      return count <= freeAttempts ? 0 : Math.min(delayMsMax, firstDelayMs * 2 ** (count - freeAttempts - 1));
    } catch (error) {
      if (error instanceof SharedStateUnavailable) return blindDelayMs;
      throw error;
    }
  }

  return {
    async wait(email) {
      const ms = await delayMs(email);
      if (ms === 0) return;
      if (waiting >= waitingMax) fail('SVC_SERVICE_UNAVAILABLE', { retryAfterSeconds: 1 });
      waiting++;
      await clock.sleep(ms).finally(() => waiting--);
    },
    async clear(email) {
      await counters.reset(keyOf(email)).catch((error) => {
        if (!(error instanceof SharedStateUnavailable)) throw error;
      });
    },
  };
}
