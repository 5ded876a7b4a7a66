import * as client from 'openid-client';
import { type Cache, createCache } from '../../core/cache.ts';
import type { Clock } from '../../core/clock.ts';
import type { AccountsConfig, OAuthClient, OAuthConfig } from './config.ts';

/** A user, as a provider knows them. */
export interface OAuthProfile {
  issuer: string;
  subject: string;
  email: string | null;
  isEmailVerified: boolean;
  name: string | null;
}

/** What we keep between sending the browser away and its return. */
export interface OAuthSecrets {
  verifier: string;
  nonce: string;
}

interface OAuthReturn extends OAuthSecrets {
  redirectUri: string;
  code: string;
  state: string;
  issuer: string | undefined;
}

export interface OAuthProvider {
  readonly label: string;
  authorizationUrl(start: OAuthSecrets & { redirectUri: string; state: string }): Promise<string>;
  /** Trades the code for the profile. Throws what openid-client throws: see `oauth-failures.ts`. */
  profile(back: OAuthReturn): Promise<OAuthProfile>;
}

/** Each call to a provider; a request makes three at most. */
const timeoutSeconds = 5;
const discoveryMs = 60 * 60_000;

/** A Map, because the name comes from a path: `constructor` is not a provider. */
export function createOAuthProviders(config: AccountsConfig, clock: Clock): ReadonlyMap<string, OAuthProvider> {
  const { google, github, oidc } = config.oauth;
  const discovered = createCache<client.Configuration>({ clock, ttlMs: discoveryMs, sizeMax: 10 });
  const oidcBy = (row: OidcClient) => createOidc(row, config.isProduction, discovered);

  const providers = new Map<string, OAuthProvider>();
  if (google) providers.set('google', oidcBy({ ...google, label: 'Google', issuer: 'https://accounts.google.com' }));
  if (github) providers.set('github', createGithub(github, config.isProduction));
  if (oidc) providers.set('oidc', oidcBy({ ...oidc, label: 'Single sign-on' }));
  return providers;
}

interface OidcClient extends OAuthClient {
  label: string;
  issuer: string;
}

function createOidc(
  { label, issuer, clientId, clientSecret }: OidcClient,
  isProduction: boolean,
  discovered: Cache<client.Configuration>,
): OAuthProvider {
  const configuration = (): Promise<client.Configuration> =>
    discovered.get(issuer, () =>
      client.discovery(new URL(issuer), clientId, clientSecret, undefined, {
        timeout: timeoutSeconds,
        execute: isProduction ? [] : [client.allowInsecureRequests],
      }),
    );

  return {
    label,
    authorizationUrl: async (start) => authorizationUrl(await configuration(), start, 'openid email profile'),
    async profile(back) {
      const known = await configuration();
      const tokens = await grant(known, back, back.nonce);
      const claims = tokens.claims();
      if (!claims) throw new client.ClientError('the provider gave no id token');
      // Some providers keep the address out of the id token.
      const more = claims['email'] === undefined ? await userInfo(known, tokens.access_token, claims.sub) : {};
      return toProfile(known.serverMetadata().issuer, { ...more, ...claims });
    },
  };
}

async function userInfo(
  configuration: client.Configuration,
  accessToken: string,
  subject: string,
): Promise<Record<string, unknown>> {
  if (!configuration.serverMetadata().userinfo_endpoint) return {};
  return client.fetchUserInfo(configuration, accessToken, subject);
}

function toProfile(issuer: string, claims: Record<string, unknown> & { sub: string }): OAuthProfile {
  const verified = claims['email_verified'];
  return {
    issuer,
    subject: claims.sub,
    email: textOf(claims['email']),
    isEmailVerified: verified === true || verified === 'true',
    name: textOf(claims['name']),
  };
}

/** GitHub is OAuth 2 without OpenID: who it was has to be asked from its API. */
function createGithub(row: NonNullable<OAuthConfig['github']>, isProduction: boolean): OAuthProvider {
  const { url, apiUrl } = row;
  const configuration = new client.Configuration(
    {
      issuer: url,
      authorization_endpoint: `${url}/login/oauth/authorize`,
      token_endpoint: `${url}/login/oauth/access_token`,
    },
    row.clientId,
    row.clientSecret,
    client.ClientSecretPost(row.clientSecret),
  );
  configuration.timeout = timeoutSeconds;
  if (!isProduction) client.allowInsecureRequests(configuration);

  async function ask(path: string, accessToken: string): Promise<unknown> {
    const headers = new Headers({ accept: 'application/vnd.github+json', 'user-agent': 'parley' });
    const address = new URL(`${apiUrl}${path}`);
    const answer = await client.fetchProtectedResource(configuration, accessToken, address, 'GET', null, headers);
    if (!answer.ok) throw new TypeError(`GitHub answered ${answer.status}`);
    return answer.json();
  }

  return {
    label: 'GitHub',
    authorizationUrl: async (start) => authorizationUrl(configuration, start, 'read:user user:email'),
    async profile(back) {
      const { access_token } = await grant(configuration, back);
      const [user, emails] = await Promise.all([ask('/user', access_token), ask('/user/emails', access_token)]);
      return githubProfile(url, user, emails);
    },
  };
}

function githubProfile(issuer: string, user: unknown, emails: unknown): OAuthProfile {
  const { id, name, login } = fieldsOf(user);
  if (typeof id !== 'number' || !Array.isArray(emails)) throw new TypeError('GitHub answered something else');
  const primary = emails.map(fieldsOf).find((entry) => entry['primary'] === true) ?? {};
  return {
    issuer,
    // The number stays when the account is renamed and the name is reused.
    subject: String(id),
    email: textOf(primary['email']),
    isEmailVerified: primary['verified'] === true,
    name: textOf(name) ?? textOf(login),
  };
}

async function authorizationUrl(
  configuration: client.Configuration,
  { redirectUri, state, nonce, verifier }: OAuthSecrets & { redirectUri: string; state: string },
  scope: string,
): Promise<string> {
  const challenge = await client.calculatePKCECodeChallenge(verifier);
  return client.buildAuthorizationUrl(configuration, {
    redirect_uri: redirectUri,
    response_type: 'code',
    scope,
    state,
    nonce,
    code_challenge: challenge,
    code_challenge_method: 'S256',
  }).href;
}

function grant(configuration: client.Configuration, back: OAuthReturn, nonce?: string) {
  const { redirectUri, code, state, verifier } = back;
  const arrived = new URL(redirectUri);
  // A page that does not pass `iss` on: the state was made for this provider alone, which says the same.
  const iss = back.issuer ?? configuration.serverMetadata().issuer;
  arrived.search = new URLSearchParams({ code, state, iss }).toString();
  return client.authorizationCodeGrant(configuration, arrived, {
    pkceCodeVerifier: verifier,
    expectedState: state,
    ...(nonce === undefined ? {} : { expectedNonce: nonce, idTokenExpected: true }),
  });
}

const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
