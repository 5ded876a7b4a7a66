import { type FactorChallenge, fail, type StepUp as Proof } from '@parley/contract';
import type { SessionCaller, SessionProofs } from '../../../core/caller.ts';
import type { Clock } from '../../../core/clock.ts';
import type { Db, Tx } from '../../../core/db.ts';
import type { RequiresSecondFactor } from '../config.ts';
import type { LoginThrottle } from '../login-throttle.ts';
import type { Passwords } from '../passwords.ts';
import type { Origin } from '../security-log.ts';
import type { Sessions } from '../sessions.ts';
import { getUser, lockUser, type UserRow } from '../user-store.ts';
import type { Challenges } from './challenges.ts';
import type { Factors } from './factors.ts';
import { listPasskeys } from './passkey-store.ts';
import { challengeIn, type Passkeys } from './passkeys.ts';

interface StepUpDeps {
  db: Db;
  clock: Clock;
  sessions: Sessions;
  challenges: Challenges;
  factors: Factors;
  passkeys: Passkeys;
  passwords: Passwords;
  throttle: LoginThrottle;
  requiresSecondFactor: RequiresSecondFactor;
}

/** Proving again, inside a session, who is there. */
export interface StepUp extends SessionProofs {
  start(caller: SessionCaller): Promise<FactorChallenge>;
  prove(caller: SessionCaller, proof: Proof, from: Origin): Promise<void>;
}

const freshMs = 10 * 60_000;

export function createStepUp(deps: StepUpDeps): StepUp {
  const { db, clock, sessions, challenges, factors, passkeys, passwords, throttle } = deps;

  const isFresh = (at: string | null): boolean => at !== null && Date.parse(at) > clock.now() - freshMs;

  /** What is remembered for a second may be older than a proof that another process has just taken. */
  async function holds(caller: SessionCaller, isProven: (caller: SessionCaller) => boolean): Promise<boolean> {
    return isProven(caller) || isProven(await sessions.reread(caller));
  }

  async function isAdmitted(projectId: string, caller: SessionCaller): Promise<boolean> {
    if (!(await deps.requiresSecondFactor(projectId))) return true;
    return holds(caller, ({ hasFactor, factorAt }) => hasFactor && factorAt !== null);
  }

  async function proveByPassword(caller: SessionCaller, password: string): Promise<void> {
    await throttle.wait(caller.email);
    const user = await getUser(db, caller.userId);
    if (!(await passwords.matches(password, user.passwordHash))) fail('SVC_WRONG_PASSWORD');
    await throttle.clear(caller.email);
  }

  async function proveByFactor(tx: Tx, user: UserRow, { passkey, ...proof }: Proof): Promise<void> {
    if (!passkey) return factors.prove(tx, user, proof, null);
    const challenge = challengeIn(passkey.response.clientDataJSON);
    const claimed = await challenges.claim(tx, 'STEP_UP', challenge);
    if (claimed?.userId !== user.id) fail('SVC_CHALLENGE_EXPIRED');
    await factors.prove(tx, user, { passkey }, challenge);
  }

  return {
    async start({ userId }) {
      const challenge = await challenges.issue(db, 'STEP_UP', userId);
      const request = passkeys.request(challenge, await listPasskeys(db, userId), 'preferred');
      return { ...request, factors: await factors.kindsOf(db, userId) };
    },

    async prove(caller, proof, from) {
      const { hasFactor } = await sessions.reread(caller);
      if (!hasFactor) await proveByPassword(caller, proof.password ?? '');
      await factors.watch('STEP_UP', from, (isOf) =>
        db.transaction(async (tx) => {
          const user = await lockUser(tx, caller.userId);
          isOf(user);
          if (hasFactor) await proveByFactor(tx, user, proof);
          await sessions.noteProof(tx, caller.sessionId, { isByFactor: hasFactor });
        }),
      );
      sessions.forget([caller.sessionId]);
    },

    async assertProven(caller, need) {
      const isProven = await holds(caller, ({ hasFactor, factorAt, provenAt }) =>
        hasFactor ? isFresh(factorAt) : need === 'withFactor' || isFresh(provenAt),
      );
      if (!isProven) fail('SVC_STEP_UP_REQUIRED');
    },

    isAdmitted,

    async assertAdmitted(projectId, caller) {
      if (!(await isAdmitted(projectId, caller))) fail('SVC_PROJECT_REQUIRES_SECOND_FACTOR');
    },
  };
}
