import type { Queryable, Tx } from '../../../core/db.ts';
import { sql } from '../../../core/sql.ts';

export type ChallengePurpose = 'SIGN_IN' | 'PASSKEY_SIGN_IN' | 'STEP_UP' | 'ADD_PASSKEY';

/** A challenge that has not expired, by the hash of its secret. */
interface ChallengeKey {
  tokenHash: string;
  purpose: ChallengePurpose;
  now: string;
}

interface NewChallenge {
  tokenHash: string;
  purpose: ChallengePurpose;
  userId: string | null;
  expiresAt: string;
}

export async function insertChallenge(db: Queryable, challenge: NewChallenge): Promise<void> {
  await db.execute(sql`
    insert into factor_challenges (token_hash, purpose, user_id, expires_at)
    values (${challenge.tokenHash}, ${challenge.purpose}, ${challenge.userId}, ${challenge.expiresAt})`);
}

export async function findChallenge(db: Queryable, key: ChallengeKey): Promise<{ userId: string | null } | undefined> {
  const [row] = await db.query<{ userId: string | null }>(sql`
    select user_id as "userId" from factor_challenges
    where token_hash = ${key.tokenHash} and purpose = ${key.purpose} and expires_at > ${key.now}`);
  return row;
}

/** Uses it up: of any number of calls at once exactly one gets it. */
export async function claimChallenge(tx: Tx, key: ChallengeKey): Promise<{ userId: string | null } | undefined> {
  const [row] = await tx.query<{ userId: string | null }>(sql`
    delete from factor_challenges
    where token_hash = ${key.tokenHash} and purpose = ${key.purpose} and expires_at > ${key.now}
    returning user_id as "userId"`);
  return row;
}

/** What was on its way for a user ends: a sign-in with a password that is no longer theirs, for one. */
export async function deleteChallengesOf(tx: Tx, userId: string): Promise<void> {
  await tx.execute(sql`delete from factor_challenges where user_id = ${userId}`);
}

export async function deleteExpiredChallenges(db: Queryable, now: string, limit: number): Promise<number> {
  return db.execute(sql`
    delete from factor_challenges where ctid = any(array(
      select ctid from factor_challenges where expires_at <= ${now} limit ${limit}))`);
}
