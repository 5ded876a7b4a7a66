import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createVisitor, mailedToken, mailTo, newEmail } from '../../../testkit/clients/visitor.ts';
import { eventually } from '../../../testkit/kit/eventually.ts';
import { startService, type TestService } from '../../../testkit/kit/service.ts';
import { sharedService } from '../../../testkit/kit/shared-service.ts';
import { startOidcPeer } from '../../../testkit/peers/oidc-peer.ts';

const password = 'correct horse battery';
const redirectUri = 'http://localhost:4000/oauth/callback';

describe('who may register', () => {
  /** Open, and on the same database as the others. */
  let open: TestService;
  let oidc: Awaited<ReturnType<typeof startOidcPeer>>;
  const services: TestService[] = [];
  const withPolicy = async (env: Record<string, string>): Promise<TestService> => {
    const oauth = {
      PUBLIC_URL: 'http://localhost:4000',
      OAUTH_OIDC_ISSUER: oidc.issuer,
      OAUTH_OIDC_CLIENT_ID: oidc.clientId,
      OAUTH_OIDC_CLIENT_SECRET: oidc.clientSecret,
    };
    const service = await startService({
      beside: open,
      env: { AUTH_REQUIRE_VERIFIED_EMAIL: 'true', ...oauth, ...env },
    });
    services.unshift(service);
    return service;
  };
  let closed: TestService;
  let invite: TestService;
  let bounded: TestService;
  before(async () => {
    [open, oidc] = await Promise.all([sharedService(), startOidcPeer([redirectUri])]);
    await open.newPerson('first');
    closed = await withPolicy({ REGISTRATION: 'closed' });
    invite = await withPolicy({ REGISTRATION: 'invite' });
    bounded = await withPolicy({ REGISTRATION_DOMAINS: 'example.com, Sub.Example.org' });
  });
  after(async () => {
    for (const service of services) await service.stop();
    await oidc.close();
  });

  const register = (service: TestService, email: string) =>
    createVisitor(service).post('/v1/auth/register', { email, password });

  async function invited(): Promise<{ email: string; projectId: string }> {
    const email = newEmail('invited');
    const project = await open.newProject();
    await project.owner.api.call('addProjectMember', { projectId: project.id, body: { email, role: 'VIEWER' } });
    await eventually(() => assert.equal(mailTo(open, email).length, 1));
    return { email, projectId: project.id };
  }

  async function signInByProvider(service: TestService, email: string) {
    const visitor = createVisitor(service);
    // The first one waits for the provider's own description of itself.
    const { body } = await eventually(async () => {
      const started = await visitor.post('/v1/auth/oauth/oidc/start', { redirectUri });
      assert.equal(started.status, 200);
      return started;
    });
    const back = await oidc.authorize(body.authorizationUrl, email, { email, email_verified: true });
    return visitor.post('/v1/auth/oauth/oidc/exchange', { ...Object.fromEntries(back), redirectUri });
  }

  test('[AUTH-24] closed: nobody registers, invited or not, known or not, by whichever way', async () => {
    const { email } = await invited();
    const known = await open.newPerson();
    for (const address of [email, known.email, newEmail()]) {
      const { status, body } = await register(closed, address);
      assert.deepEqual([status, body.code], [403, 'SVC_REGISTRATION_CLOSED']);
    }
    assert.equal((await signInByProvider(closed, newEmail('new'))).body.code, 'SVC_REGISTRATION_CLOSED');
  });

  test('[AUTH-24] closed: who has an account signs in, also with a provider', async () => {
    const email = newEmail('provided');
    assert.equal((await signInByProvider(invite, email)).status, 403);
    assert.equal((await signInByProvider(bounded, email)).status, 200);
    assert.equal((await signInByProvider(closed, email)).status, 200);
  });

  test('[AUTH-24] invite: the answer is the same for everybody, and only the invited get an account', async () => {
    const { email, projectId } = await invited();
    const stranger = newEmail('stranger');
    for (const address of [email, stranger]) {
      const answer = await register(invite, address);
      const expected = { user: { email: address, name: null }, verificationRequired: true };
      assert.deepEqual([answer.status, answer.body], [201, expected]);
    }
    const token = await mailedToken(invite, email);
    const { status, body } = await createVisitor(invite).post('/v1/auth/verify-email', { token, password });
    assert.equal(status, 200);
    assert.equal((await invite.as(body.accessToken).call('getProject', { projectId })).role, 'VIEWER');
    assert.equal((await createVisitor(invite).post('/v1/auth/login', { email: stranger, password })).status, 401);
    assert.deepEqual(mailTo(invite, stranger), []);
    assert.equal((await signInByProvider(invite, stranger)).body.code, 'SVC_REGISTRATION_CLOSED');
  });

  test('[AUTH-24] invite: who registered before and proves the address later needs the invitation then', async () => {
    const email = newEmail('early');
    await register(bounded, email);
    const token = await mailedToken(bounded, email);
    const verify = (service: TestService) => createVisitor(service).post('/v1/auth/verify-email', { token, password });
    assert.equal((await verify(invite)).body.code, 'SVC_REGISTRATION_CLOSED');
    assert.equal((await verify(closed)).body.code, 'SVC_REGISTRATION_CLOSED');
    assert.equal((await verify(bounded)).status, 200);
  });

  test('[AUTH-24] only addresses of the listed domains register, and the refusal tells nothing of the address', async () => {
    assert.equal((await register(bounded, newEmail())).status, 201);
    assert.equal((await register(bounded, newEmail().replace('example.com', 'sub.example.ORG'))).status, 201);
    for (const domain of ['example.org', 'sub.example.com', 'evil-example.com', 'example.com.evil.example']) {
      const { status, body } = await register(bounded, newEmail().replace('example.com', domain));
      assert.deepEqual([status, body.code], [403, 'SVC_EMAIL_DOMAIN_NOT_ALLOWED'], domain);
    }
    const abroad = newEmail().replace('example.com', 'elsewhere.example');
    assert.equal((await signInByProvider(bounded, abroad)).body.code, 'SVC_EMAIL_DOMAIN_NOT_ALLOWED');
  });

  test('[AUTH-24] a page can ask what holds, to say so before somebody fills in a form', async () => {
    const policyOf = async (service: TestService) => (await createVisitor(service).get('/v1/auth/registration')).body;
    assert.deepEqual(await policyOf(open), {
      policy: 'OPEN',
      domains: [],
      verificationRequired: false,
      sendsMail: true,
    });
    assert.deepEqual(await policyOf(closed), {
      policy: 'CLOSED',
      domains: [],
      verificationRequired: true,
      sendsMail: true,
    });
    const domains = ['example.com', 'sub.example.org'];
    assert.deepEqual(await policyOf(bounded), { policy: 'OPEN', domains, verificationRequired: true, sendsMail: true });
  });
});

test('[AUTH-24] invite: the very first account needs no invitation, the second does', async () => {
  const service = await startService({ env: { REGISTRATION: 'invite' } });
  const [first, second] = [newEmail('first'), newEmail('second')];
  for (const email of [first, second])
    assert.equal((await createVisitor(service).post('/v1/auth/register', { email, password })).status, 201);
  assert.equal((await createVisitor(service).post('/v1/auth/login', { email: first, password })).status, 200);
  assert.equal((await createVisitor(service).post('/v1/auth/login', { email: second, password })).status, 401);
  await service.stop();
});
