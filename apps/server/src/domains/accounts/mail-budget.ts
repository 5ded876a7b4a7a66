import { SharedStateUnavailable } from '../../core/ports.ts';
import type { RateLimiter } from '../../core/rate-limiter.ts';

/** Whether a person may get one more letter of this sort within the hour. */
export type MailBudget = (sort: 'VERIFY' | 'RESET' | 'REGISTERED' | 'NEW_DEVICE', userId: string) => Promise<boolean>;

const hourMs = 60 * 60_000;
/** Budgets are by the sender's address; this keeps many senders from flooding one mailbox. */
const mailsPerHourMax = 10;

export function createMailBudget({ rateLimiter }: { rateLimiter: RateLimiter }): MailBudget {
  return async (sort, userId) => {
    try {
      return (await rateLimiter.take(`mail:${sort}:${userId}`, mailsPerHourMax, hourMs)).isAllowed;
    } catch (error) {
      // Fails open: the shared counter being down must not block a password reset.
      if (error instanceof SharedStateUnavailable) return true;
      throw error;
    }
  };
}
