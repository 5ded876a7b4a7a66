import type { accountRoutes } from '@parley/contract';
import type { SessionCaller, SessionProofs } from '../../core/caller.ts';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import { deleteInBatches, type Turn } from '../../core/delete-in-batches.ts';
import type { Ids } from '../../core/ids.ts';
import type { Keyring } from '../../core/keyring.ts';
import type { Log } from '../../core/log.ts';
import type { Domain } from '../../core/part.ts';
import type { Bus, Counters, Mail } from '../../core/ports.ts';
import type { RateLimiter } from '../../core/rate-limiter.ts';
import type { Tokens } from '../../core/tokens.ts';
import { createAdmission } from './admission.ts';
import { createClaims } from './claims.ts';
import type { AccountsConfig, IsInvited, OnUserReady, RequiresSecondFactor } from './config.ts';
import { createCookie } from './cookies.ts';
import { createDevices, deviceTtlSeconds } from './devices.ts';
import { createTwoFactors } from './factors/index.ts';
import { createFirstAccount } from './first-account.ts';
import { deleteExpiredFirstAccountLinks } from './first-account-store.ts';
import { createHandlers } from './handlers.ts';
import { createLoginThrottle } from './login-throttle.ts';
import { createMailBudget } from './mail-budget.ts';
import { createMailQueue } from './mail-queue.ts';
import { createMailTemplates } from './mail-templates.ts';
import { deleteExpiredMailTokens } from './mail-token-store.ts';
import { createOAuth, oauthStateSeconds } from './oauth.ts';
import { deleteExpiredOAuthStates } from './oauth-store.ts';
import { createPasswords, type PasswordCost } from './passwords.ts';
import { createRegistration, type Seed } from './registration.ts';
import { createResetLinks } from './reset-links.ts';
import { createSecurityLog, type RecordSecurity } from './security-log.ts';
import { deleteExpiredSessions } from './session-store.ts';
import { createSessions, refreshTtlSeconds } from './sessions.ts';
import { createSignIn } from './sign-in.ts';
import { createUsers } from './users.ts';
import { deleteExpiredVerificationLinks } from './verification-link-store.ts';
import { createVerificationLinks } from './verification-links.ts';

export type { AccountsConfig, OAuthClient, OAuthConfig, OnUserReady } from './config.ts';
export type { PasswordCost } from './passwords.ts';
export { findUserByEmail } from './user-store.ts';

interface AccountsDeps {
  db: Db;
  clock: Clock;
  ids: Ids;
  tokens: Tokens;
  keyring: Keyring;
  mail: Mail;
  counters: Counters;
  rateLimiter: RateLimiter;
  bus: Bus;
  log: Log;
  config: AccountsConfig;
  refreshGraceSeconds: number;
  onUserReady: OnUserReady;
  isInvited: IsInvited;
  requiresSecondFactor: RequiresSecondFactor;
  recordSecurity: RecordSecurity;
  /** Only tests, which make hundreds of accounts, pay less than is recommended. */
  passwordCost: PasswordCost | undefined;
}

interface Accounts extends Domain<typeof accountRoutes> {
  authenticateSession(token: string): Promise<SessionCaller>;
  proofs: SessionProofs;
  /** Seals the secrets of authenticator apps with the present SECRET_KEY; says how many were not. */
  renewSealed(): Promise<number>;
  /** Makes the account of a development machine, or gives it this password; signs in. */
  seedAccount(account: Seed): Promise<{ accessToken: string; cookie: string }>;
  /** The address of a new one-time link of this server to make the first account; null once there is one. */
  renewFirstAccountLink(server: string): Promise<string | null>;
  voidFirstAccountLink(): Promise<void>;
}

export function createAccounts(deps: AccountsDeps): Accounts {
  const { db, clock, config } = deps;
  const isSecure = config.publicUrl.startsWith('https:');
  const refreshCookie = createCookie({ name: 'parley_refresh', isSecure, maxAgeSeconds: refreshTtlSeconds });
  const browserCookie = createCookie({ name: 'parley_oauth', isSecure, maxAgeSeconds: oauthStateSeconds });

  const users = createUsers(deps);
  const securityLog = createSecurityLog(deps.recordSecurity);
  const sessions = createSessions({ ...deps, users, securityLog });
  const mayMail = createMailBudget(deps);
  const basis = {
    ...deps,
    users,
    mayMail,
    admission: createAdmission(deps),
    sessions,
    securityLog,
    passwords: createPasswords(deps.passwordCost),
    mailQueue: createMailQueue(deps),
    templates: createMailTemplates(config.publicUrl),
    resetLinks: createResetLinks({ ...deps, mayMail }),
    verificationLinks: createVerificationLinks({ ...deps, mayMail }),
  };
  const throttle = createLoginThrottle(deps);
  const { challenges, factors, secondStep, stepUp, ownFactors, renewSealed } = createTwoFactors({ ...basis, throttle });
  const claims = createClaims({ users, factors, sessions });
  const shared = { ...basis, throttle, factors, secondStep, claims };
  const deviceCookie = createCookie({ name: 'parley_device', isSecure, maxAgeSeconds: deviceTtlSeconds });
  const devices = createDevices(shared);
  const registration = createRegistration(shared);
  const firstAccount = createFirstAccount(shared);
  const signIn = createSignIn(shared);
  const oauth = createOAuth(shared);

  function deleteExpired(turn: Turn): Promise<number> {
    const now = iso(clock.now());
    return deleteInBatches(
      { turn },
      (limit) => deleteExpiredSessions(db, now, limit),
      (limit) => deleteExpiredMailTokens(db, now, limit),
      (limit) => deleteExpiredVerificationLinks(db, now, limit),
      (limit) => deleteExpiredFirstAccountLinks(db, now, limit),
      (limit) => deleteExpiredOAuthStates(db, now, limit),
      challenges.deleteExpired,
      devices.deleteForgotten,
    );
  }

  return {
    handlers: createHandlers({
      registration,
      firstAccount,
      signIn,
      oauth,
      sessions,
      users,
      devices,
      secondStep,
      stepUp,
      ownFactors,
      securityLog,
      refreshCookie,
      browserCookie,
      deviceCookie,
    }),
    authenticateSession: sessions.authenticate,
    proofs: stepUp,
    async seedAccount(account) {
      const { session, refreshToken } = await registration.seed(account);
      return { accessToken: session.accessToken, cookie: refreshCookie.set(refreshToken) };
    },
    renewFirstAccountLink: firstAccount.renewLink,
    voidFirstAccountLink: firstAccount.invalidateLink,
    renewSealed,
    chores: [
      { name: 'accounts', everyMs: 10 * 60_000, run: deleteExpired, onDatabaseAlone: true },
      { name: 'factor-secrets', everyMs: 10 * 60_000, run: renewSealed, onDatabaseAlone: true },
    ],
    start: sessions.start,
    async stop() {
      sessions.stop();
      await shared.mailQueue.stop();
    },
  };
}
