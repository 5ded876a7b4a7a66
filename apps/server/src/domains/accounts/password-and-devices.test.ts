import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { createVisitor, mailedToken, mailTo, newEmail, type Visitor } from '../../../testkit/clients/visitor.ts';
import { eventually } from '../../../testkit/kit/eventually.ts';
import type { TestService } from '../../../testkit/kit/service.ts';
import { sharedService } from '../../../testkit/kit/shared-service.ts';

const password = 'correct horse battery';
const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
const edge = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/142.0 Safari/537.36 Edg/142.0';

const bearer = (accessToken: string) => ({ authorization: `Bearer ${accessToken}` });

describe('passwords and devices', () => {
  let service: TestService;
  before(async () => {
    service = await sharedService();
  });

  /** A proven account and the browser it was proven in. */
  async function proven(): Promise<{ email: string; home: Visitor; accessToken: string }> {
    const email = newEmail();
    const home = createVisitor(service);
    await home.post('/v1/auth/register', { email, password });
    const token = await mailedToken(service, email);
    const { body } = await home.post('/v1/auth/verify-email', { token, password });
    return { email, home, accessToken: body.accessToken };
  }
  const login = (visitor: Visitor, email: string, secret = password, userAgent = firefox) =>
    visitor.post('/v1/auth/login', { email, password: secret }, { 'user-agent': userAgent });
  const newsTo = (email: string) =>
    mailTo(service, email).filter(({ subject }) => subject === 'New sign-in to your account');

  test('[AUTH-25] a sign-in with a browser that is not known is mailed: which, from where and what to do', async () => {
    const { email } = await proven();
    assert.equal((await login(createVisitor(service), email, password, edge)).status, 200);
    const letter = await eventually(() => newsTo(email)[0] ?? assert.fail('no letter'));
    assert.match(letter.text, /Edge on Windows, network: Private network 10\.\d+\.\d+\.0\/24, at 20/);
    assert.ok(letter.text.includes(`${service.config.publicUrl}/account`));
  });

  test('[AUTH-25] a known browser, the first one, a wrong password and an unproven address are no news', async () => {
    const { email, home } = await proven();
    for (let n = 0; n < 2; n++) assert.equal((await login(home, email)).status, 200);
    await home.post('/v1/auth/logout');
    assert.equal((await login(home, email)).status, 200);
    assert.equal((await login(createVisitor(service), email, 'a wrong password')).status, 401);

    const unproven = newEmail();
    await home.post('/v1/auth/register', { email: unproven, password });
    for (let n = 0; n < 2; n++) assert.equal((await login(createVisitor(service), unproven)).status, 200);
    // What comes after all of these has come: then they have not.
    assert.equal((await login(createVisitor(service), email)).status, 200);
    await eventually(() => assert.equal(newsTo(email).length, 1));
    assert.equal(newsTo(unproven).length, 0);
  });

  test('[AUTH-26] who knows the password changes it; every other session ends, this one stays', async () => {
    const { email, home, accessToken } = await proven();
    const other = createVisitor(service);
    const { body: elsewhere } = await login(other, email);
    await home.post('/v1/auth/password-reset', { email });
    const reset = await eventually(
      () => mailTo(service, email).find(({ subject }) => subject === 'Set a new password') ?? assert.fail('no link'),
    );
    const change = (body: object) => home.post('/v1/auth/password', body, bearer(accessToken));

    const wrong = await change({ currentPassword: 'not the password', password: 'another horse' });
    assert.deepEqual([wrong.status, wrong.body.code], [403, 'SVC_WRONG_PASSWORD']);
    assert.equal((await change({ currentPassword: password, password: 'another horse' })).status, 204);

    const me = (token: string) => home.get('/v1/auth/me', bearer(token));
    assert.equal((await me(accessToken)).status, 200);
    assert.equal((await me(elsewhere.accessToken)).status, 401);
    assert.equal((await other.post('/v1/auth/refresh')).status, 401);
    assert.equal((await home.post('/v1/auth/refresh')).status, 200);
    assert.equal((await login(other, email)).status, 401);
    assert.equal((await login(other, email, 'another horse')).status, 200);
    const token = /token=([\w-]+)/.exec(reset.text)?.[1];
    const late = await other.post('/v1/auth/password-reset/confirm', { token, password: 'a third horse' });
    assert.equal(late.body.code, 'SVC_INVALID_TOKEN_LINK', 'a link from before is void');
    await eventually(() =>
      assert.ok(mailTo(service, email).some(({ subject }) => subject === 'Your password was changed')),
    );
  });

  test('[AUTH-26] guesses at the current password are slowed and budgeted like sign-ins', async () => {
    const { home, accessToken } = await proven();
    const guess = () =>
      home.post('/v1/auth/password', { currentPassword: 'a guess', password: 'another horse' }, bearer(accessToken));
    for (let n = 0; n < 10; n++) assert.equal((await guess()).body.code, 'SVC_WRONG_PASSWORD');
    assert.equal((await guess()).status, 429);
  });

  test('[AUTH-27] the commonest passwords are refused wherever one is set, in any case of letters', async () => {
    const { email, home, accessToken } = await proven();
    const register = (secret: string) =>
      createVisitor(service).post('/v1/auth/register', { email: newEmail(), password: secret });
    for (const common of ['password123', 'Password1', 'QWERTYUIOP', '12345678', 'iloveyou', 'letmein1', 'changeme']) {
      const { status, body } = await register(common);
      assert.deepEqual([status, body.code], [400, 'SVC_PASSWORD_TOO_COMMON'], common);
    }
    assert.equal((await register('rarely-heard 12345678')).status, 201);

    await home.post('/v1/auth/password-reset', { email });
    const token = await mailedToken(service, email, 2);
    const answers = [
      await home.post('/v1/auth/password-reset/confirm', { token, password: 'password123' }),
      await home.post('/v1/auth/password', { currentPassword: password, password: 'password123' }, bearer(accessToken)),
    ];
    for (const { body } of answers) assert.equal(body.code, 'SVC_PASSWORD_TOO_COMMON');
    const good = await home.post('/v1/auth/password-reset/confirm', { token, password: 'another horse' });
    assert.equal(good.status, 200, 'the refusal did not use the link up');
  });

  test('[AUTH-21] sessions are listed with device and place', async () => {
    const { email, accessToken } = await proven();
    await login(createVisitor(service), email, password, edge);
    await login(createVisitor(service), email, password, 'curl/8.9');
    // Of this machine, and no budget of other files.
    await service.as().call('login', { body: { email, password } }, { headers: { 'x-forwarded-for': '127.0.3.4' } });
    const listed = await service.as(accessToken).call('listSessions');
    assert.deepEqual(listed.map(({ device }) => device).sort(), ['Edge on Windows', 'curl', 'node', 'node']);
    const places = listed.map(({ place }) => place?.replace(/[\d./]+$/, '')).sort();
    assert.deepEqual(places, ['Private network ', 'Private network ', 'Private network ', 'This machine']);
  });
});
