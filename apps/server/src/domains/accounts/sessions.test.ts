import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createVisitor, mailedToken, newEmail, type Visitor } from '../../../testkit/clients/visitor.ts';
import { cpuRatio } from '../../../testkit/kit/cpu.ts';
import { eventually } from '../../../testkit/kit/eventually.ts';
import { createFakeClock } from '../../../testkit/kit/fake-clock.ts';
import { startService, type TestService } from '../../../testkit/kit/service.ts';
import { sql } from '../../core/sql.ts';
import { createPasswords, recommendedCost } from './passwords.ts';

const password = 'correct horse battery';
const refreshCookie = 'parley_refresh';
const minuteMs = 60_000;

const bearer = (accessToken: string) => ({ authorization: `Bearer ${accessToken}` });
const me = (visitor: Visitor, accessToken: string) => visitor.get('/v1/auth/me', bearer(accessToken));

describe('sessions', () => {
  const clock = createFakeClock();
  let service: TestService;
  /** A second process on the same database. */
  let other: TestService;
  before(async () => {
    service = await startService({ clock, env: { AUTH_REFRESH_GRACE_SECONDS: '10' } });
    other = await startService({ clock, beside: service, env: { AUTH_REFRESH_GRACE_SECONDS: '10' } });
  });
  after(async () => {
    await other.stop();
    await service.stop();
  });

  async function signedIn(
    email = newEmail(),
    at = service,
  ): Promise<{ visitor: Visitor; accessToken: string; email: string }> {
    const visitor = createVisitor(at);
    await visitor.post('/v1/auth/register', { email, password });
    const { status, body } = await visitor.post('/v1/auth/login', { email, password });
    assert.equal(status, 200);
    return { visitor, accessToken: body.accessToken, email };
  }

  /** A browser that holds a copy of another one's refresh cookie. */
  function withCookie(value: string | undefined): Visitor {
    const visitor = createVisitor(service);
    visitor.cookies.set(refreshCookie, value ?? '');
    return visitor;
  }

  test('[AUTH-2] an unknown address and a wrong password get the same answer', async () => {
    const { email } = await signedIn();
    const answer = async (login: object) => {
      const { status, body } = await createVisitor(service).post('/v1/auth/login', login);
      return { status, ...body, requestId: null };
    };
    const wrong = await answer({ email, password: 'something else' });
    const unknown = await answer({ email: newEmail('unknown'), password });
    assert.deepEqual(unknown, wrong);
    assert.deepEqual([wrong.status, wrong.code], [401, 'SVC_INVALID_CREDENTIALS']);
  });

  test('[AUTH-2] an unknown address costs the work of a wrong password', async (t) => {
    const costly = await startService({ clock, beside: service, passwordCost: recommendedCost });
    t.after(() => costly.stop());
    const attempt = (email = '') => createVisitor(costly).post('/v1/auth/login', { email, password: 'something else' });
    // A new account each time, or the waits for one account would count.
    const known = await Promise.all(Array.from({ length: 10 }, async () => (await signedIn(newEmail(), costly)).email));
    const ratio = await cpuRatio(
      () => attempt(newEmail()),
      () => attempt(known.pop()),
    );
    // Leaving out the comparison with a password would make it a fifth.
    assert.ok(ratio > 0.5, `an unknown address takes ${ratio} of the CPU`);
    assert.match(await createPasswords().hash(password), /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/, 'as OWASP recommends');
  });

  test('[AUTH-6] the refresh token is in a cookie that scripts and other sites cannot use', async () => {
    const { visitor } = await signedIn();
    assert.match(
      visitor.setCookies()[0] ?? '',
      /^parley_refresh=[^;]+; Max-Age=2592000; Path=\/v1\/auth; HttpOnly; SameSite=Strict$/,
    );
  });

  test('[AUTH-6] an access token ends after 15 minutes, a session 30 days after its last refresh', async () => {
    const { visitor, accessToken } = await signedIn();
    assert.equal((await me(visitor, accessToken)).status, 200);
    clock.jump(15 * minuteMs + 10_000);
    assert.equal((await me(visitor, accessToken)).body.code, 'SVC_TOKEN_EXPIRED');
    const renewed = await visitor.post('/v1/auth/refresh');
    assert.equal((await me(visitor, renewed.body.accessToken)).status, 200);
    clock.jump(30 * 24 * 60 * minuteMs);
    assert.equal((await visitor.post('/v1/auth/refresh')).body.code, 'SVC_SESSION_EXPIRED');
  });

  test('[AUTH-7] refreshing rotates the token', async () => {
    const { visitor } = await signedIn();
    const seen = new Set([visitor.cookies.get(refreshCookie)]);
    for (let n = 0; n < 3; n++) {
      const { status, body } = await visitor.post('/v1/auth/refresh');
      assert.equal(status, 200);
      assert.equal((await me(visitor, body.accessToken)).status, 200);
      seen.add(visitor.cookies.get(refreshCookie));
    }
    assert.equal(seen.size, 4);
  });

  test('[AUTH-7] tabs that refresh at once, also out of order, all stay signed in', async () => {
    const { visitor } = await signedIn();
    const first = visitor.cookies.get(refreshCookie);
    const tabs = Array.from({ length: 5 }, () => withCookie(first));
    const answers = await Promise.all(tabs.map((tab) => tab.post('/v1/auth/refresh')));
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200, 200, 200, 200],
    );
    const after = new Set(tabs.map((tab) => tab.cookies.get(refreshCookie)));
    assert.equal(after.size, 1);
    // One tab goes on while the request of another, with the first token, is still on its way.
    assert.equal((await tabs[0]?.post('/v1/auth/refresh'))?.status, 200);
    assert.equal((await withCookie(first).post('/v1/auth/refresh')).status, 200);
  });

  test('[AUTH-7] a token that comes back after its successor ends the session for everybody', async () => {
    const { visitor } = await signedIn();
    const stolen = visitor.cookies.get(refreshCookie);
    const { body } = await visitor.post('/v1/auth/refresh');
    clock.jump(10_000);
    const replay = await withCookie(stolen).post('/v1/auth/refresh');
    assert.deepEqual([replay.status, replay.body.code], [401, 'SVC_SESSION_EXPIRED']);
    assert.equal((await visitor.post('/v1/auth/refresh')).status, 401);
    assert.equal((await me(visitor, body.accessToken)).body.code, 'SVC_SESSION_EXPIRED');
  });

  test('[AUTH-7] a stolen token used within the grace is noticed at the next rotation', async () => {
    const { visitor } = await signedIn();
    const thief = withCookie(visitor.cookies.get(refreshCookie));
    await visitor.post('/v1/auth/refresh');
    assert.equal((await thief.post('/v1/auth/refresh')).status, 200);
    clock.jump(minuteMs);
    assert.equal((await thief.post('/v1/auth/refresh')).status, 200);
    clock.jump(minuteMs);
    assert.equal((await visitor.post('/v1/auth/refresh')).status, 401);
    assert.equal((await thief.post('/v1/auth/refresh')).status, 401);
  });

  test('[AUTH-7] a token that is not ours ends nothing', async () => {
    const { visitor } = await signedIn();
    const good = visitor.cookies.get(refreshCookie) ?? '';
    const [sessionId, , mac] = good.split('.');
    const forged = [`${sessionId}.0.${mac}`, `${sessionId}.7.${mac}`, good.slice(0, -1), `${good}x`, '', 'a.1.b'];
    for (const value of forged) {
      assert.equal((await withCookie(value).post('/v1/auth/refresh')).body.code, 'SVC_SESSION_EXPIRED');
    }
    assert.equal((await visitor.post('/v1/auth/refresh')).status, 200);
  });

  test('[AUTH-8] logging out ends the session on every process', async () => {
    const { visitor, accessToken } = await signedIn();
    const elsewhere = createVisitor(other);
    assert.equal((await me(elsewhere, accessToken)).status, 200);
    assert.equal((await visitor.post('/v1/auth/logout')).status, 204);
    assert.equal(visitor.cookies.has(refreshCookie), false);
    assert.equal((await me(visitor, accessToken)).body.code, 'SVC_SESSION_EXPIRED');
    // The clock stands still, so the cache does not age: this is the bus.
    await eventually(async () => assert.equal((await me(elsewhere, accessToken)).status, 401));
  });

  test('[AUTH-8] logging out works with the access token alone, and twice', async () => {
    const { accessToken } = await signedIn();
    const visitor = createVisitor(service);
    assert.equal((await visitor.post('/v1/auth/logout', undefined, bearer(accessToken))).status, 204);
    assert.equal((await me(visitor, accessToken)).status, 401);
    assert.equal((await visitor.post('/v1/auth/logout', undefined, bearer(accessToken))).status, 204);
    assert.equal((await visitor.post('/v1/auth/logout')).status, 204);
  });

  test('[AUTH-21] a person sees where they are signed in, without whole addresses, and ends one or all of it', async () => {
    const { visitor, accessToken, email } = await signedIn();
    const phone = createVisitor(service);
    const { body: second } = await phone.post('/v1/auth/login', { email, password }, { 'user-agent': 'Phone/1' });
    const stranger = await signedIn();
    const owner = service.as(accessToken);
    const listed = await owner.call('listSessions');
    assert.deepEqual(
      listed.map(({ userAgent, current }) => [userAgent, current]).sort(),
      [
        ['Phone/1', false],
        ['node', true],
      ].sort(),
    );
    for (const { ip } of listed) assert.match(ip ?? '', /^10\.\d+\.\d+\.0$/);
    const other = listed.find(({ current }) => !current)?.id ?? '';
    for (const sessionId of [other, 'not-a-uuid', '00000000-0000-4000-8000-000000000000']) {
      await assert.rejects(service.as(stranger.accessToken).call('endSession', { sessionId }), /Session not found/);
    }
    await owner.call('endSession', { sessionId: other });
    assert.equal((await me(phone, second.accessToken)).status, 401);
    assert.equal((await phone.post('/v1/auth/refresh')).status, 401);
    assert.equal((await me(visitor, accessToken)).status, 200);
    await phone.post('/v1/auth/login', { email, password });
    await owner.call('endAllSessions');
    for (const one of [visitor, phone]) assert.equal((await one.post('/v1/auth/refresh')).status, 401);
    assert.equal((await me(stranger.visitor, stranger.accessToken)).status, 200);
  });

  test('[AUTH-9] a page of another origin cannot use the cookies', async () => {
    const { visitor, accessToken } = await signedIn();
    const cookie = visitor.cookies.get(refreshCookie);
    for (const origin of ['https://evil.example', 'null', 'http://localhost.evil.example']) {
      for (const path of ['/v1/auth/refresh', '/v1/auth/logout']) {
        const { status, body } = await visitor.post(path, undefined, { origin });
        assert.deepEqual([status, body.code], [403, 'SVC_ORIGIN_NOT_ALLOWED']);
      }
    }
    assert.equal(visitor.cookies.get(refreshCookie), cookie);
    assert.equal((await me(visitor, accessToken)).status, 200);
    const own = await visitor.post('/v1/auth/refresh', undefined, { origin: service.config.publicUrl });
    assert.equal(own.status, 200);
  });

  test('[AUTH-5] a new password ends every other session, on every process, and proves the address', async () => {
    const { visitor, accessToken, email } = await signedIn();
    const elsewhere = createVisitor(other);
    assert.equal((await me(elsewhere, accessToken)).status, 200);
    const verifyToken = await mailedToken(service, email);
    await visitor.post('/v1/auth/password-reset', { email });
    const token = await mailedToken(service, email, 2);
    const owner = createVisitor(service);
    const { status, body } = await owner.post('/v1/auth/password-reset/confirm', { token, password: 'a new password' });

    assert.deepEqual([status, body.user.emailVerified], [200, true]);
    assert.equal((await me(owner, body.accessToken)).status, 200);
    assert.equal((await me(visitor, accessToken)).status, 401);
    assert.equal((await visitor.post('/v1/auth/refresh')).status, 401);
    await eventually(async () => assert.equal((await me(elsewhere, accessToken)).status, 401));
    assert.equal((await owner.post('/v1/auth/login', { email, password })).status, 401);
    assert.equal((await owner.post('/v1/auth/login', { email, password: 'a new password' })).status, 200);
    assert.equal((await owner.post('/v1/auth/verify-email', { token: verifyToken })).status, 400);
  });

  test('[AUTH-5] no session of the old password outlives a reset that it raced with', async () => {
    for (let round = 0; round < 8; round++) {
      const { visitor, email } = await signedIn();
      await mailedToken(service, email);
      await visitor.post('/v1/auth/password-reset', { email });
      const token = await mailedToken(service, email, 2);
      const body = { token, password: 'a new password' };
      const [, ...logins] = await Promise.all([
        createVisitor(service).post('/v1/auth/password-reset/confirm', body),
        ...Array.from({ length: 6 }, () => createVisitor(service).post('/v1/auth/login', { email, password })),
      ]);
      for (const login of logins.filter(({ status }) => status === 200)) {
        assert.equal((await me(visitor, login.body.accessToken)).status, 401);
      }
    }
  });

  test('[AUTH-4] of 20 calls with one reset link exactly one gets a session', async () => {
    const { visitor, email } = await signedIn();
    await mailedToken(service, email);
    await visitor.post('/v1/auth/password-reset', { email });
    const token = await mailedToken(service, email, 2);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        createVisitor(service).post('/v1/auth/password-reset/confirm', { token, password: `password ${n}` }),
      ),
    );
    const winner = answers.findIndex(({ status }) => status === 200);
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, ...Array.from({ length: 19 }, () => 400)]);
    const login = await createVisitor(service).post('/v1/auth/login', { email, password: `password ${winner}` });
    assert.equal(login.status, 200);
  });

  test('[AUTH-4] a reset link is good for one hour, a verification link for a day', async () => {
    const { visitor, email } = await signedIn();
    const verify = await mailedToken(service, email);
    await visitor.post('/v1/auth/password-reset', { email });
    const reset = await mailedToken(service, email, 2);
    clock.jump(60 * minuteMs);
    const late = await visitor.post('/v1/auth/password-reset/confirm', { token: reset, password: 'a new password' });
    assert.equal(late.body.code, 'SVC_INVALID_TOKEN_LINK');
    clock.jump(23 * 60 * minuteMs);
    assert.equal((await visitor.post('/v1/auth/verify-email', { token: verify })).body.code, 'SVC_INVALID_TOKEN_LINK');
  });

  test('[AUTH-4] a link of one kind is not good for the other', async () => {
    const { visitor, email } = await signedIn();
    const verify = await mailedToken(service, email);
    const answer = await visitor.post('/v1/auth/password-reset/confirm', { token: verify, password: 'a new password' });
    assert.equal(answer.body.code, 'SVC_INVALID_TOKEN_LINK');
    assert.equal((await visitor.post('/v1/auth/verify-email', { token: verify })).status, 200);
  });

  test('[AUTH-10] guesses at one account wait longer and longer, and its owner still gets in', async () => {
    const { email } = await signedIn();
    const attempt = (candidate: string) =>
      createVisitor(service).post('/v1/auth/login', { email, password: candidate });
    const sleepersFor = (ms: number) => clock.sleeping().filter((asked) => asked === ms).length;
    // Chores of the service may sleep as long.
    const sleepersBefore = new Map([250, 500].map((ms) => [ms, sleepersFor(ms)]));
    for (let n = 0; n < 8; n++) assert.equal((await attempt('a guess')).status, 401);

    for (const [candidate, waitMs, status] of [
      ['a guess', 250, 401],
      [password, 500, 200],
    ] as const) {
      let isAnswered = false;
      const answer = attempt(candidate).finally(() => {
        isAnswered = true;
      });
      await eventually(() => sleepersFor(waitMs) > (sleepersBefore.get(waitMs) ?? 0));
      assert.equal(isAnswered, false);
      clock.jump(waitMs);
      assert.equal((await answer).status, status);
    }
    assert.equal((await attempt('a guess')).status, 401);
  });
});

describe('sessions over https', () => {
  let service: TestService;
  before(async () => {
    service = await startService({
      env: {
        PUBLIC_URL: 'https://parley.example',
        ALLOW_PUBLIC_DEVELOPMENT: 'true',
        AUTH_REFRESH_GRACE_SECONDS: '0',
      },
    });
  });
  after(() => service.stop());

  test('[AUTH-6] the cookie has the __Host- prefix', async () => {
    const visitor = createVisitor(service);
    const email = newEmail();
    await visitor.post('/v1/auth/register', { email, password });
    await visitor.post('/v1/auth/login', { email, password });
    assert.match(
      visitor.setCookies()[0] ?? '',
      /^__Host-parley_refresh=[^;]+; Max-Age=2592000; Path=\/; Secure; HttpOnly; SameSite=Strict$/,
    );
    assert.equal((await visitor.post('/v1/auth/refresh')).status, 200);
  });

  test('[AUTH-7] without a grace the second use of a token ends the session at once', async () => {
    const visitor = createVisitor(service);
    const email = newEmail();
    await visitor.post('/v1/auth/register', { email, password });
    await visitor.post('/v1/auth/login', { email, password });
    const thief = createVisitor(service);
    for (const [name, value] of visitor.cookies) thief.cookies.set(name, value);
    assert.equal((await visitor.post('/v1/auth/refresh')).status, 200);
    assert.equal((await thief.post('/v1/auth/refresh')).status, 401);
    assert.equal((await visitor.post('/v1/auth/refresh')).status, 401);
  });
});

test('[AUTH-18] what has expired is removed', async () => {
  const clock = createFakeClock();
  const service = await startService({ clock });
  const rows = async (): Promise<number> => {
    const [row] = await service.adapters.db.query<{ n: number }>(sql`
      select (select count(*) from sessions) + (select count(*) from mail_tokens)
        + (select count(*) from verification_links) + (select count(*) from known_devices) as n`);
    return row?.n ?? 0;
  };
  const email = newEmail();
  const visitor = createVisitor(service);
  await visitor.post('/v1/auth/register', { email, password });
  await visitor.post('/v1/auth/login', { email, password });
  await mailedToken(service, email);
  assert.equal(await rows(), 3);
  clock.jump(366 * 24 * 60 * minuteMs);
  await eventually(async () => assert.equal(await rows(), 0));
  await service.stop();
});
