import { type Clock, iso } from '../../core/clock.ts';
import type { Db, Tx } from '../../core/db.ts';
import { SharedStateUnavailable } from '../../core/ports.ts';
import type { RateLimiter } from '../../core/rate-limiter.ts';
import { claimMailToken, hasMailToken, type MailTokenKind, replaceMailToken } from './mail-token-store.ts';
import { hashOf, newSecret } from './secrets.ts';
import type { UserRow } from './user-store.ts';

/** The secrets in mailed links: good once, for a while, and only the newest of each kind. */
export interface MailLinks {
  /** A new secret for the user, or null when the address was mailed too often lately. */
  issue(kind: MailTokenKind, user: UserRow): Promise<string | null>;
  /** Whether the address may get one more mail of this sort within the hour. */
  mayMail(sort: MailTokenKind | 'REGISTERED', user: UserRow): Promise<boolean>;
  /** Looks without using it up. */
  isGood(kind: MailTokenKind, token: string): Promise<boolean>;
  /** Uses it up and says whose it was. */
  claim(tx: Tx, kind: MailTokenKind, token: string): Promise<string | undefined>;
}

interface MailLinksDeps {
  db: Db;
  clock: Clock;
  rateLimiter: RateLimiter;
}

const hourMs = 60 * 60_000;
const lifeMs: Readonly<Record<MailTokenKind, number>> = { VERIFY: 24 * hourMs, RESET: hourMs };
/** Budgets are by the sender's address; this keeps many senders from flooding one mailbox. */
const mailsPerHourMax = 10;

export function createMailLinks({ db, clock, rateLimiter }: MailLinksDeps): MailLinks {
  const now = (): string => iso(clock.now());

  const mayMail: MailLinks['mayMail'] = async (sort, user) => {
    try {
      return (await rateLimiter.take(`mail:${sort}:${user.id}`, mailsPerHourMax, hourMs)).isAllowed;
    } catch (error) {
      // Fails open: the shared counter being down must not block a password reset.
      if (error instanceof SharedStateUnavailable) return true;
      throw error;
    }
  };

  return {
    mayMail,
    async issue(kind, user) {
      if (!(await mayMail(kind, user))) return null;
      const token = newSecret();
      await replaceMailToken(db, {
        userId: user.id,
        kind,
        tokenHash: hashOf(token),
        createdAt: now(),
        expiresAt: iso(clock.now() + lifeMs[kind]),
      });
      return token;
    },
    isGood: (kind, token) => hasMailToken(db, kind, hashOf(token), now()),
    claim: (tx, kind, token) => claimMailToken(tx, kind, hashOf(token), now()),
  };
}
