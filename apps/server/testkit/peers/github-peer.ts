import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface GithubPerson {
  id: number;
  login: string;
  emails: { email: string; primary: boolean; verified: boolean }[];
}

/** As much of GitHub as a sign-in meets: it answers errors with 200, as GitHub does. */
export interface GithubPeer {
  url: string;
  /** What the browser comes back with after `person` agreed. */
  authorize(authorizationUrl: string, person: GithubPerson): { code: string; state: string };
  close(): Promise<void>;
}

export async function startGithubPeer(client: { clientId: string; clientSecret: string }): Promise<GithubPeer> {
  const grants = new Map<string, { person: GithubPerson; challenge: string; redirectUri: string }>();
  const signedIn = new Map<string, GithubPerson>();

  async function trade(request: IncomingMessage): Promise<object> {
    const form = new URLSearchParams(await text(request));
    const code = form.get('code') ?? '';
    const grant = grants.get(code);
    grants.delete(code);
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const isClient = form.get('client_id') === client.clientId && form.get('client_secret') === client.clientSecret;
    if (!grant || !isClient || challenge !== grant.challenge || form.get('redirect_uri') !== grant.redirectUri) {
      return { error: 'bad_verification_code', error_description: 'The code passed is incorrect or expired.' };
    }
    signedIn.set(`token-${code}`, grant.person);
    return { access_token: `token-${code}`, token_type: 'bearer', scope: 'read:user,user:email' };
  }

  async function answer(request: IncomingMessage): Promise<[number, object]> {
    if (request.url === '/login/oauth/access_token') return [200, await trade(request)];
    const person = signedIn.get(request.headers.authorization?.replace(/^Bearer /i, '') ?? '');
    if (!person) return [401, { message: 'Bad credentials' }];
    return [200, request.url === '/user' ? { id: person.id, login: person.login, name: null } : person.emails];
  }

  const server = createServer(async (request, response) => {
    const [status, body] = await answer(request);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    authorize(authorizationUrl, person) {
      const asked = new URL(authorizationUrl).searchParams;
      const code = `code-${grants.size}-${person.id}`;
      grants.set(code, {
        person,
        challenge: asked.get('code_challenge') ?? '',
        redirectUri: asked.get('redirect_uri') ?? '',
      });
      return { code, state: asked.get('state') ?? '' };
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
