import { fail, type OAuthExchange, type OAuthStart } from '@parley/contract';
import * as client from 'openid-client';
import { type Clock, iso } from '../../core/clock.ts';
import type { Db, Tx } from '../../core/db.ts';
import type { Ids } from '../../core/ids.ts';
import type { Keyring } from '../../core/keyring.ts';
import type { Log } from '../../core/log.ts';
import type { Admission } from './admission.ts';
import type { AccountsConfig } from './config.ts';
import type { Entry, SecondStep } from './factors/second-step.ts';
import { failedAt } from './oauth-failures.ts';
import { createOAuthProviders, type OAuthProfile, type OAuthProvider, type OAuthSecrets } from './oauth-providers.ts';
import { claimOAuthState, findIdentityUser, insertIdentity, replaceOAuthState } from './oauth-store.ts';
import { hashOf, newSecret } from './secrets.ts';
import { findUserByEmail, insertOrFindUser, type UserRow } from './user-store.ts';
import type { Users } from './users.ts';

interface OAuthDeps {
  db: Db;
  clock: Clock;
  ids: Ids;
  keyring: Keyring;
  log: Log;
  config: AccountsConfig;
  admission: Admission;
  secondStep: SecondStep;
  users: Users;
}

export const oauthStateSeconds = 10 * 60;

/** Sign-in by OAuth. */
export function createOAuth({ db, clock, ids, keyring, log, config, admission, secondStep, users }: OAuthDeps) {
  const providers = createOAuthProviders(config, clock);
  const providerOf = (name: string): OAuthProvider => providers.get(name) ?? fail('SVC_PROVIDER_NOT_FOUND');
  const now = (): string => iso(clock.now());

  /** `browser` is what the browser's cookie holds already: a second tab must not undo the first one's start. */
  async function start(name: string, { redirectUri, state = newSecret() }: OAuthStart, browser: string | undefined) {
    const provider = providerOf(name);
    assertRedirectAllowed(redirectUri);
    const secrets: OAuthSecrets = { verifier: client.randomPKCECodeVerifier(), nonce: newSecret() };
    const authorizationUrl = await provider
      .authorizationUrl({ ...secrets, redirectUri, state })
      .catch((error) => failedAt(name, error, log));
    const binding = browser !== undefined && /^[\w-]{43}$/.test(browser) ? browser : newSecret();
    await replaceOAuthState(db, {
      keyHash: hashOf(name, state, binding),
      provider: name,
      redirectUri,
      secrets: keyring.seal(JSON.stringify(secrets)),
      expiresAt: iso(clock.now() + oauthStateSeconds * 1000),
    });
    return { started: { authorizationUrl, state }, binding };
  }

  async function exchange(name: string, body: OAuthExchange, browser: string | undefined): Promise<Entry> {
    const provider = providerOf(name);
    const kept = await claimOAuthState(db, hashOf(name, body.state, browser ?? ''), now());
    if (!kept || kept.redirectUri !== body.redirectUri) {
      return fail('SVC_INVALID_CREDENTIALS', {
        message: 'This sign-in has expired, was used, or was started in another browser. Start again.',
      });
    }
    // We sealed it ourselves, so it is what we wrote.
    const secrets = JSON.parse(keyring.unseal(kept.secrets)) as OAuthSecrets;
    const { code, state, iss } = body;
    const profile = await provider
      .profile({ ...secrets, code, state, redirectUri: kept.redirectUri, issuer: iss })
      .catch((error) => failedAt(name, error, log));
    return db.transaction(async (tx) => secondStep.enter(tx, await userOf(tx, profile)));
  }

  async function userOf(tx: Tx, profile: OAuthProfile): Promise<UserRow> {
    const { issuer, subject, email, isEmailVerified, name } = profile;
    const known = await findIdentityUser(tx, issuer, subject);
    if (known) return known;
    if (email === null || !isEmailVerified) {
      return fail('SVC_EMAIL_NOT_VERIFIED', { message: 'The provider has not verified an e-mail address of yours.' });
    }
    if (!(await findUserByEmail(tx, email))) await admission.assertAdmitted(tx, email);
    const id = ids.newUuid();
    const draft = { id, email, name, passwordHash: null, emailVerifiedAt: now(), createdAt: now() };
    const stored = await insertOrFindUser(tx, draft);
    // An attacker who registered the address without proving it may know that account's password.
    if (stored.emailVerifiedAt === null) {
      return fail('SVC_EMAIL_NOT_VERIFIED', {
        message: 'An account with this address exists and was never verified. Reset its password first.',
      });
    }
    await insertIdentity(tx, { issuer, subject, userId: stored.id, createdAt: now() });
    return stored.id === id ? users.becameReady(tx, stored) : stored;
  }

  function assertRedirectAllowed(uri: string): void {
    if (config.oauth.redirectUris.includes(uri) || isOnOrigin(uri, new URL(config.publicUrl).origin)) return;
    const message = 'redirectUri must be a page of this service, or listed in OAUTH_REDIRECT_URIS.';
    fail('SVC_VALIDATION_FAILED', { details: [{ field: 'redirectUri', rule: 'allowed', message }], message });
  }

  return {
    start,
    exchange,
    list: () => [...providers].map(([provider, { label }]) => ({ provider, label })),
  };
}

/** A plain address on the origin: the code is added to it, so it has no query or fragment of its own. */
function isOnOrigin(uri: string, origin: string): boolean {
  if (!URL.canParse(uri)) return false;
  const { href, origin: actual, pathname } = new URL(uri);
  return actual === origin && href === `${origin}${pathname}`;
}
