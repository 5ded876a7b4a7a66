import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { createVisitor, mailedToken, newEmail, type Visitor } from '../../../testkit/clients/visitor.ts';
import { startService, type TestService } from '../../../testkit/kit/service.ts';
import { sharedService } from '../../../testkit/kit/shared-service.ts';

const others = 'of somebody else';
const own = 'of the real owner';

const register = (service: TestService, email: string, password: string, visitor = createVisitor(service)) =>
  visitor.post('/v1/auth/register', { email, password, name: 'As registered' });
const verify = (visitor: Visitor, token: string, more: object = {}) =>
  visitor.post('/v1/auth/verify-email', { token, ...more });
const login = (service: TestService, email: string, password: string) =>
  createVisitor(service).post('/v1/auth/login', { email, password });

describe('proving an address, where it must be proven', () => {
  let service: TestService;
  before(async () => {
    service = await startService({ env: { AUTH_REQUIRE_VERIFIED_EMAIL: 'true' } });
  });
  after(() => service.stop());

  test('[AUTH-17] registering again changes nothing: the first password, name and link stand', async () => {
    const email = newEmail();
    await register(service, email, own);
    const first = await mailedToken(service, email);
    await register(service, email.toUpperCase(), others);
    await mailedToken(service, email, 2);

    assert.equal((await login(service, email, own)).body.code, 'SVC_EMAIL_NOT_VERIFIED');
    assert.equal((await login(service, email, others)).status, 401);
    assert.equal((await verify(createVisitor(service), first, { password: own })).status, 200);
    assert.equal((await login(service, email, own)).status, 200);
  });

  test('[AUTH-22] a person who follows a link that another asked for shares nothing with them', async () => {
    const email = newEmail();
    await register(service, email, own);
    await mailedToken(service, email);
    await register(service, email, others);
    const newest = await mailedToken(service, email, 2);
    const { status, body } = await verify(createVisitor(service), newest, { password: 'chosen with the link' });

    assert.deepEqual([status, body.user.name, body.user.emailVerified], [200, null, true]);
    for (const before of [own, others]) assert.equal((await login(service, email, before)).status, 401);
    assert.equal((await login(service, email, 'chosen with the link')).status, 200);
  });

  test('[AUTH-22] the name is the one given with the proof', async () => {
    const email = newEmail();
    await register(service, email, others);
    const token = await mailedToken(service, email);
    const { body } = await verify(createVisitor(service), token, { password: own, name: 'Ada' });
    assert.equal(body.user.name, 'Ada');
  });

  test('[AUTH-22] the token alone proves the address and leaves no password that another may know', async () => {
    const email = newEmail();
    await register(service, email, others);
    const token = await mailedToken(service, email);
    const owner = createVisitor(service);
    const { status, body } = await verify(owner, token);
    assert.deepEqual([status, body.user.emailVerified, body.user.name], [200, true, null]);
    assert.equal((await login(service, email, others)).status, 401);

    await owner.post('/v1/auth/password-reset', { email });
    const reset = await mailedToken(service, email, 2);
    await owner.post('/v1/auth/password-reset/confirm', { token: reset, password: own });
    assert.equal((await login(service, email, own)).status, 200);
  });

  test('[AUTH-22] in development the token alone confirms the only registration, from the address that made it', async () => {
    const visitor = createVisitor(service);
    const email = newEmail();
    await register(service, email, own, visitor);
    await mailedToken(service, email);
    await visitor.post('/v1/auth/verify-email/resend', { email });
    const { body } = await verify(visitor, await mailedToken(service, email, 2));
    assert.equal(body.user.name, 'As registered');
    assert.equal((await login(service, email, own)).status, 200);

    const contested = newEmail();
    await register(service, contested, own, visitor);
    await mailedToken(service, contested);
    await register(service, contested, others, visitor);
    assert.equal((await verify(visitor, await mailedToken(service, contested, 2))).status, 200);
    for (const before of [own, others]) assert.equal((await login(service, contested, before)).status, 401);
  });

  test('[AUTH-22] proof by a reset link leaves no name of before either, and voids every link', async () => {
    const email = newEmail();
    const visitor = createVisitor(service);
    await register(service, email, others);
    const link = await mailedToken(service, email);
    await visitor.post('/v1/auth/password-reset', { email });
    const token = await mailedToken(service, email, 2);
    const { body } = await visitor.post('/v1/auth/password-reset/confirm', { token, password: own });
    assert.equal(body.user.name, null);
    assert.equal((await verify(visitor, link, { password: others })).body.code, 'SVC_INVALID_TOKEN_LINK');
  });

  test('[AUTH-4] of calls with two links of one address at once exactly one gets a session, and the links are void', async () => {
    const email = newEmail();
    await register(service, email, own);
    const first = await mailedToken(service, email);
    await register(service, email, others);
    const tokens = [first, await mailedToken(service, email, 2)];
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, n) =>
        verify(createVisitor(service), tokens[n % 2] ?? '', { password: `${own} ${n}` }),
      ),
    );
    const winner = answers.findIndex(({ status }) => status === 200);
    assert.equal(answers.filter(({ status }) => status === 200).length, 1);
    assert.equal((await login(service, email, `${own} ${winner}`)).status, 200);
  });

  test('[AUTH-23] looking at a link says whose it is and when it ends, and does not use it', async () => {
    const email = newEmail();
    await register(service, email, others);
    const token = await mailedToken(service, email);
    const look = (secret: string) => createVisitor(service).post('/v1/auth/verify-email/link', { token: secret });
    for (let n = 0; n < 3; n++) {
      const { status, body } = await look(token);
      assert.deepEqual([status, Object.keys(body).sort(), body.email], [200, ['email', 'expiresAt'], email]);
    }
    assert.equal((await look(randomBytes(32).toString('base64url'))).body.code, 'SVC_INVALID_TOKEN_LINK');
    assert.equal((await login(service, email, others)).body.code, 'SVC_EMAIL_NOT_VERIFIED');
    assert.equal((await verify(createVisitor(service), token, { password: own })).status, 200);
    assert.equal((await look(token)).status, 400);
  });
});

test('[AUTH-22] in production the token alone never confirms a password', async () => {
  const secret = () => randomBytes(36).toString('base64');
  const env = { NODE_ENV: 'production', SECRET_KEY: secret(), SFU_REGISTRATION_SECRET: secret() };
  const service = await startService({ env });
  const visitor = createVisitor(service);
  const email = newEmail();
  await register(service, email, own, visitor);
  const { status, body } = await verify(visitor, await mailedToken(service, email));
  assert.deepEqual([status, body.user.emailVerified], [200, true]);
  assert.equal((await login(service, email, own)).status, 401);
  await service.stop();
});

test('[AUTH-22] where an account is used before its proof, the proof ends what was set and signed in before it', async () => {
  const service = await sharedService();
  const email = newEmail();
  await register(service, email, others);
  const { body: early } = await login(service, email, others);
  const me = () => createVisitor(service).get('/v1/auth/me', { authorization: `Bearer ${early.accessToken}` });
  assert.equal((await me()).status, 200);
  const { body } = await verify(createVisitor(service), await mailedToken(service, email), { password: own });
  assert.equal(body.user.id, early.user.id);
  assert.equal((await me()).status, 401);
  assert.equal((await login(service, email, others)).status, 401);
  assert.equal((await login(service, email, own)).status, 200);
});
