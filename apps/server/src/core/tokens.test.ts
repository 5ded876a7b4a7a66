import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isServiceError } from '@parley/contract';
import { jwtVerify, SignJWT, UnsecuredJWT } from 'jose';
import { createKeyring } from './keyring.ts';
import { createTokens, tokenFamilies } from './tokens.ts';

const keyring = createKeyring('a-root-secret-that-is-long-enough-for-the-test');
let now = Date.parse('2026-11-15T12:00:00Z');
const clock = { now: () => now, elapsed: () => now, sleep: async () => {} };
const tokens = createTokens({ keyring, clock, issuer: 'http://localhost' });
const claims = { sub: 'ada', jti: 'rtk_1' };

const refused = (code: 'SVC_INVALID_TOKEN' | 'SVC_TOKEN_EXPIRED') => (error: unknown) => isServiceError(error, code);

test('[TOKEN-1] a token verifies in its own family and in no other', () => {
  for (const family of tokenFamilies) {
    const { token } = tokens.sign(family, claims, 60);
    assert.equal(tokens.verify(family, token).sub, 'ada');
    for (const other of tokenFamilies.filter((name) => name !== family)) {
      assert.throws(() => tokens.verify(other, token), refused('SVC_INVALID_TOKEN'));
    }
  }
});

test('[TOKEN-2] our tokens are JWTs that an independent library verifies', async () => {
  const { token } = tokens.sign('rtc', { ...claims, perm: { join: true } }, 60);
  const { payload } = await jwtVerify(token, keyring.key('rtc'), { algorithms: ['HS256'], currentDate: new Date(now) });
  assert.deepEqual(
    [payload.sub, payload.jti, payload['typ'], (payload.exp ?? 0) - (payload.iat ?? 0)],
    ['ada', 'rtk_1', 'rtc', 60],
  );
});

test('[TOKEN-3] forged, altered and foreign tokens are refused', async () => {
  const { token } = tokens.sign('chat', claims, 60);
  const [header = '', payload = '', signature = ''] = token.split('.');
  const altered = Buffer.from(JSON.stringify({ ...claims, typ: 'chat', exp: 9e9, iat: 0, sub: 'eve' })).toString(
    'base64url',
  );
  const foreign = [
    new UnsecuredJWT(claims).setExpirationTime('1h').encode(),
    await new SignJWT(claims).setProtectedHeader({ alg: 'HS256' }).setExpirationTime('1h').sign(keyring.key('chat')),
    await new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS512', typ: 'chat+jwt' })
      .setExpirationTime('1h')
      .sign(Buffer.alloc(64, 1)),
    await new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256', typ: 'chat+jwt', kid: '../../etc/passwd' })
      .sign(keyring.key('chat')),
    `${header}.${altered}.${signature}`,
    `${header}.${payload}.${signature.slice(0, -1)}`,
    `${header}.${payload}.${signature}=`,
    `${header}.${payload}.`,
    `${header}.${payload}`,
    `${token}.x`,
    '',
    'a'.repeat(100_000),
  ];
  for (const bad of foreign)
    assert.throws(() => tokens.verify('chat', bad), refused('SVC_INVALID_TOKEN'), bad.slice(0, 80));
});

test('[TOKEN-4] a token expires with ten seconds of leeway', () => {
  const { token } = tokens.sign('chat', claims, 30);
  const signedAt = now;
  now = signedAt + 39_000;
  assert.equal(tokens.verify('chat', token).sub, 'ada');
  now = signedAt + 40_000;
  assert.throws(() => tokens.verify('chat', token), refused('SVC_TOKEN_EXPIRED'));
  now = signedAt - 11_000;
  assert.throws(() => tokens.verify('chat', token), refused('SVC_INVALID_TOKEN'));
  now = signedAt;
});
