import type { Tx } from '../../core/db.ts';
import type { Factors } from './factors/factors.ts';
import { deleteMailTokensOf } from './mail-token-store.ts';
import type { Sessions } from './sessions.ts';
import { type UserRow, updateClaimed } from './user-store.ts';
import type { Users } from './users.ts';
import { deleteVerificationLinksOf } from './verification-link-store.ts';

interface Claim {
  passwordHash: string | null;
  name: string | null;
  at: string;
}

/** What becomes of an account when its owner is proven. */
export interface Claims {
  /** Password and name are the claim's; links that were mailed before are void. */
  confirm(tx: Tx, userId: string, claim: Claim): Promise<UserRow>;
  /** Nothing that others set before stays: factors and sessions end too. `ended` is to be announced after the commit. */
  takeOver(tx: Tx, userId: string, claim: Claim): Promise<{ user: UserRow; ended: string[] }>;
}

export function createClaims(deps: { users: Users; factors: Factors; sessions: Sessions }): Claims {
  const { users, factors, sessions } = deps;

  async function confirm(tx: Tx, userId: string, claim: Claim): Promise<UserRow> {
    const proven = await updateClaimed(tx, userId, claim);
    await deleteVerificationLinksOf(tx, userId);
    await deleteMailTokensOf(tx, userId);
    return users.becameReady(tx, proven);
  }

  return {
    confirm,
    async takeOver(tx, userId, claim) {
      const user = await confirm(tx, userId, claim);
      await factors.deleteAll(tx, userId);
      return { user, ended: await sessions.endAll(tx, userId) };
    },
  };
}
