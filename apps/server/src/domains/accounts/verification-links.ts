import { type Clock, iso } from '../../core/clock.ts';
import type { Db, Tx } from '../../core/db.ts';
import type { MailBudget } from './mail-budget.ts';
import { hashOf, newSecret } from './secrets.ts';
import { lockUser, type UserRow } from './user-store.ts';
import {
  claimVerificationLink,
  findVerificationLink,
  insertVerificationLink,
  replaceVerificationLinks,
} from './verification-link-store.ts';

/** The secrets in links that prove an address: good once, for a day, and void as soon as one of them was used. */
export interface VerificationLinks {
  /**
   * A link beside the others, or null when the address was mailed too often lately. Called with the token alone from
   * the address `confirmsFrom`, it confirms what was registered.
   */
  add(userId: string, confirmsFrom: string | null): Promise<string | null>;
  /** A link in the place of the others. */
  renew(userId: string): Promise<string | null>;
  /** Whose it is, without using it. */
  find(token: string): Promise<{ email: string; expiresAt: string } | undefined>;
  /** Uses it up. The user is locked until the transaction ends. */
  claim(tx: Tx, token: string): Promise<{ user: UserRow; confirmsFrom: string | null } | undefined>;
}

const lifeMs = 24 * 60 * 60_000;

export function createVerificationLinks(deps: { db: Db; clock: Clock; mayMail: MailBudget }): VerificationLinks {
  const { db, clock, mayMail } = deps;
  const now = (): string => iso(clock.now());

  async function issue(
    userId: string,
    store: (link: { userId: string; tokenHash: string; createdAt: string; expiresAt: string }) => Promise<void>,
  ): Promise<string | null> {
    if (!(await mayMail('VERIFY', userId))) return null;
    const token = newSecret();
    await store({ userId, tokenHash: hashOf(token), createdAt: now(), expiresAt: iso(clock.now() + lifeMs) });
    return token;
  }

  return {
    add: (userId, confirmsFrom) => issue(userId, (link) => insertVerificationLink(db, { ...link, confirmsFrom })),
    renew: (userId) => issue(userId, (link) => replaceVerificationLinks(db, link)),
    find: (token) => findVerificationLink(db, hashOf(token), now()),
    async claim(tx, token) {
      const found = await findVerificationLink(tx, hashOf(token), now());
      if (!found) return undefined;
      // The user before the link: two links of one address that are used at once wait here, in one order.
      const user = await lockUser(tx, found.userId);
      const link = await claimVerificationLink(tx, hashOf(token));
      return link && user.emailVerifiedAt === null ? { user, ...link } : undefined;
    },
  };
}
