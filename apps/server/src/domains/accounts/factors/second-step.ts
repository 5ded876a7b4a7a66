import {
  type FactorChallenge,
  fail,
  type PasskeyAssertion,
  type PasskeyRequest,
  type SecondFactor,
} from '@parley/contract';
import type { Db, Tx } from '../../../core/db.ts';
import type { Origin } from '../security-log.ts';
import type { OpenSession, Sessions } from '../sessions.ts';
import { lockUser, type UserRow } from '../user-store.ts';
import type { Users } from '../users.ts';
import type { Challenges } from './challenges.ts';
import type { Factors } from './factors.ts';
import { listPasskeys } from './passkey-store.ts';
import { challengeIn, type Passkeys } from './passkeys.ts';

interface SecondStepDeps {
  db: Db;
  sessions: Sessions;
  users: Users;
  challenges: Challenges;
  factors: Factors;
  passkeys: Passkeys;
}

/** A sign-in as far as it came: a session, or what is still to be proven for one. */
export type Entry = OpenSession | FactorChallenge;

/** Between the first proof (password, provider, mailed link) and the session. */
export interface SecondStep {
  /** To be called in the transaction of the first proof. */
  enter(tx: Tx, user: UserRow): Promise<Entry>;
  /** The second proof. */
  finish(proof: SecondFactor, from: Origin): Promise<OpenSession>;
  startPasskey(): Promise<PasskeyRequest>;
  /** A passkey that has verified its user is both proofs. */
  finishPasskey(assertion: PasskeyAssertion, from: Origin): Promise<OpenSession>;
}

export function createSecondStep({ db, sessions, users, challenges, factors, passkeys }: SecondStepDeps): SecondStep {
  const byFactor = { isByFactor: true };
  const expired = (): never => fail('SVC_CHALLENGE_EXPIRED');

  return {
    async enter(tx, user) {
      const kinds = await factors.kindsOf(tx, user.id);
      if (kinds.length === 0) return sessions.open(tx, user);
      const challenge = await challenges.issue(tx, 'SIGN_IN', user.id);
      return { ...passkeys.request(challenge, await listPasskeys(tx, user.id), 'preferred'), factors: kinds };
    },

    finish: ({ challenge, ...proof }, from) =>
      factors.watch('SIGN_IN', from, (isOf) =>
        db.transaction(async (tx) => {
          const { userId } = (await challenges.find(tx, 'SIGN_IN', challenge)) ?? expired();
          // The user before the challenge: a change of the password, which ends it, takes them in this order too.
          const user = await lockUser(tx, userId ?? expired());
          if (!(await challenges.claim(tx, 'SIGN_IN', challenge))) expired();
          isOf(user);
          await factors.prove(tx, user, proof, challenge);
          return sessions.open(tx, user, byFactor);
        }),
      ),

    async startPasskey() {
      if (!passkeys.isAvailable) fail('SVC_FEATURE_DISABLED');
      return passkeys.request(await challenges.issue(db, 'PASSKEY_SIGN_IN', null), [], 'required');
    },

    finishPasskey: (assertion, from) =>
      factors.watch('SIGN_IN', from, (isOf) =>
        db.transaction(async (tx) => {
          const challenge = challengeIn(assertion.response.clientDataJSON);
          if (!(await challenges.claim(tx, 'PASSKEY_SIGN_IN', challenge))) expired();
          const user = await lockUser(tx, await passkeys.ownerOf(tx, assertion));
          isOf(user);
          await passkeys.take(tx, assertion, { challenge, isVerifying: true });
          if (!users.isReady(user)) fail('SVC_EMAIL_NOT_VERIFIED');
          return sessions.open(tx, user, byFactor);
        }),
      ),
  };
}
