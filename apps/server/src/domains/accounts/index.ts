import type { accountRoutes } from '@parley/contract';
import type { SessionCaller } from '../../core/caller.ts';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import type { Ids } from '../../core/ids.ts';
import type { Keyring } from '../../core/keyring.ts';
import type { Log } from '../../core/log.ts';
import type { Domain } from '../../core/part.ts';
import type { Bus, Counters, Mail } from '../../core/ports.ts';
import type { RateLimiter } from '../../core/rate-limiter.ts';
import type { Tokens } from '../../core/tokens.ts';
import type { AccountsConfig, OnUserReady } from './config.ts';
import { createCookie } from './cookies.ts';
import { createHandlers } from './handlers.ts';
import { createLoginThrottle } from './login-throttle.ts';
import { createMailLinks } from './mail-links.ts';
import { createMailQueue } from './mail-queue.ts';
import { createMailTemplates } from './mail-templates.ts';
import { deleteExpiredMailTokens } from './mail-token-store.ts';
import { createOAuth, oauthStateSeconds } from './oauth.ts';
import { deleteExpiredOAuthStates } from './oauth-store.ts';
import { createPasswords } from './passwords.ts';
import { createRegistration, type Seed } from './registration.ts';
import { deleteExpiredSessions } from './session-store.ts';
import { createSessions, refreshTtlSeconds } from './sessions.ts';
import { createSignIn } from './sign-in.ts';
import { createUsers } from './users.ts';

export type { AccountsConfig, OAuthClient, OAuthConfig, OnUserReady } from './config.ts';
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
}

export interface Accounts extends Domain<typeof accountRoutes> {
  authenticateSession(token: string): Promise<SessionCaller>;
  /** Makes the account of a development machine, or gives it this password; signs in. */
  seedAccount(account: Seed): Promise<{ accessToken: string; cookie: string }>;
}

const sweepBatch = 5_000;

export function createAccounts(deps: AccountsDeps): Accounts {
  const { db, clock, config } = deps;
  const isSecure = config.publicUrl.startsWith('https:');
  const refreshCookie = createCookie({ name: 'parley_refresh', isSecure, maxAgeSeconds: refreshTtlSeconds });
  const browserCookie = createCookie({ name: 'parley_oauth', isSecure, maxAgeSeconds: oauthStateSeconds });

  const users = createUsers(deps);
  const sessions = createSessions({ ...deps, users });
  const shared = {
    ...deps,
    users,
    sessions,
    passwords: createPasswords(),
    mailQueue: createMailQueue(deps),
    templates: createMailTemplates(config.publicUrl),
    links: createMailLinks(deps),
  };
  const registration = createRegistration(shared);
  const signIn = createSignIn({ ...shared, throttle: createLoginThrottle(deps) });
  const oauth = createOAuth(shared);

  async function deleteExpired(): Promise<void> {
    const now = iso(clock.now());
    await deleteExpiredSessions(db, now, sweepBatch);
    await deleteExpiredMailTokens(db, now);
    await deleteExpiredOAuthStates(db, now);
  }

  return {
    handlers: createHandlers({ registration, signIn, oauth, sessions, users, refreshCookie, browserCookie }),
    authenticateSession: sessions.authenticate,
    async seedAccount(account) {
      const { session, refreshToken } = await registration.seed(account);
      return { accessToken: session.accessToken, cookie: refreshCookie.set(refreshToken) };
    },
    chores: [{ name: 'accounts', everyMs: 10 * 60_000, run: deleteExpired }],
    start: sessions.start,
    async stop() {
      sessions.stop();
      await shared.mailQueue.stop();
    },
  };
}
