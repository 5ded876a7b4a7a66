import { type Clock, iso } from '../../../core/clock.ts';
import type { Db, Queryable, Tx } from '../../../core/db.ts';
import type { DeleteSome } from '../../../core/delete-in-batches.ts';
import { hashOf, newSecret } from '../secrets.ts';
import {
  type ChallengePurpose,
  claimChallenge,
  deleteExpiredChallenges,
  findChallenge,
  insertChallenge,
} from './challenge-store.ts';

/** Secrets that a proof is given for: good once, for ten minutes. A passkey signs the secret itself. */
export interface Challenges {
  issue(db: Queryable, purpose: ChallengePurpose, userId: string | null): Promise<string>;
  /** Whose it is, without using it. */
  find(db: Queryable, purpose: ChallengePurpose, token: string): Promise<{ userId: string | null } | undefined>;
  /** Uses it up: of any number of calls at once exactly one gets it. */
  claim(tx: Tx, purpose: ChallengePurpose, token: string): Promise<{ userId: string | null } | undefined>;
  deleteExpired: DeleteSome;
}

export const challengeMs = 10 * 60_000;

export function createChallenges({ db, clock }: { db: Db; clock: Clock }): Challenges {
  const now = (): string => iso(clock.now());
  return {
    async issue(db, purpose, userId) {
      const token = newSecret();
      const expiresAt = iso(clock.now() + challengeMs);
      await insertChallenge(db, { tokenHash: hashOf(token), purpose, userId, expiresAt });
      return token;
    },
    find: (db, purpose, token) => findChallenge(db, { tokenHash: hashOf(token), purpose, now: now() }),
    claim: (tx, purpose, token) => claimChallenge(tx, { tokenHash: hashOf(token), purpose, now: now() }),
    deleteExpired: (limit) => deleteExpiredChallenges(db, now(), limit),
  };
}
