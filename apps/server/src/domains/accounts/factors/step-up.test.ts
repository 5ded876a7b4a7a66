import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { answer, createFactorKit, type FactorKit, password, type Signed } from '../../../../testkit/clients/factors.ts';
import { createVisitor, mailedToken, mailTo, newEmail, type Visit } from '../../../../testkit/clients/visitor.ts';
import { eventually } from '../../../../testkit/kit/eventually.ts';
import { createFakeClock } from '../../../../testkit/kit/fake-clock.ts';
import { startService, type TestService } from '../../../../testkit/kit/service.ts';

const minuteMs = 60_000;
const stepUpRequired = [403, 'SVC_STEP_UP_REQUIRED'];

const clock = createFakeClock();
let service: TestService;
let kit: FactorKit;
before(async () => {
  service = await startService({ clock });
  kit = createFactorKit(service, clock);
});
after(() => service.stop());

const stepUp = (person: Signed, proof: object): Promise<Visit> => kit.post(person, '/v1/auth/step-up', proof);

/** The same browser, signed in again: access tokens live 15 minutes. */
async function renewed(person: Signed): Promise<Signed> {
  const { body } = await person.visitor.post('/v1/auth/refresh');
  return { ...person, headers: { authorization: `Bearer ${body.accessToken}` } };
}

async function later(person: Signed, ms = 11 * minuteMs): Promise<Signed> {
  clock.jump(ms);
  return renewed(person);
}

async function newProject(person: Signed): Promise<string> {
  return (await kit.post(person, '/v1/projects', { name: 'Test' })).body.id;
}

/** What needs a step-up in a project, each as a call. */
function sensitive(person: Signed, projectId: string) {
  const api = service.as(person.headers.authorization.slice('Bearer '.length));
  const email = newEmail('guest');
  const path = `/v1/projects/${projectId}`;
  return {
    'a production key': () => kit.post(person, `${path}/api-keys`, { name: 'live', environment: 'PRODUCTION' }),
    'a production key by the page': () => kit.post(person, `${path}/api-keys?environment=PRODUCTION`, { name: 'live' }),
    'a production signing key': () =>
      kit.post(person, `${path}/signing-keys`, { name: 'live', algorithm: 'HS256', environment: 'PRODUCTION' }),
    'a role that is given': () => kit.post(person, `${path}/members`, { email, role: 'OWNER' }),
    'a role that is changed': async (): Promise<Visit> => {
      const changed = service.fetch(`${path}/members/${encodeURIComponent(email)}`, {
        method: 'PATCH',
        headers: { ...person.headers, 'content-type': 'application/json' },
        body: JSON.stringify({ role: 'VIEWER' }),
      });
      return { status: (await changed).status, body: await (await changed).json() };
    },
    'a new webhook secret': async (): Promise<Visit> => {
      const url = 'https://hooks.example.com/parley';
      const webhook = await api.call('createWebhook', { projectId, body: { url, environment: 'DEVELOPMENT' } });
      return kit.post(person, `${path}/webhooks/${webhook.id}/rotate-secret`, {});
    },
    'a scanner that goes from production': async (): Promise<Visit> => {
      const scanner = `${path}/chat/scan-hook?environment=PRODUCTION`;
      const gone = await service.fetch(scanner, { method: 'DELETE', headers: person.headers });
      return { status: gone.status, body: gone.status === 204 ? {} : await gone.json() };
    },
    'the archive': () => kit.post(person, `${path}/archive`),
  };
}

describe('step-up', () => {
  test('[AUTH-34] without a second factor nothing of it is asked', async () => {
    const person = await later(await kit.proven());
    const projectId = await newProject(person);
    for (const [what, call] of Object.entries(sensitive(person, projectId))) {
      const { status, body } = await call();
      assert.ok(status < 300, `${what}: ${status} ${JSON.stringify(body)}`);
    }
  });

  test('[AUTH-34] with one, production keys, roles, secrets and the archive need it again after ten minutes', async () => {
    let person = await kit.proven();
    const { secret } = await kit.withApp(person);
    const projectId = await newProject(person);
    person = await later(person);
    for (const [what, call] of Object.entries(sensitive(person, projectId)))
      assert.deepEqual(answer(await call()), stepUpRequired, what);
    const key = await kit.post(person, `/v1/projects/${projectId}/api-keys`, {
      name: 'dev',
      environment: 'DEVELOPMENT',
    });
    assert.equal(key.status, 201, 'development goes on as it was');

    assert.deepEqual(answer(await stepUp(person, { code: '000000' })), [403, 'SVC_INVALID_SECOND_FACTOR']);
    assert.deepEqual(answer(await stepUp(person, { password })), [403, 'SVC_INVALID_SECOND_FACTOR'], 'is no factor');
    assert.equal((await stepUp(person, { code: kit.codeOf(secret) })).status, 204);
    for (const [what, call] of Object.entries(sensitive(person, projectId))) {
      const { status, body } = await call();
      assert.ok(status < 300, `${what}: ${status} ${JSON.stringify(body)}`);
    }
  });

  test('[AUTH-34] a step-up is of one session, by code, recovery code or passkey, and bites in every process at once', async () => {
    const person = await kit.proven();
    const { passkey } = await kit.withPasskey(person);
    const projectId = await newProject(person);
    const { body: asked } = await kit.login(person.email);
    const browser = createVisitor(service);
    const { body } = await kit.finish(asked.challenge, { passkey: passkey.get(asked) }, browser);
    clock.jump(11 * minuteMs);
    const [one, two] = [
      await renewed(person),
      await renewed({
        email: person.email,
        visitor: browser,
        headers: { authorization: `Bearer ${body.accessToken}` },
      }),
    ];
    const liveKey = (session: Signed, at = service) =>
      createVisitor(at).post(
        `/v1/projects/${projectId}/api-keys`,
        { name: 'live', environment: 'PRODUCTION' },
        session.headers,
      );
    const other = await startService({ clock, beside: service });
    assert.deepEqual(answer(await liveKey(one, other)), stepUpRequired);
    const { body: options } = await kit.post(one, '/v1/auth/step-up/options');
    assert.deepEqual(options.factors, ['PASSKEY', 'RECOVERY_CODE']);
    const proof = { passkey: passkey.get(options) };
    assert.deepEqual(answer(await stepUp(two, { passkey: passkey.get(asked) })), [400, 'SVC_CHALLENGE_EXPIRED']);
    assert.equal((await stepUp(one, proof)).status, 204);
    assert.equal((await stepUp(one, proof)).body.code, 'SVC_CHALLENGE_EXPIRED');
    assert.equal((await liveKey(one, other)).status, 201);
    assert.deepEqual(answer(await liveKey(two)), stepUpRequired);
    await other.stop();

    const { body: renewedCodes } = await kit.post(one, '/v1/auth/recovery-codes');
    assert.equal((await stepUp(two, { recoveryCode: renewedCodes.recoveryCodes[0] })).status, 204);
    assert.equal((await liveKey(two)).status, 201);
  });

  test('[AUTH-35] factors are added and removed by who has lately proven who they are, and it is mailed', async () => {
    let person = await later(await kit.proven());
    assert.deepEqual(answer(await kit.post(person, '/v1/auth/totp')), stepUpRequired);
    assert.deepEqual(answer(await kit.post(person, '/v1/auth/passkeys/options')), stepUpRequired);
    assert.deepEqual(answer(await stepUp(person, { password: 'wrong' })), [403, 'SVC_WRONG_PASSWORD']);
    assert.equal((await stepUp(person, { password })).status, 204);
    const { secret } = await kit.withApp(person);
    const subjects = () => mailTo(service, person.email).map(({ subject }) => subject);
    await eventually(() => assert.ok(subjects().includes('Two-factor sign-in: an authenticator app was added')));

    person = await later(person);
    const remove = async (): Promise<[number, string | null]> => {
      const removed = await service.fetch('/v1/auth/totp', { method: 'DELETE', headers: person.headers });
      const text = await removed.text();
      return [removed.status, text === '' ? null : JSON.parse(text).code];
    };
    assert.deepEqual(await remove(), stepUpRequired);
    assert.equal((await stepUp(person, { code: kit.codeOf(secret) })).status, 204);
    assert.deepEqual(await remove(), [204, null]);
    assert.deepEqual(await remove(), [404, 'SVC_FACTOR_NOT_FOUND']);
    assert.equal((await kit.login(person.email)).status, 200);
    await eventually(() => assert.ok(subjects().includes('Two-factor sign-in: the authenticator app was removed')));
  });

  test('[AUTH-35] a factor that was set before the address was proven does not survive the proof', async () => {
    const [email, thief] = [newEmail(), createVisitor(service)];
    await thief.post('/v1/auth/register', { email, password });
    const { body } = await thief.post('/v1/auth/login', { email, password });
    await kit.withApp({ email, visitor: thief, headers: { authorization: `Bearer ${body.accessToken}` } });
    const owner = createVisitor(service);
    const token = await mailedToken(service, email);
    const verified = await owner.post('/v1/auth/verify-email', { token, password: 'chosen by its owner' });
    assert.equal(verified.status, 200);
    const again = await owner.post('/v1/auth/login', { email, password: 'chosen by its owner' });
    assert.equal(again.status, 200);
  });
});

describe('projects that require a second factor', () => {
  test('[AUTH-36] an owner requires it, in a session that has one; other sessions are told at every route', async () => {
    const owner = await kit.proven();
    const projectId = await newProject(owner);
    const secure = async (person: Signed, requireSecondFactor: boolean): Promise<Visit> => {
      const answered = await service.fetch(`/v1/projects/${projectId}/security`, {
        method: 'PATCH',
        headers: { ...person.headers, 'content-type': 'application/json' },
        body: JSON.stringify({ requireSecondFactor }),
      });
      return { status: answered.status, body: await answered.json() };
    };
    const required = [403, 'SVC_PROJECT_REQUIRES_SECOND_FACTOR'];
    assert.deepEqual(answer(await secure(owner, true)), required, 'nobody locks themselves out');
    const member = await kit.proven();
    await kit.post(owner, `/v1/projects/${projectId}/members`, { email: member.email, role: 'ADMIN' });
    assert.deepEqual(answer(await secure(member, true)), [403, 'SVC_PERMISSION_DENIED']);

    const { body: earlier } = await kit.login(owner.email);
    const before = { authorization: `Bearer ${earlier.accessToken}` };
    await kit.withApp(owner);
    const secured = await secure(owner, true);
    assert.deepEqual([secured.status, secured.body.requireSecondFactor], [200, true]);
    const read = (person: Signed) => person.visitor.get(`/v1/projects/${projectId}`, person.headers);
    assert.equal((await read(owner)).status, 200);
    assert.deepEqual(answer(await read(member)), required);
    const rooms = await member.visitor.get(`/v1/projects/${projectId}/rooms`, member.headers);
    assert.deepEqual(answer(rooms), required);
    const listed = await member.visitor.get('/v1/projects', member.headers);
    assert.equal(listed.body[0].requireSecondFactor, true, 'the list still names it');
    const usageIn = async (headers: Signed['headers']): Promise<string[]> => {
      const { body } = await owner.visitor.get('/v1/usage/detail', headers);
      return body.projects.map((project: { projectId: string }) => project.projectId);
    };
    assert.deepEqual(await usageIn(owner.headers), [projectId]);
    assert.deepEqual(await usageIn(before), [], 'the summary over all projects of an owner leaves it out');
    const stranger = await kit.proven();
    assert.deepEqual(answer(await read(stranger)), [404, 'SVC_PROJECT_NOT_FOUND'], 'a stranger learns nothing');

    await kit.withApp(member);
    assert.equal((await read(member)).status, 200);
    const removed = await service.fetch('/v1/auth/totp', { method: 'DELETE', headers: member.headers });
    assert.equal(removed.status, 204);
    assert.deepEqual(answer(await read(member)), required, 'the factor is gone');
    assert.equal((await secure(owner, false)).body.requireSecondFactor, false);
    assert.equal((await read(member)).status, 200);
  });
});
