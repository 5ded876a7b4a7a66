import { type Clock, iso } from '../../core/clock.ts';
import type { Db, Tx } from '../../core/db.ts';
import type { MailBudget } from './mail-budget.ts';
import { claimResetToken, hasResetToken, replaceResetToken } from './mail-token-store.ts';
import { hashOf, newSecret } from './secrets.ts';

/** The secrets in links that set a new password: good once, for an hour, and only the newest. */
export interface ResetLinks {
  /** A new secret for the user, or null when the address was mailed too often lately. */
  issue(userId: string): Promise<string | null>;
  /** Looks without using it up. */
  isGood(token: string): Promise<boolean>;
  /** Uses it up and says whose it was. */
  claim(tx: Tx, token: string): Promise<string | undefined>;
}

const lifeMs = 60 * 60_000;

export function createResetLinks(deps: { db: Db; clock: Clock; mayMail: MailBudget }): ResetLinks {
  const { db, clock, mayMail } = deps;
  const now = (): string => iso(clock.now());
  return {
    async issue(userId) {
      if (!(await mayMail('RESET', userId))) return null;
      const token = newSecret();
      const expiresAt = iso(clock.now() + lifeMs);
      await replaceResetToken(db, { userId, tokenHash: hashOf(token), createdAt: now(), expiresAt });
      return token;
    },
    isGood: (token) => hasResetToken(db, hashOf(token), now()),
    claim: (tx, token) => claimResetToken(tx, hashOf(token), now()),
  };
}
