import { type FactorKind, type FactorProof, fail, ServiceError } from '@parley/contract';
import type { Db, Queryable, Tx } from '../../../core/db.ts';
import type { RateLimiter } from '../../../core/rate-limiter.ts';
import type { MailQueue } from '../mail-queue.ts';
import type { MailTemplates } from '../mail-templates.ts';
import type { Origin, SecurityLog } from '../security-log.ts';
import type { UserRow } from '../user-store.ts';
import { deleteChallengesOf } from './challenge-store.ts';
import { listPasskeys } from './passkey-store.ts';
import type { Passkeys } from './passkeys.ts';
import { countRecoveryCodes } from './recovery-code-store.ts';
import { takeRecoveryCode } from './recovery-codes.ts';
import type { Totp } from './totp.ts';
import { findTotp } from './totp-store.ts';
import { deleteEveryFactorOf } from './user-factor-store.ts';

interface FactorsDeps {
  db: Db;
  rateLimiter: RateLimiter;
  mailQueue: MailQueue;
  templates: MailTemplates;
  totp: Totp;
  passkeys: Passkeys;
  securityLog: SecurityLog;
}

type ProofPlace = 'SIGN_IN' | 'STEP_UP';

/** What an account can prove itself with beside its password. */
export interface Factors {
  /** Empty for an account without a second factor. */
  kindsOf(db: Queryable, userId: string): Promise<FactorKind[]>;
  /** Takes one proof, or fails. A passkey answers `challenge`. */
  prove(tx: Tx, user: UserRow, proof: FactorProof, challenge: string | null): Promise<void>;
  /**
   * Does what ends with a proof; a wrong one is put on the log of the account that `work` names. After the transaction,
   * which a wrong proof undoes.
   */
  watch<T>(at: ProofPlace, from: Origin, work: (isOf: (user: UserRow) => void) => Promise<T>): Promise<T>;
  /** For an account that changes hands: nothing of who had it stays. */
  deleteAll(tx: Tx, userId: string): Promise<void>;
}

/** Six digits are few: unlike passwords (ADR 12), guesses beyond these wait for the window's end. */
const guessesMax = 10;
const guessWindowMs = 15 * 60_000;

export function createFactors(deps: FactorsDeps): Factors {
  const { rateLimiter, mailQueue, templates, totp, passkeys, securityLog } = deps;
  const keyOf = (userId: string): string => `factor:${userId}`;

  async function proveByRecoveryCode(tx: Tx, user: UserRow, code: string): Promise<boolean> {
    if (!(await takeRecoveryCode(tx, user.id, code))) return false;
    const left = await countRecoveryCodes(tx, user.id);
    mailQueue.later(async () => templates.recoveryCodeUsed(user.email, left));
    return true;
  }

  return {
    async kindsOf(db, userId) {
      const kinds: FactorKind[] = [];
      if ((await findTotp(db, userId))?.isConfirmed) kinds.push('TOTP');
      if ((await listPasskeys(db, userId)).length > 0) kinds.push('PASSKEY');
      if (kinds.length > 0 && (await countRecoveryCodes(db, userId)) > 0) kinds.push('RECOVERY_CODE');
      return kinds;
    },

    async prove(tx, user, { code, recoveryCode, passkey }, challenge) {
      if (passkey && challenge !== null) {
        const userId = await passkeys.take(tx, passkey, { challenge, isVerifying: false });
        return userId === user.id ? undefined : fail('SVC_INVALID_SECOND_FACTOR');
      }
      await rateLimiter.spend(keyOf(user.id), guessesMax, guessWindowMs);
      const isRight =
        code === undefined
          ? recoveryCode !== undefined && (await proveByRecoveryCode(tx, user, recoveryCode))
          : await totp.take(tx, user.id, code);
      if (!isRight) fail('SVC_INVALID_SECOND_FACTOR');
      await rateLimiter.clear(keyOf(user.id));
    },

    async watch(at, from, work) {
      let owner: UserRow | undefined;
      try {
        return await work((user) => {
          owner = user;
        });
      } catch (error) {
        const isWrong = error instanceof ServiceError && error.code === 'SVC_INVALID_SECOND_FACTOR';
        if (owner && isWrong) await securityLog('account.second_factor_failed', owner, from, { at });
        throw error;
      }
    },

    async deleteAll(tx, userId) {
      await deleteEveryFactorOf(tx, userId);
      await deleteChallengesOf(tx, userId);
    },
  };
}
