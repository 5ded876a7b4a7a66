import type { Clock } from '../../../core/clock.ts';
import type { Db } from '../../../core/db.ts';
import type { Ids } from '../../../core/ids.ts';
import type { Keyring } from '../../../core/keyring.ts';
import type { Log } from '../../../core/log.ts';
import type { RateLimiter } from '../../../core/rate-limiter.ts';
import type { AccountsConfig, RequiresSecondFactor } from '../config.ts';
import type { LoginThrottle } from '../login-throttle.ts';
import type { MailQueue } from '../mail-queue.ts';
import type { MailTemplates } from '../mail-templates.ts';
import type { Passwords } from '../passwords.ts';
import type { SecurityLog } from '../security-log.ts';
import type { Sessions } from '../sessions.ts';
import type { Users } from '../users.ts';
import { createChallenges } from './challenges.ts';
import { createFactors } from './factors.ts';
import { createOwnFactors } from './own-factors.ts';
import { createPasskeys } from './passkeys.ts';
import { createRenewal } from './renewal.ts';
import { createSecondStep } from './second-step.ts';
import { createStepUp } from './step-up.ts';
import { createTotp } from './totp.ts';

interface TwoFactorDeps {
  db: Db;
  clock: Clock;
  ids: Ids;
  keyring: Keyring;
  log: Log;
  rateLimiter: RateLimiter;
  config: AccountsConfig;
  mailQueue: MailQueue;
  templates: MailTemplates;
  passwords: Passwords;
  sessions: Sessions;
  throttle: LoginThrottle;
  users: Users;
  securityLog: SecurityLog;
  requiresSecondFactor: RequiresSecondFactor;
}

/** Second factors: what they are, the second step of a sign-in, and proving again inside a session (ADR 101, 102). */
export function createTwoFactors(deps: TwoFactorDeps) {
  const challenges = createChallenges(deps);
  const totp = createTotp(deps);
  const passkeys = createPasskeys(deps);
  const factors = createFactors({ ...deps, totp, passkeys });
  const parts = { ...deps, challenges, totp, passkeys, factors };
  return {
    challenges,
    factors,
    secondStep: createSecondStep(parts),
    stepUp: createStepUp(parts),
    ownFactors: createOwnFactors(parts),
    renewSealed: createRenewal(deps),
  };
}
