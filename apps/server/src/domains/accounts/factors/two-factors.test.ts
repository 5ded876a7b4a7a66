import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { SecurityEntry } from '@parley/contract';
import { answer, createFactorKit, type FactorKit, type Signed, stepMs } from '../../../../testkit/clients/factors.ts';
import { createSoftPasskey } from '../../../../testkit/clients/soft-passkey.ts';
import { createVisitor, mailTo } from '../../../../testkit/clients/visitor.ts';
import { eventually } from '../../../../testkit/kit/eventually.ts';
import { createFakeClock } from '../../../../testkit/kit/fake-clock.ts';
import { startService, type TestService } from '../../../../testkit/kit/service.ts';
import { sql } from '../../../core/sql.ts';

const minuteMs = 60_000;

const clock = createFakeClock();
let service: TestService;
/** A second process on the same database. */
let other: TestService;
let kit: FactorKit;
before(async () => {
  service = await startService({ clock });
  other = await startService({ clock, beside: service });
  kit = createFactorKit(service, clock);
});
after(async () => {
  await other.stop();
  await service.stop();
});

describe('the second step of a sign-in', () => {
  test('[AUTH-28] the password alone opens no session; with the code it does, once', async () => {
    const person = await kit.proven();
    assert.equal((await kit.login(person.email)).status, 200, 'without a factor as ever');
    const { secret } = await kit.withApp(person);

    const browser = createVisitor(service);
    const first = await kit.login(person.email, browser);
    assert.deepEqual(answer(first), [403, 'SVC_SECOND_FACTOR_REQUIRED']);
    assert.deepEqual(first.body.factors, ['TOTP', 'RECOVERY_CODE']);
    assert.equal(browser.cookies.size, 0);
    const { challenge } = first.body;
    assert.deepEqual(answer(await kit.finish(challenge, { code: '000000' })), [403, 'SVC_INVALID_SECOND_FACTOR']);
    assert.deepEqual(answer(await kit.finish(challenge, {})), [403, 'SVC_INVALID_SECOND_FACTOR']);
    const done = await kit.finish(challenge, { code: kit.codeOf(secret) }, browser);
    assert.equal(done.status, 200);
    assert.equal(
      (await browser.get('/v1/auth/me', { authorization: `Bearer ${done.body.accessToken}` })).body.email,
      person.email,
    );
    assert.equal((await browser.post('/v1/auth/refresh')).status, 200);
    await clock.advance(stepMs);
    assert.deepEqual(answer(await kit.finish(challenge, { code: kit.codeOf(secret) })), [400, 'SVC_CHALLENGE_EXPIRED']);
  });

  test('[AUTH-28] a wrong password tells nothing of a factor', async () => {
    const person = await kit.proven();
    await kit.withApp(person);
    const wrong = await createVisitor(service).post('/v1/auth/login', { email: person.email, password: 'no' });
    assert.deepEqual(answer(wrong), [401, 'SVC_INVALID_CREDENTIALS']);
  });

  test('[AUTH-28] a reset link sets the password and still asks for the factor; what was on its way ends', async () => {
    const person = await kit.proven();
    const { secret } = await kit.withApp(person);
    const { body: before } = await kit.login(person.email);
    await person.visitor.post('/v1/auth/password-reset', { email: person.email });
    const token = await eventually(async () => {
      const letter = mailTo(service, person.email).find(({ subject }) => subject === 'Set a new password');
      return /token=([\w-]+)/.exec(letter?.text ?? '')?.[1] ?? assert.fail('no link');
    });
    const browser = createVisitor(service);
    const reset = await browser.post('/v1/auth/password-reset/confirm', { token, password: 'another horse' });
    assert.deepEqual(answer(reset), [403, 'SVC_SECOND_FACTOR_REQUIRED']);
    const late = await kit.finish(before.challenge, { code: kit.codeOf(secret) });
    assert.deepEqual(answer(late), [400, 'SVC_CHALLENGE_EXPIRED'], 'a sign-in with the old password');
    assert.equal((await kit.finish(reset.body.challenge, { code: kit.codeOf(secret) }, browser)).status, 200);
    const again = await browser.post('/v1/auth/login', { email: person.email, password: 'another horse' });
    assert.equal(again.body.code, 'SVC_SECOND_FACTOR_REQUIRED', 'the new password holds');
  });

  test('[AUTH-28] a challenge is good for ten minutes', async () => {
    const person = await kit.proven();
    const { secret } = await kit.withApp(person);
    const { body } = await kit.login(person.email);
    clock.jump(10 * minuteMs);
    assert.deepEqual(answer(await kit.finish(body.challenge, { code: kit.codeOf(secret) })), [
      400,
      'SVC_CHALLENGE_EXPIRED',
    ]);
  });
});

describe('authenticator apps and recovery codes', () => {
  test('[AUTH-29] an app counts from its confirmation on, and there is one', async () => {
    const person = await kit.proven();
    const { body: started } = await kit.post(person, '/v1/auth/totp');
    assert.match(started.otpauthUrl, /^otpauth:\/\/totp\/Parley:.+secret=/);
    assert.equal((await kit.login(person.email)).status, 200);
    const wrong = await kit.post(person, '/v1/auth/totp/confirm', { code: '123456' });
    assert.deepEqual(answer(wrong), [403, 'SVC_INVALID_SECOND_FACTOR']);
    const { secret } = await kit.withApp(person);
    assert.notEqual(secret, started.secret, 'a second start takes the place of the first');
    assert.deepEqual(answer(await kit.post(person, '/v1/auth/totp')), [409, 'SVC_FACTOR_EXISTS']);
    const [row] = await service.adapters.db.query<{ secret: string }>(sql`
      select t.secret from totp_secrets t join users u on u.id = t.user_id where u.email = ${person.email}`);
    assert.ok(row && !row.secret.includes(secret), 'sealed');
  });

  test('[AUTH-29] a code is of this step or one beside it, and is taken once however many send it', async () => {
    const person = await kit.proven();
    const { secret } = await kit.withApp(person);
    const challenge = async () => (await kit.login(person.email)).body.challenge;
    for (const offMs of [-2 * stepMs, 2 * stepMs])
      assert.equal((await kit.finish(await challenge(), { code: kit.codeOf(secret, offMs) })).status, 403);
    const code = kit.codeOf(secret, stepMs);
    const challenges = [await challenge(), await challenge(), await challenge()];
    const answers = await Promise.all(
      challenges.map((one, n) => kit.finish(one, { code }, createVisitor(n === 0 ? other : service))),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 403, 403]);
    assert.equal(
      (await kit.finish(await challenge(), { code: kit.codeOf(secret) })).status,
      403,
      'older than the last one',
    );
  });

  test('[AUTH-30] ten recovery codes come with the first factor; each signs in once, and is mailed', async () => {
    const person = await kit.proven();
    const { recoveryCodes } = await kit.withApp(person);
    assert.equal(new Set(recoveryCodes).size, 10);
    const [code = '', second = ''] = recoveryCodes;
    const challenge = async () => (await kit.login(person.email)).body.challenge;
    const challenges = [await challenge(), await challenge()];
    const typed = ` ${code.toUpperCase().replaceAll('-', ' ')}`;
    const answers = await Promise.all(challenges.map((one) => kit.finish(one, { recoveryCode: typed })));
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 403]);
    const factors = await person.visitor.get('/v1/auth/factors', person.headers);
    assert.equal(factors.body.recoveryCodesLeft, 9);
    await eventually(() =>
      assert.ok(mailTo(service, person.email).some(({ text }) => text.includes('codes was used; 9 are left'))),
    );
    const renewed = await kit.post(person, '/v1/auth/recovery-codes');
    assert.equal(renewed.body.recoveryCodes.length, 10);
    assert.equal(
      (await kit.finish(await challenge(), { recoveryCode: second })).status,
      403,
      'the older ones are void',
    );
    const kept = await service.adapters.db.query<{ code_hash: string }>(sql`select code_hash from recovery_codes`);
    assert.ok(kept.every(({ code_hash }) => !renewed.body.recoveryCodes.includes(code_hash)));
  });

  test('[AUD-5] wrong codes and changes of factors are in the security log of the account', async () => {
    const person = await kit.proven();
    const { secret } = await kit.withApp(person);
    const { body } = await kit.login(person.email);
    assert.equal((await kit.finish(body.challenge, { code: '000000' })).status, 403);
    assert.equal((await kit.post(person, '/v1/auth/step-up', { recoveryCode: 'aaaa-aaaa-aaaa-aaaa' })).status, 403);
    await kit.withPasskey(person);
    assert.equal((await kit.post(person, '/v1/auth/recovery-codes')).status, 200);
    const removed = await service.fetch('/v1/auth/totp', { method: 'DELETE', headers: person.headers });
    assert.equal(removed.status, 204);
    const entries = await eventually(async () => {
      const { body: log } = await person.visitor.get('/v1/auth/security-log', person.headers);
      // Of one moment of this clock, so in any order.
      const seen = log.map(({ action, metadata }: SecurityEntry) => `${action} ${JSON.stringify(metadata)}`);
      assert.deepEqual(seen.toSorted(), [
        'account.factor_added {"factor":"PASSKEY"}',
        'account.factor_added {"factor":"TOTP"}',
        'account.factor_removed {"factor":"TOTP"}',
        'account.recovery_codes_renewed {}',
        'account.second_factor_failed {"at":"SIGN_IN"}',
        'account.second_factor_failed {"at":"STEP_UP"}',
        'account.signed_in {"method":"EMAIL_LINK"}',
      ]);
      return log;
    });
    assert.ok(!JSON.stringify(entries).includes(secret) && !/000000|aaaa/.test(JSON.stringify(entries)));
  });

  test('[AUTH-31] after ten wrong codes in 15 minutes not even the right one is taken, until the window ends', async () => {
    const person = await kit.proven();
    const { secret, recoveryCodes } = await kit.withApp(person);
    const challenge = async () => (await kit.login(person.email)).body.challenge;
    for (let n = 0; n < 10; n++)
      assert.equal((await kit.finish(await challenge(), { code: '000000' })).body.code, 'SVC_INVALID_SECOND_FACTOR');
    const refused = await kit.finish(await challenge(), { code: kit.codeOf(secret) }, createVisitor(other));
    assert.deepEqual(answer(refused), [429, 'SVC_RATE_LIMITED']);
    assert.ok(refused.body.retryAfterSeconds > 600);
    assert.equal((await kit.finish(await challenge(), { recoveryCode: recoveryCodes[0] })).status, 429);
    clock.jump(15 * minuteMs);
    assert.equal((await kit.finish(await challenge(), { code: kit.codeOf(secret) })).status, 200);
  });

  test('[AUTH-31] a right code clears the count of the wrong ones', async () => {
    const person = await kit.proven();
    const { recoveryCodes } = await kit.withApp(person);
    for (const recoveryCode of recoveryCodes.slice(0, 2)) {
      const { challenge } = (await kit.login(person.email)).body;
      for (let n = 0; n < 9; n++)
        assert.equal((await kit.finish(challenge, { code: '000000' })).body.code, 'SVC_INVALID_SECOND_FACTOR');
      assert.equal((await kit.finish(challenge, { recoveryCode })).status, 200);
    }
  });
});

describe('passkeys', () => {
  test('[AUTH-32] a passkey is a second factor; it answers one challenge, from a page of PUBLIC_URL', async () => {
    const person = await kit.proven();
    const { passkey } = await kit.withPasskey(person);
    const { body: asked } = await kit.login(person.email);
    assert.deepEqual(asked.factors, ['PASSKEY', 'RECOVERY_CODE']);
    assert.deepEqual([asked.rpId, asked.allowCredentials.length], ['localhost', 1]);
    const elsewhere = passkey.get(asked, { origin: 'https://evil.example' });
    const foreign = passkey.get({ ...asked, rpId: 'evil.example' });
    const { body: another } = await kit.login(person.email);
    for (const bad of [elsewhere, foreign, passkey.get(another), createSoftPasskey('http://localhost').get(asked)])
      assert.deepEqual(answer(await kit.finish(asked.challenge, { passkey: bad })), [403, 'SVC_INVALID_SECOND_FACTOR']);
    const good = passkey.get(asked, { isVerified: false });
    assert.equal((await kit.finish(asked.challenge, { passkey: good })).status, 200);
    assert.deepEqual(answer(await kit.finish(asked.challenge, { passkey: good })), [400, 'SVC_CHALLENGE_EXPIRED']);
  });

  test('[AUTH-32] a counter that does not grow is that of a copy', async () => {
    const person = await kit.proven();
    const { passkey } = await kit.withPasskey(person);
    for (const [counter, status] of [
      [7, 200],
      [7, 403],
      [5, 403],
      [8, 200],
    ] as const) {
      const { body } = await kit.login(person.email);
      assert.equal((await kit.finish(body.challenge, { passkey: passkey.get(body, { counter }) })).status, status);
    }
  });

  test('[AUTH-32] another person’s passkey is none; one is added once, renamed and removed by its owner', async () => {
    const [person, stranger] = [await kit.proven(), await kit.proven()];
    const { passkey, id } = await kit.withPasskey(person, 'Phone');
    await kit.withApp(stranger);
    const { body: asked } = await kit.login(stranger.email);
    const answered = await kit.finish(asked.challenge, { passkey: passkey.get(asked) });
    assert.deepEqual(answer(answered), [403, 'SVC_INVALID_SECOND_FACTOR']);

    const { body: options } = await kit.post(stranger, '/v1/auth/passkeys/options');
    const twice = await kit.post(stranger, '/v1/auth/passkeys', { name: 'x', credential: passkey.create(options) });
    assert.deepEqual(answer(twice), [409, 'SVC_FACTOR_EXISTS']);
    const api = (token: Signed) => service.as(token.headers.authorization.slice('Bearer '.length));
    await assert.rejects(api(stranger).call('renamePasskey', { passkeyId: id, body: { name: 'mine' } }), /no such/);
    await assert.rejects(api(stranger).call('removePasskey', { passkeyId: id }), /no such/);
    const renamed = await api(person).call('renamePasskey', { passkeyId: id, body: { name: 'Old phone' } });
    assert.equal(renamed.name, 'Old phone');
    await api(person).call('removePasskey', { passkeyId: id });
    assert.equal((await kit.login(person.email)).status, 200, 'the last factor is gone');
    const { body } = await person.visitor.get('/v1/auth/factors', person.headers);
    assert.deepEqual(body, { totp: null, passkeys: [], recoveryCodesLeft: 0, passkeysAvailable: true });
  });

  test('[AUTH-33] a passkey that verified its user signs in alone', async () => {
    const person = await kit.proven();
    const { passkey } = await kit.withPasskey(person);
    const browser = createVisitor(service);
    const options = async () => (await browser.post('/v1/auth/login/passkey/options')).body;
    const asked = await options();
    assert.deepEqual([asked.allowCredentials, asked.userVerification], [[], 'required']);
    const unverified = await browser.post('/v1/auth/login/passkey', {
      passkey: passkey.get(asked, { isVerified: false }),
    });
    assert.deepEqual(answer(unverified), [403, 'SVC_INVALID_SECOND_FACTOR']);
    const again = await options();
    const answered = { passkey: passkey.get(again) };
    const done = await browser.post('/v1/auth/login/passkey', answered);
    assert.deepEqual([done.status, done.body.user?.email], [200, person.email]);
    assert.deepEqual(answer(await browser.post('/v1/auth/login/passkey', answered)), [400, 'SVC_CHALLENGE_EXPIRED']);
    const { body: second } = await kit.login(person.email);
    const crossed = await browser.post('/v1/auth/login/passkey', { passkey: passkey.get(second) });
    assert.deepEqual(answer(crossed), [400, 'SVC_CHALLENGE_EXPIRED'], 'a challenge is for one purpose');
  });

  test('[AUD-5] a passkey that fails to sign in alone is in the security log of its account', async () => {
    const person = await kit.proven();
    const { passkey } = await kit.withPasskey(person);
    const browser = createVisitor(service);
    const options = async () => (await browser.post('/v1/auth/login/passkey/options')).body;
    const failures = [
      passkey.get(await options(), { isVerified: false }),
      passkey.get(await options(), { origin: 'https://evil.example' }),
      createSoftPasskey('http://localhost').get(await options()),
    ];
    for (const bad of failures)
      assert.deepEqual(answer(await browser.post('/v1/auth/login/passkey', { passkey: bad })), [
        403,
        'SVC_INVALID_SECOND_FACTOR',
      ]);
    await eventually(async () => {
      const { body: log } = await person.visitor.get('/v1/auth/security-log', person.headers);
      const failed = log.filter(({ action }: SecurityEntry) => action === 'account.second_factor_failed');
      const places = failed.map(({ metadata }: SecurityEntry) => metadata);
      assert.deepEqual(places, [{ at: 'SIGN_IN' }, { at: 'SIGN_IN' }], 'a passkey of nobody is on no log');
    });
  });
});
