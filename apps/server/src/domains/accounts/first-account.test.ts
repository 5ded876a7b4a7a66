import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createVisitor, mailedToken, newEmail } from '../../../testkit/clients/visitor.ts';
import { createFakeClock } from '../../../testkit/kit/fake-clock.ts';
import { startService, type TestService } from '../../../testkit/kit/service.ts';
import { createNoMail } from '../../adapters/mail/none.ts';
import { sql } from '../../core/sql.ts';

const [own, others] = ['correct horse battery', 'another stable staple'];
const production = { NODE_ENV: 'production', PUBLIC_URL: 'https://parley.example' };

const register = (service: TestService, email: string, password = others) =>
  createVisitor(service).post('/v1/auth/register', { email, password });
const login = (service: TestService, email: string, password: string) =>
  createVisitor(service).post('/v1/auth/login', { email, password });

/** The token of the link that a server prints at its start. */
async function printed(service: TestService, server = 'one:4000'): Promise<string> {
  const link = await service.service.accounts.renewFirstAccountLink(server);
  const url = new URL(link ?? 'missing:');
  assert.equal(`${url.origin}${url.pathname}`, 'https://parley.example/first-account');
  return url.searchParams.get('token') ?? '';
}

const make = (service: TestService, token: string, email = newEmail(), password = own) =>
  createVisitor(service).post('/v1/auth/first-account', { token, email, password, name: 'Ada' });

test('[AUTH-37] of many calls with the links of two servers one makes the first account, though registration is closed', async () => {
  const service = await startService({ env: { ...production, REGISTRATION: 'closed' } });
  const [first, second] = [await printed(service, 'one:4000'), await printed(service, 'two:4000')];
  const stored = await service.adapters.db.query(sql`select * from first_account_links`);
  assert.equal(stored.length, 2);
  assert.ok(!JSON.stringify(stored).includes(first), 'kept as a hash');
  assert.equal((await make(service, first, newEmail(), 'password1')).body.code, 'SVC_PASSWORD_TOO_COMMON');

  const answers = await Promise.all([first, first, second, second].map((token) => make(service, token)));
  const made = answers.filter(({ status }) => status === 201);
  assert.equal(made.length, 1);
  for (const { body, status } of answers.filter((answer) => !made.includes(answer)))
    assert.deepEqual([status, body.code], [400, 'SVC_INVALID_TOKEN_LINK']);
  const { user } = made[0]?.body ?? {};
  assert.deepEqual([user.name, user.emailVerified, user.isOperator], ['Ada', true, true]);
  assert.equal((await login(service, user.email, own)).status, 200);
  for (const token of [first, second])
    for (const email of [newEmail(), user.email])
      assert.equal(
        (await make(service, token, email, others)).body.code,
        'SVC_INVALID_TOKEN_LINK',
        'there is an account',
      );
  assert.equal((await login(service, user.email, own)).status, 200, 'and it is not taken over');
  assert.equal(await service.service.accounts.renewFirstAccountLink('one:4000'), null);
  await service.stop();
});

test('[AUTH-37] a link that was left when the first account came by mail takes nothing over', async () => {
  const service = await startService({ env: production });
  const token = await printed(service);
  const email = newEmail();
  await register(service, email, own);
  const proof = { token: await mailedToken(service, email), password: own };
  assert.equal((await createVisitor(service).post('/v1/auth/verify-email', proof)).status, 200);
  for (const address of [email, newEmail()])
    assert.equal((await make(service, token, address, others)).body.code, 'SVC_INVALID_TOKEN_LINK');
  assert.equal((await login(service, email, own)).status, 200);
  await service.stop();
});

test('[AUTH-37] a link ends with the next, with its server and after a day; what others set for the address does not survive it', async () => {
  const clock = createFakeClock();
  const service = await startService({ env: production, clock });
  const email = newEmail();
  await register(service, email);
  const mailed = await mailedToken(service, email);
  const replaced = await printed(service);
  const stopped = await printed(service);
  await service.service.accounts.voidFirstAccountLink();
  const expired = await printed(service);
  clock.jump(24 * 60 * 60_000 + 1);
  for (const token of [replaced, stopped, expired, 'x'.repeat(43)])
    assert.equal((await make(service, token, email)).body.code, 'SVC_INVALID_TOKEN_LINK');

  const { status, body } = await make(service, await printed(service), email.toUpperCase());
  assert.deepEqual([status, body.user.isOperator], [201, true]);
  assert.equal((await login(service, email, others)).status, 401);
  assert.equal((await login(service, email, own)).status, 200);
  const late = await createVisitor(service).post('/v1/auth/verify-email', { token: mailed, password: others });
  assert.equal(late.body.code, 'SVC_INVALID_TOKEN_LINK');
  await service.stop();
});

describe('[AUTH-38] without a mail server', () => {
  let service: TestService;
  before(async () => {
    const wrap: Parameters<typeof startService>[0] = {
      env: production,
      wrap: (adapters) => ({ ...adapters, mail: createNoMail(), mailbox: null }),
    };
    service = await startService(wrap);
  });
  after(() => service.stop());

  test('what only a letter could finish is refused, for every address alike, and says what is missing', async () => {
    const { body: policy } = await createVisitor(service).get('/v1/auth/registration');
    assert.deepEqual([policy.sendsMail, policy.verificationRequired], [false, true]);
    const { body: mine } = await make(service, await printed(service));
    for (const email of [mine.user.email, newEmail()])
      for (const path of ['register', 'verify-email/resend', 'password-reset']) {
        const body = path === 'register' ? { email, password: own } : { email };
        const { status, body: refusal } = await createVisitor(service).post(`/v1/auth/${path}`, body);
        assert.deepEqual([status, refusal.code], [501, 'SVC_MAIL_NOT_CONFIGURED'], path);
        assert.match(refusal.message, /SMTP_URL.*link that the server prints/);
      }
  });

  test('who registered before mail went missing is told so', async () => {
    const withMail = await startService({ env: production, beside: service });
    const email = newEmail();
    await register(withMail, email);
    const { body } = await login(service, email, others);
    assert.equal(body.code, 'SVC_EMAIL_NOT_VERIFIED');
    assert.match(body.message, /sends no mail.*SMTP_URL/);
    await withMail.stop();
  });

  test('where no proof is required, registering works', async () => {
    const open = await startService({
      beside: service,
      env: { ...production, AUTH_REQUIRE_VERIFIED_EMAIL: 'false' },
      wrap: (adapters) => ({ ...adapters, mail: createNoMail(), mailbox: null }),
    });
    const email = newEmail();
    assert.equal((await register(open, email)).status, 201);
    assert.equal((await login(open, email, others)).status, 200);
    await open.stop();
  });
});
