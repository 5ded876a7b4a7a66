import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createFactorKit } from '../../../testkit/clients/factors.ts';
import { createVisitor, mailedToken, newEmail, type Visitor } from '../../../testkit/clients/visitor.ts';
import { createFakeClock } from '../../../testkit/kit/fake-clock.ts';
import { startService, type TestService } from '../../../testkit/kit/service.ts';
import { type GithubPeer, type GithubPerson, startGithubPeer } from '../../../testkit/peers/github-peer.ts';
import { type OidcPeer, type OidcPerson, startOidcPeer } from '../../../testkit/peers/oidc-peer.ts';

const password = 'correct horse battery';
const publicUrl = 'http://localhost:4000';
const redirectUri = `${publicUrl}/oauth/callback`;
const listedUri = 'http://127.0.0.1:9999/listed';

describe('signing in with a provider', () => {
  const clock = createFakeClock();
  let provider: OidcPeer;
  let github: GithubPeer;
  let service: TestService;
  before(async () => {
    provider = await startOidcPeer([redirectUri, listedUri]);
    github = await startGithubPeer({ clientId: 'gh', clientSecret: 'gh-secret' });
    service = await startService({
      clock,
      env: {
        PUBLIC_URL: publicUrl,
        AUTH_REQUIRE_VERIFIED_EMAIL: 'true',
        OAUTH_OIDC_ISSUER: provider.issuer,
        OAUTH_OIDC_CLIENT_ID: provider.clientId,
        OAUTH_OIDC_CLIENT_SECRET: provider.clientSecret,
        OAUTH_GITHUB_CLIENT_ID: 'gh',
        OAUTH_GITHUB_CLIENT_SECRET: 'gh-secret',
        OAUTH_GITHUB_URL: github.url,
        OAUTH_GITHUB_API_URL: github.url,
        OAUTH_REDIRECT_URIS: listedUri,
      },
    });
  });
  after(async () => {
    await service.stop();
    await provider.close();
    await github.close();
  });

  const start = (visitor: Visitor, body: object = {}) =>
    visitor.post('/v1/auth/oauth/oidc/start', { redirectUri, ...body });

  /** Goes to the provider and comes back; what the page then has in its address. */
  async function comeBack(visitor: Visitor, subject: string, person: OidcPerson, body: object = {}) {
    const started = await start(visitor, body);
    assert.equal(started.status, 200);
    const back = await provider.authorize(started.body.authorizationUrl, subject, person);
    return { code: back.get('code'), state: back.get('state'), iss: back.get('iss'), redirectUri, ...body };
  }

  const exchange = (visitor: Visitor, body: object) => visitor.post('/v1/auth/oauth/oidc/exchange', body);

  async function signIn(subject: string, person: OidcPerson, visitor: Visitor = createVisitor(service)) {
    return exchange(visitor, await comeBack(visitor, subject, person));
  }

  async function registered(email: string, isVerified: boolean): Promise<void> {
    const visitor = createVisitor(service);
    await visitor.post('/v1/auth/register', { email, password });
    const token = await mailedToken(service, email);
    if (isVerified) await visitor.post('/v1/auth/verify-email', { token });
  }

  const login = (email: string) => createVisitor(service).post('/v1/auth/login', { email, password });

  test('[AUTH-11] a new person gets an account, and the same one again', async () => {
    const email = newEmail();
    const visitor = createVisitor(service);
    const first = await signIn('new-person', { email, email_verified: true, name: 'New Person' }, visitor);
    assert.equal(first.status, 200);
    assert.deepEqual([first.body.user.email, first.body.user.name], [email, 'New Person']);
    assert.equal(first.body.user.emailVerified, true);
    const me = await visitor.get('/v1/auth/me', { authorization: `Bearer ${first.body.accessToken}` });
    assert.equal(me.status, 200);
    assert.equal((await visitor.post('/v1/auth/refresh')).status, 200);

    // The subject is who they are; the address may change or lose its proof.
    const again = await signIn('new-person', { email: newEmail(), email_verified: false });
    assert.equal(again.body.user.id, first.body.user.id);
    assert.equal((await login(email)).body.code, 'SVC_INVALID_CREDENTIALS');
  });

  test('[AUTH-11] the page may leave out iss, and gives its own state', async () => {
    const visitor = createVisitor(service);
    const person = { email: newEmail(), email_verified: true };
    const { iss, ...back } = await comeBack(visitor, 'own-state', person, { state: 'mine' });
    assert.equal(back.state, 'mine');
    assert.equal(iss, provider.issuer);
    assert.equal((await exchange(visitor, back)).status, 200);
  });

  test('[AUTH-11] the way to the provider carries PKCE, nonce and state', async () => {
    const { body } = await start(createVisitor(service));
    const asked = new URL(body.authorizationUrl).searchParams;
    assert.equal(asked.get('code_challenge_method'), 'S256');
    assert.equal(asked.get('state'), body.state);
    for (const name of ['code_challenge', 'nonce', 'state']) assert.ok((asked.get(name) ?? '').length >= 43, name);
  });

  test('[AUTH-11] of 10 exchanges of one state exactly one gets a session', async () => {
    const visitor = createVisitor(service);
    const back = await comeBack(visitor, 'replayed', { email: newEmail(), email_verified: true });
    const answers = await Promise.all(Array.from({ length: 10 }, () => exchange(visitor, back)));
    const good = answers.filter(({ status }) => status === 200);
    assert.equal(good.length, 1);
    for (const { body } of answers.filter((answer) => answer !== good[0])) {
      assert.equal(body.code, 'SVC_INVALID_CREDENTIALS');
    }
  });

  test('[AUTH-11] a state is good only in the browser that began, for its redirect address, for ten minutes', async () => {
    const person = { email: newEmail(), email_verified: true };
    const visitor = createVisitor(service);
    const stolen = await comeBack(visitor, 'victim', person);
    assert.equal((await exchange(createVisitor(service), stolen)).status, 401);
    const another = createVisitor(service);
    await start(another);
    assert.equal((await exchange(another, stolen)).status, 401);
    const github = await visitor.post('/v1/auth/oauth/github/exchange', stolen);
    assert.equal(github.status, 401);
    assert.equal((await exchange(visitor, stolen)).status, 200);

    const elsewhere = await comeBack(visitor, 'victim', person);
    assert.equal((await exchange(visitor, { ...elsewhere, redirectUri: listedUri })).status, 401);

    const late = await comeBack(visitor, 'victim', person);
    clock.jump(10 * 60_000);
    assert.equal((await exchange(visitor, late)).status, 401);
  });

  test('[AUTH-11] two tabs of one browser do not undo each other', async () => {
    const visitor = createVisitor(service);
    const person = { email: newEmail(), email_verified: true };
    const first = await comeBack(visitor, 'two-tabs', person);
    const second = await comeBack(visitor, 'two-tabs', person);
    assert.equal((await exchange(visitor, first)).status, 200);
    assert.equal((await exchange(visitor, second)).status, 200);
  });

  test('[AUTH-11] a wrong code is 401 and never more', async () => {
    const visitor = createVisitor(service);
    const back = await comeBack(visitor, 'wrong-code', { email: newEmail(), email_verified: true });
    const { status, body } = await exchange(visitor, { ...back, code: 'made-up' });
    assert.deepEqual([status, body.code], [401, 'SVC_INVALID_CREDENTIALS']);
  });

  test('[AUTH-11] only configured providers exist', async () => {
    const visitor = createVisitor(service);
    const listed = await visitor.get('/v1/auth/oauth/providers');
    assert.deepEqual(
      listed.body.map(({ provider }: { provider: string }) => provider),
      ['github', 'oidc'],
    );
    for (const name of ['google', '__proto__', 'constructor', 'toString', 'hasOwnProperty', 'OIDC']) {
      for (const [step, body] of [
        ['start', { redirectUri }],
        ['exchange', { redirectUri, code: 'x', state: 'x' }],
      ] as const) {
        const answer = await createVisitor(service).post(`/v1/auth/oauth/${name}/${step}`, body);
        assert.deepEqual([answer.status, answer.body.code], [404, 'SVC_PROVIDER_NOT_FOUND'], `${name} ${step}`);
      }
    }
  });

  test('[AUTH-11] a browser is sent back only to our own pages or a listed address', async () => {
    const refused = [
      'https://evil.example/oauth/callback',
      `${publicUrl}.evil.example/oauth/callback`,
      `${publicUrl}@evil.example/`,
      `http://user@localhost:4000/oauth/callback`,
      `${redirectUri}?next=https://evil.example`,
      `${redirectUri}#fragment`,
      `${listedUri}/deeper`,
      'javascript:alert(1)',
      'not a url',
    ];
    for (const uri of refused) {
      const { status, body } = await createVisitor(service).post('/v1/auth/oauth/oidc/start', { redirectUri: uri });
      assert.deepEqual([status, body.code], [400, 'SVC_VALIDATION_FAILED'], uri);
    }
    const listed = await createVisitor(service).post('/v1/auth/oauth/oidc/start', { redirectUri: listedUri });
    assert.equal(listed.status, 200);
  });

  test('[AUTH-9] a page of another origin can neither start nor end a sign-in', async () => {
    const headers = { origin: 'https://evil.example' };
    for (const step of ['start', 'exchange']) {
      const body = { redirectUri, code: 'x', state: 'x' };
      const answer = await createVisitor(service).post(`/v1/auth/oauth/oidc/${step}`, body, headers);
      assert.deepEqual([answer.status, answer.body.code], [403, 'SVC_ORIGIN_NOT_ALLOWED']);
    }
  });

  test('[AUTH-28] a provider is the first proof only: an account with a factor is asked for it', async () => {
    const kit = createFactorKit(service, clock);
    const [email, visitor] = [newEmail(), createVisitor(service)];
    const person = { email, email_verified: true };
    const { body: first } = await signIn('two-factors', person, visitor);
    const { secret } = await kit.withApp({
      email,
      visitor,
      headers: { authorization: `Bearer ${first.accessToken}` },
    });
    const browser = createVisitor(service);
    const asked = await signIn('two-factors', person, browser);
    assert.deepEqual([asked.status, asked.body.code], [403, 'SVC_SECOND_FACTOR_REQUIRED']);
    assert.deepEqual(asked.body.factors, ['TOTP', 'RECOVERY_CODE']);
    assert.ok(!browser.cookies.has('parley_refresh'), 'no session yet');
    assert.equal((await kit.finish(asked.body.challenge, { code: '000000' }, browser)).status, 403);
    const done = await kit.finish(asked.body.challenge, { code: kit.codeOf(secret) }, browser);
    assert.deepEqual([done.status, done.body.user.email], [200, email]);
  });

  test('[AUTH-12] an account is joined when the provider and we have both verified the address', async () => {
    const email = newEmail('both');
    await registered(email, true);
    const own = await login(email);
    const { status, body } = await signIn('both-verified', { email: email.toUpperCase(), email_verified: true });
    assert.equal(status, 200);
    assert.equal(body.user.id, own.body.user.id);
  });

  test('[AUTH-12] an account is not joined when only we have verified the address', async () => {
    const email = newEmail('ours');
    await registered(email, true);
    for (const person of [{ email, email_verified: false }, { email }, {}]) {
      const { status, body } = await signIn('claims-to-be', person);
      assert.deepEqual([status, body.code], [403, 'SVC_EMAIL_NOT_VERIFIED']);
    }
  });

  test('[AUTH-12] an account that never proved its address is not joined until its password is reset', async () => {
    const email = newEmail('prehijacked');
    await registered(email, false);
    const person = { email, email_verified: true };
    const refused = await signIn('real-owner', person);
    assert.deepEqual([refused.status, refused.body.code], [403, 'SVC_EMAIL_NOT_VERIFIED']);

    const owner = createVisitor(service);
    await owner.post('/v1/auth/password-reset', { email });
    const token = await mailedToken(service, email, 2);
    await owner.post('/v1/auth/password-reset/confirm', { token, password: 'of the real owner' });
    assert.equal((await signIn('real-owner', person)).status, 200);
    assert.equal((await login(email)).status, 401);
  });

  async function githubSignIn(person: GithubPerson, alter: object = {}) {
    const visitor = createVisitor(service);
    const started = await visitor.post('/v1/auth/oauth/github/start', { redirectUri });
    const back = github.authorize(started.body.authorizationUrl, person);
    return visitor.post('/v1/auth/oauth/github/exchange', { ...back, redirectUri, ...alter });
  }

  test('[AUTH-11] GitHub: the primary address counts, and the account number is who they are', async () => {
    const [email, other] = [newEmail('primary'), newEmail('other')];
    const emails = [
      { email: other, primary: false, verified: true },
      { email, primary: true, verified: true },
    ];
    const first = await githubSignIn({ id: 7, login: 'octo', emails });
    assert.equal(first.status, 200);
    assert.deepEqual([first.body.user.email, first.body.user.name], [email, 'octo']);
    const renamed = await githubSignIn({ id: 7, login: 'renamed', emails: [] });
    assert.equal(renamed.body.user.id, first.body.user.id);
    const unverified = { email: newEmail(), primary: true, verified: false };
    const refused = await githubSignIn({ id: 8, login: 'nobody', emails: [unverified] });
    assert.equal(refused.body.code, 'SVC_EMAIL_NOT_VERIFIED');
    const wrong = await githubSignIn({ id: 9, login: 'wrong', emails }, { code: 'made-up' });
    assert.deepEqual([wrong.status, wrong.body.code], [401, 'SVC_INVALID_CREDENTIALS']);
  });
});

describe('a provider that does not answer', () => {
  const env = (issuer: string) => ({
    PUBLIC_URL: publicUrl,
    OAUTH_OIDC_ISSUER: issuer,
    OAUTH_OIDC_CLIENT_ID: 'parley',
    OAUTH_OIDC_CLIENT_SECRET: 'secret',
  });

  test('[AUTH-13] a dead one is 503 with a time to retry', async () => {
    const provider = await startOidcPeer([redirectUri]);
    await provider.close();
    const service = await startService({ env: env(provider.issuer) });
    const { status, body } = await createVisitor(service).post('/v1/auth/oauth/oidc/start', { redirectUri });
    await service.stop();
    assert.deepEqual([status, body.code], [503, 'SVC_SERVICE_UNAVAILABLE']);
    assert.ok(body.retryAfterSeconds >= 1);
  });

  test('[AUTH-13] one that hangs, or dies between start and exchange, is 503 too', async () => {
    const provider = await startOidcPeer([redirectUri]);
    const service = await startService({ env: env(provider.issuer) });
    const visitor = createVisitor(service);
    const started = await visitor.post('/v1/auth/oauth/oidc/start', { redirectUri });
    const back = await provider.authorize(started.body.authorizationUrl, 'late', { email: newEmail() });
    provider.hang();
    const body = { code: back.get('code'), state: back.get('state'), redirectUri };
    const answer = await visitor.post('/v1/auth/oauth/oidc/exchange', body);
    await service.stop();
    await provider.close();
    assert.deepEqual([answer.status, answer.body.code], [503, 'SVC_SERVICE_UNAVAILABLE']);
  });
});
