import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider, { type Context } from 'oidc-provider';

export interface OidcPerson {
  email?: string;
  email_verified?: boolean;
  name?: string;
}

/** A real OpenID Connect provider on loopback, whose people sign in without a form. */
export interface OidcPeer {
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** From now on every visitor is signed in there as `subject`. */
  signIn(subject: string, person: OidcPerson): void;
  /** Does what a browser would: follows the way to the provider and back, signed in there as `subject`. */
  authorize(authorizationUrl: string, subject: string, person: OidcPerson): Promise<URLSearchParams>;
  /** Holds every request without an answer until `close`: a provider that hangs. */
  hang(): void;
  close(): Promise<void>;
}

export async function startOidcPeer(redirectUris: readonly string[]): Promise<OidcPeer> {
  const people = new Map<string, OidcPerson>();
  const client = { clientId: 'parley', clientSecret: 'a-secret-of-the-test-provider' };
  let signedInAs = '';
  let isHanging = false;
  let handle: (request: IncomingMessage, response: ServerResponse) => void = () => {};
  const server = createServer((request, response) => {
    if (!isHanging) handle(request, response);
  });
  const issuer = `http://127.0.0.1:${await listen(server)}`;
  const provider = createProvider(issuer, { ...client, redirectUris, people });
  const callback = provider.callback();
  handle = (request, response) => {
    const isSignIn = request.url?.startsWith('/sign-in/');
    void (isSignIn
      ? provider.interactionFinished(request, response, { login: { accountId: signedInAs } })
      : callback(request, response));
  };

  function signIn(subject: string, person: OidcPerson): void {
    people.set(subject, person);
    signedInAs = subject;
  }

  return {
    issuer,
    ...client,
    signIn,
    async authorize(authorizationUrl, subject, person) {
      signIn(subject, person);
      const arrived = await follow(authorizationUrl, redirectUris);
      return arrived.searchParams;
    },
    hang() {
      isHanging = true;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface PeerSettings {
  clientId: string;
  clientSecret: string;
  redirectUris: readonly string[];
  people: ReadonlyMap<string, OidcPerson>;
}

function createProvider(issuer: string, { clientId, clientSecret, redirectUris, people }: PeerSettings): Provider {
  const provider: Provider = new Provider(issuer, {
    clients: [{ client_id: clientId, client_secret: clientSecret, redirect_uris: redirectUris }],
    claims: { email: ['email', 'email_verified'], profile: ['name'] },
    cookies: { keys: ['only for tests'] },
    features: { devInteractions: { enabled: false } },
    ttl: { Interaction: 600, Grant: 600, Session: 600, AccessToken: 600, IdToken: 600 },
    pkce: { required: () => true },
    findAccount: (_context: unknown, sub: string) => ({
      accountId: sub,
      claims: () => ({ sub, ...people.get(sub) }),
    }),
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/sign-in/${uid}` },
    // Everybody has consented already.
    async loadExistingGrant({ oidc }: Context) {
      const grant = new provider.Grant({ accountId: oidc.session.accountId, clientId: oidc.client.clientId });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
  });
  return provider;
}

/** Follows redirects with a cookie jar until the browser would be back on one of our pages. */
async function follow(start: string, pages: readonly string[]): Promise<URL> {
  const jar = new Map<string, string>();
  let at = new URL(start);
  for (let hops = 0; hops < 10; hops++) {
    if (pages.includes(`${at.origin}${at.pathname}`)) return at;
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(at, { redirect: 'manual', headers: { cookie } });
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      jar.set(name, value);
    }
    const location = answer.headers.get('location');
    if (!location) throw new Error(`the provider answered ${answer.status}: ${await answer.text()}`);
    at = new URL(location, at);
  }
  throw new Error('the provider redirects forever');
}

const listen = (server: Server): Promise<number> =>
  new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)));
