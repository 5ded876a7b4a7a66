import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createVisitor, mailedToken, mailTo, newEmail, type Visitor } from '../../../testkit/clients/visitor.ts';
import { cpuRatio } from '../../../testkit/kit/cpu.ts';
import { eventually } from '../../../testkit/kit/eventually.ts';
import { startService, type TestService } from '../../../testkit/kit/service.ts';
import { sharedService } from '../../../testkit/kit/shared-service.ts';
import { recommendedCost } from './passwords.ts';

const password = 'correct horse battery';

describe('registering, where addresses must be verified', () => {
  const env = { AUTH_REQUIRE_VERIFIED_EMAIL: 'true' };
  let service: TestService;
  before(async () => {
    service = await startService({ env });
  });
  after(() => service.stop());

  const register = (email: string, more: object = {}, visitor: Visitor = createVisitor(service)) =>
    visitor.post('/v1/auth/register', { email, password, ...more });

  async function verified(name: string): Promise<string> {
    const email = newEmail(name);
    await register(email);
    const token = await mailedToken(service, email);
    assert.equal((await createVisitor(service).post('/v1/auth/verify-email', { token, password })).status, 200);
    return email;
  }

  test('[AUTH-1] a known address gets the answer of an unknown one; only the mail differs', async () => {
    const known = await verified('known');
    const unknown = newEmail('unknown');
    const [first, second] = [await register(known, { name: 'N' }), await register(unknown, { name: 'N' })];

    assert.equal(first.status, 201);
    assert.equal(second.status, 201);
    assert.deepEqual(first.body, { user: { email: known, name: 'N' }, verificationRequired: true });
    assert.deepEqual(second.body, { user: { email: unknown, name: 'N' }, verificationRequired: true });
    await mailedToken(service, unknown);
    await eventually(() => assert.equal(mailTo(service, known)[0]?.subject, 'You already have an account'));
    assert.equal(mailTo(service, unknown)[0]?.subject, 'Confirm your e-mail address');
  });

  test('[AUTH-1] a known address costs the work of an unknown one', async (t) => {
    const known = await verified('busy');
    const costly = await startService({ env, beside: service, passwordCost: recommendedCost });
    t.after(() => costly.stop());
    const ratio = await cpuRatio(
      () => register(known, {}, createVisitor(costly)),
      () => register(newEmail(), {}, createVisitor(costly)),
    );
    // Leaving out the password hash would make it a fifth.
    assert.ok(ratio > 0.5, `a known address takes ${ratio} of the CPU`);
  });

  test('[AUTH-1] asking for a link answers 202 alike, and mails only who can use it', async () => {
    const [known, pending, unknown] = [await verified('done'), newEmail('pending'), newEmail('unknown')];
    await register(pending);
    await mailedToken(service, pending);
    for (const path of ['/v1/auth/verify-email/resend', '/v1/auth/password-reset']) {
      for (const email of [known, pending, unknown]) {
        const answer = await createVisitor(service).post(path, { email });
        assert.deepEqual(answer, { status: 202, body: { accepted: true } });
      }
    }
    await mailedToken(service, pending, 3);
    await mailedToken(service, known, 2);
    assert.deepEqual(
      mailTo(service, known).map((letter) => letter.subject),
      ['Set a new password', 'Confirm your e-mail address'],
    );
    assert.deepEqual(mailTo(service, unknown), []);
  });

  test('[AUTH-3] the right password of an unproven address is 403, a wrong one 401', async () => {
    const email = newEmail();
    await register(email);
    const right = await createVisitor(service).post('/v1/auth/login', { email, password });
    const wrong = await createVisitor(service).post('/v1/auth/login', { email, password: 'something else' });
    assert.deepEqual([right.status, right.body.code], [403, 'SVC_EMAIL_NOT_VERIFIED']);
    assert.deepEqual([wrong.status, wrong.body.code], [401, 'SVC_INVALID_CREDENTIALS']);
  });

  test('[AUTH-4] of 20 calls with one link exactly one gets a session', async () => {
    const email = newEmail();
    await register(email);
    const token = await mailedToken(service, email);
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => createVisitor(service).post('/v1/auth/verify-email', { token })),
    );
    const good = answers.filter(({ status }) => status === 200);
    assert.equal(good.length, 1);
    assert.equal(good[0]?.body.user.emailVerified, true);
    for (const { status, body } of answers.filter((answer) => answer !== good[0])) {
      assert.deepEqual([status, body.code], [400, 'SVC_INVALID_TOKEN_LINK']);
    }
  });

  test('[AUTH-4] a new link voids the older one', async () => {
    const email = newEmail();
    await register(email);
    const older = await mailedToken(service, email);
    await createVisitor(service).post('/v1/auth/verify-email/resend', { email });
    const newer = await mailedToken(service, email, 2);
    const visitor = createVisitor(service);
    assert.equal((await visitor.post('/v1/auth/verify-email', { token: older })).status, 400);
    assert.equal((await visitor.post('/v1/auth/verify-email', { token: newer })).status, 200);
  });

  test('[AUTH-4] links start with PUBLIC_URL, whatever the request called us', async () => {
    const email = newEmail();
    await createVisitor(service).post(
      '/v1/auth/register',
      { email, password },
      { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' },
    );
    await mailedToken(service, email);
    const letter = mailTo(service, email)[0];
    const base = `${service.config.publicUrl}/verify-email?token=`;
    for (const part of [letter?.text ?? '', letter?.html ?? '']) {
      assert.ok(part.includes(base));
      assert.ok(!part.includes('evil'));
    }
  });

  test('[AUTH-20] an address is one plain mailbox', async () => {
    const refused = [
      'a,b@example.com',
      'a;b@example.com',
      'Name<a@example.com',
      'a@example.com>',
      '"a b"@example.com',
      'a(comment)@example.com',
      'a@[127.0.0.1]',
      'a@b@example.com',
      'a@example.com\r\nbcc:b',
      '@example.com',
      'a@',
    ];
    for (const email of refused) assert.equal((await register(email)).status, 400, email);
    for (const email of [`o'neil+tag.${newEmail()}`, `名前.${newEmail()}`]) {
      assert.equal((await register(email)).status, 201, email);
    }
  });

  test('[AUTH-16] nobody verifies or promotes themselves in the body', async () => {
    const email = newEmail();
    const id = '00000000-0000-7000-8000-000000000000';
    const extra = { id, emailVerified: true, emailVerifiedAt: '2020-01-01T00:00:00.000Z', isOperator: true };
    assert.equal((await register(email, extra)).status, 201);
    const login = await createVisitor(service).post('/v1/auth/login', { email, password, ...extra });
    assert.equal(login.body.code, 'SVC_EMAIL_NOT_VERIFIED');
    const token = await mailedToken(service, email);
    const { body } = await createVisitor(service).post('/v1/auth/verify-email', { token });
    assert.notEqual(body.user.id, id);
  });

  test('[AUTH-17] a proven account is never changed by registering again', async () => {
    const email = await verified('proven');
    await register(email, { password: 'of somebody else', name: 'Somebody' });
    const login = (candidate: string) => createVisitor(service).post('/v1/auth/login', { email, password: candidate });
    assert.equal((await login('of somebody else')).status, 401);
    const { status, body } = await login(password);
    assert.deepEqual([status, body.user.name], [200, null]);
  });

  test('[AUTH-19] one mailbox gets at most ten links an hour', async () => {
    const email = await verified('flooded');
    const ask = () => createVisitor(service).post('/v1/auth/password-reset', { email });
    for (let n = 0; n < 12; n++) assert.equal((await ask()).status, 202);
    const last = newEmail('last');
    await register(last);
    await mailedToken(service, last);
    await eventually(() => {
      const resets = mailTo(service, email).filter(({ subject }) => subject === 'Set a new password');
      assert.equal(resets.length, 10);
    });
  });
});

describe('registering, where addresses need not be verified', () => {
  let service: TestService;
  before(async () => {
    service = await sharedService();
  });

  test('[AUTH-3] an unproven account signs in, and registering again does not change it', async () => {
    const email = newEmail();
    const visitor = createVisitor(service);
    const { body } = await visitor.post('/v1/auth/register', { email, password });
    assert.equal(body.verificationRequired, false);
    await visitor.post('/v1/auth/register', { email, password: 'of somebody else' });
    const login = await visitor.post('/v1/auth/login', { email, password });
    assert.deepEqual([login.status, login.body.user.emailVerified], [200, false]);
    assert.equal((await visitor.post('/v1/auth/login', { email, password: 'of somebody else' })).status, 401);
  });

  test('[REQ-6] budgets of the auth routes are by address', async () => {
    const budgets = {
      register: 5,
      login: 10,
      'verify-email': 10,
      'verify-email/resend': 3,
      'password-reset': 5,
      'password-reset/confirm': 5,
      'oauth/oidc/start': 20,
      'oauth/oidc/exchange': 10,
    };
    for (const [path, budget] of Object.entries(budgets)) {
      const visitor = createVisitor(service);
      const visit = (from: Visitor) =>
        from.post(`/v1/auth/${path}`, {
          email: newEmail(),
          password,
          token: 'x',
          redirectUri: 'x',
          code: 'x',
          state: 'x',
        });
      for (let n = 0; n < budget; n++) assert.notEqual((await visit(visitor)).status, 429, `${path} ${n}`);
      const { status, body } = await visit(visitor);
      assert.deepEqual([status, body.code], [429, 'SVC_RATE_LIMITED'], path);
      assert.notEqual((await visit(createVisitor(service))).status, 429, path);
    }
  });
});
