import assert from 'node:assert/strict';
import { generateKeyPairSync, verify } from 'node:crypto';
import { after, before, test } from 'node:test';
import { mintChatToken, mintRtcToken, speaker } from '@parley/server';
import { chatAs } from '../../../testkit/chat/chat.ts';
import {
  chat,
  chatClaims,
  forge,
  forgeWithPair,
  idOf,
  newPair,
  newSecret,
  newTokenId,
  refusalOf,
  rtc,
  rtcClaims,
  secondsOf,
} from '../../../testkit/clients/offline.ts';
import { joinPlainly, newRoom, type RoomsService, sharedRooms } from '../../../testkit/clients/rooms.ts';
import { joinRoom } from '../../../testkit/clients/signal-client.ts';
import { openSocket } from '../../../testkit/clients/socket-client.ts';
import { eventually } from '../../../testkit/kit/eventually.ts';
import { failure } from '../../../testkit/kit/failure.ts';
import { startService, type TestService } from '../../../testkit/kit/service.ts';

let service: RoomsService;
let second: TestService;
before(async () => {
  service = await sharedRooms();
  second = await startService({ beside: service });
});
after(async () => {
  await second.stop();
});

test('[SIGN-2] tokens minted offline by the SDK open rooms, WHIP and chat, with a secret and with both kinds of pair', async () => {
  const project = await service.newProject();
  const room = await newRoom(project.api);
  await project.api.call('createConversation', { body: { name: 'offline', members: ['user-0', 'user-1', 'user-2'] } });
  const keys = [await newSecret(project), await newPair(project, 'EdDSA'), await newPair(project, 'ES256')];
  for (const [index, signingKey] of keys.entries()) {
    const identity = `user-${index}`;
    const minted = mintRtcToken({ signingKey, room: room.id, identity, permissions: speaker(), metadata: '{"a":1}' });
    const joined = await joinRoom(index === 1 ? second.url : service.url, minted.token);
    const { participant } = joined.joined;
    assert.deepEqual([participant.identity, participant.metadata], [identity, '{"a":1}']);
    assert.deepEqual([participant.permissions.publish, participant.permissions.publishData], [true, false]);
    const whip = mintRtcToken({ signingKey, room: room.id, identity: `obs-${index}`, permissions: speaker() });
    await joinPlainly(service, room.id, 'whip', whip.token);
    const token = mintChatToken({ signingKey, userId: identity }).token;
    assert.equal((await service.as(token).call('listConversations')).length, 1);
    for (const socket of [joined, await chatAs(second, token)]) await socket.close();
  }
  const { id: projectId, owner } = project;
  await eventually(async () => {
    const listed = await owner.api.call('listSigningKeys', { projectId });
    assert.ok(listed.every(({ lastUsedAt }) => lastUsedAt !== null));
  });
});

test('[SIGN-2] an ES256 signature has 64 bytes and is good, however small its numbers are', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const signingKey = { id: `sgk_${'0'.repeat(24)}`, privateKey };
  // One number in 256 is a byte shorter than the others.
  for (let n = 0; n < 600; n++) {
    const [head, claims, signature = ''] = mintChatToken({ signingKey, userId: 'ada' }).token.split('.');
    const bytes = Buffer.from(signature, 'base64url');
    assert.equal(bytes.length, 64);
    const signed = Buffer.from(`${head}.${claims}`);
    assert.ok(verify('sha256', signed, { key: publicKey, dsaEncoding: 'ieee-p1363' }, bytes));
  }
});

test('[SIGN-2] project and environment are those of the key, whatever the token says', async () => {
  const [project, other] = [await service.newProject(), await service.newProject()];
  const room = await newRoom(project.api);
  const claims = { pid: project.id, env: 'DEVELOPMENT', projectId: project.id };
  const foreign = await newSecret(other);
  assert.equal(await refusalOf(service, forge(foreign, rtc, rtcClaims(room.id, claims))), 'ROOM_NOT_FOUND');
  const production = await newSecret(project, 'PRODUCTION');
  assert.equal(await refusalOf(service, forge(production, rtc, rtcClaims(room.name, claims))), 'ROOM_NOT_FOUND');
  await project.api.call('createConversation', { body: { name: 'ours', members: ['ada'] } });
  for (const key of [foreign, production])
    assert.deepEqual(await service.as(forge(key, chat, chatClaims(claims))).call('listConversations'), []);
});

test('[SIGN-3] the row of the key decides the algorithm; forged tokens and odd headers are invalid', async () => {
  const project = await service.newProject();
  const room = await newRoom(project.api);
  const key = await newSecret(project);
  const pair = await newPair(project, 'EdDSA');
  const other = await newSecret(await service.newProject());
  const claims = rtcClaims(room.id);
  const good = forge(key, rtc, claims);
  const [head = '', payload = ''] = good.split('.');
  const publicPem = (await project.owner.api.call('listSigningKeys', { projectId: project.id })).find(
    ({ id }) => id === pair.id,
  )?.publicKey;
  const bad = {
    'a signature with a letter more': `${good}A`,
    'a signature of another project': forge(`${idOf(key)}.${other.split('.')[1]}`, rtc, claims),
    'the kid of another project': forge(key, { ...rtc, kid: idOf(other) }, claims),
    'an unknown kid': forge(key, { ...rtc, kid: `sgk_${'0'.repeat(24)}` }, claims),
    'a kid that is a path': forge(key, { ...rtc, kid: '../../etc/passwd' }, claims),
    'no kid': forge(key, { ...rtc, kid: undefined }, claims),
    'another alg than the key has': forge(key, { ...rtc, alg: 'HS512' }, claims, 'sha512'),
    'a lie about alg': forge(key, { ...rtc, alg: 'hs256' }, claims),
    none: `${Buffer.from(JSON.stringify({ alg: 'none', ...rtc, kid: idOf(key) })).toString('base64url')}.${payload}.`,
    'a public key as a secret': forge(`${pair.id}.${publicPem}`, rtc, claims),
    'a pair that says HS256': forgeWithPair(pair, { ...rtc, alg: 'HS256' }, claims),
    'a header with jku': forge(key, { ...rtc, jku: 'https://evil.example.com' }, claims),
    'a header with crit': forge(key, { ...rtc, crit: ['exp'] }, claims),
    'another family': forge(key, chat, claims),
    'a dashboard session': forge(key, { typ: 'session+jwt' }, claims),
    'other claims': `${head}.${Buffer.from(JSON.stringify({ ...claims, sub: 'eve' })).toString('base64url')}.${good.split('.')[2]}`,
    'no signature': `${head}.${payload}.`,
    'claims that are no JSON': forge(key, rtc, []),
  };
  for (const [what, token] of Object.entries(bad)) {
    assert.equal(await refusalOf(service, token), 'INVALID_TOKEN', what);
    await assert.rejects(service.as(token).call('listConversations'), failure('SVC_INVALID_TOKEN'), what);
  }
  await (await joinRoom(service.url, good)).close();
  await assert.rejects(service.as(good).call('listConversations'), failure('SVC_WRONG_CREDENTIAL_TYPE'));
});

test('[SIGN-4] lifetimes, claims and scopes are bounded like those of minted tokens', async () => {
  const project = await service.newProject();
  const room = await newRoom(project.api);
  const key = await newSecret(project);
  const now = secondsOf();
  const life = (iat: number, exp: number) => forge(key, rtc, rtcClaims(room.id, { iat, exp }));
  assert.equal(await refusalOf(service, life(now, now + 29)), 'TOKEN_LIFETIME');
  assert.equal(await refusalOf(service, life(now, now + 21_601)), 'TOKEN_LIFETIME');
  assert.equal(await refusalOf(service, life(now - 90, now - 30)), 'TOKEN_EXPIRED');
  assert.equal(await refusalOf(service, life(now + 60, now + 120)), 'INVALID_TOKEN');
  for (const wrong of [
    { sub: 'a b' },
    { sub: undefined },
    { jti: 'rtk_1' },
    { jti: newTokenId('ctk_') },
    { md: 'x'.repeat(1_025) },
    { perm: { publish: 'yes' } },
    { room: '' },
    { exp: `${now + 60}` },
    { nbf: now + 60 },
  ])
    assert.equal(
      await refusalOf(service, forge(key, rtc, rtcClaims(room.id, wrong))),
      'INVALID_TOKEN',
      JSON.stringify(wrong),
    );

  const call = (claims: object) => service.as(forge(key, chat, chatClaims(claims))).call('listConversations');
  await assert.rejects(call({ iat: now, exp: now + 59 }), failure('SVC_TOKEN_LIFETIME'));
  await assert.rejects(call({ iat: now, exp: now + 21_601 }), failure('SVC_TOKEN_LIFETIME'));
  for (const wrong of [{ scp: ['chat:everything'] }, { conv: ['some-name'] }, { scp: 'chat:read' }])
    await assert.rejects(call(wrong), failure('SVC_INVALID_TOKEN'), JSON.stringify(wrong));
  const all = forge(key, chat, chatClaims({ scp: ['chat:read', 'chat:manage'] }));
  const socket = await openSocket(`${service.url}/v1/chat/ws`, { protocols: ['svc.chat.v1', `bearer.${all}`] });
  assert.deepEqual((await socket.take('hello'))['scopes'], ['chat:read']);
  await socket.close();
});

test('[SIGN-4] a list of conversations narrows, and a ban holds for tokens signed before and after it', async () => {
  const project = await service.newProject();
  const room = await newRoom(project.api);
  const signingKey = await newSecret(project);
  const [one] = [
    await project.api.call('createConversation', { body: { name: 'one', members: ['ada'] } }),
    await project.api.call('createConversation', { body: { name: 'two', members: ['ada'] } }),
  ];
  const narrow = mintChatToken({ signingKey, userId: 'ada', conversations: [one.id], scopes: ['chat:read'] });
  const api = service.as(narrow.token);
  assert.deepEqual(
    (await api.call('listConversations')).map(({ id }) => id),
    [one.id],
  );
  await assert.rejects(api.call('sendMessage', { room: one.id, body: { text: 'x' } }), failure('SVC_SCOPE_MISSING'));
  const before = mintRtcToken({ signingKey, room: room.id, identity: 'ada' }).token;
  const bannedUntil = new Date(Date.now() + 3_600_000).toISOString();
  await project.api.call('revokeUser', { userId: 'ada', body: { bannedUntil } });
  const later = mintRtcToken({ signingKey, room: room.id, identity: 'ada' }).token;
  for (const token of [before, later]) assert.equal(await refusalOf(service, token), 'USER_BANNED');
  await assert.rejects(api.call('listConversations'), failure('SVC_USER_BANNED'));
  await project.api.call('unbanUser', { userId: 'ada' });
  assert.equal(await refusalOf(service, before), 'TOKEN_REVOKED');
  await eventually(async () => (await joinRoom(service.url, later)).close());
});

test('[SIGN-4] a chat token ends with CHAT_TOKEN_MAX_TTL_SECONDS where that is shorter', async () => {
  const short = await startService({ env: { CHAT_TOKEN_MAX_TTL_SECONDS: '60' } });
  try {
    const key = await newSecret(await short.newProject());
    const iat = secondsOf() - 120;
    const token = (exp: number) => forge(key, chat, chatClaims({ iat, exp }));
    await assert.rejects(short.as(token(iat + 3_600)).call('listConversations'), failure('SVC_TOKEN_EXPIRED'));
    const now = { iat: secondsOf(), exp: secondsOf() + 3_600 };
    await short.as(forge(key, chat, chatClaims(now))).call('listConversations');
  } finally {
    await short.stop();
  }
});

test('[SIGN-5] a name means the open room that was there when the token was signed, from its first use on for good', async () => {
  const project = await service.newProject();
  const room = await newRoom(project.api);
  const signingKey = await newSecret(project);
  const used = mintRtcToken({ signingKey, room: room.name, identity: 'ada' }).token;
  const old = forge(
    signingKey,
    rtc,
    rtcClaims(room.name, { sub: 'bob', iat: secondsOf() - 60, exp: secondsOf() + 600 }),
  );
  const client = await joinRoom(service.url, used);
  assert.equal(client.joined.room.id, room.id);
  await client.close();
  await project.api.call('closeRoom', { id: room.id });
  assert.equal(
    await refusalOf(service, mintRtcToken({ signingKey, room: room.name, identity: 'ada' }).token),
    'ROOM_NOT_FOUND',
  );
  assert.equal(
    await refusalOf(service, mintRtcToken({ signingKey, room: room.id, identity: 'ada' }).token),
    'ROOM_CLOSED',
  );
  const next = await project.api.call('createRoom', { body: { name: room.name } });
  assert.equal(await refusalOf(service, used), 'TOKEN_REVOKED');
  assert.equal(await refusalOf(service, old), 'ROOM_NOT_FOUND');
  const fresh = await joinRoom(service.url, mintRtcToken({ signingKey, room: next.name, identity: 'ada' }).token);
  assert.equal(fresh.joined.room.id, next.id);
  await fresh.close();
});

test('[SIGN-6] first uses at the same time make one token, and another with its id is refused', async () => {
  const project = await service.newProject();
  const room = await newRoom(project.api);
  const key = await newSecret(project);
  const claims = rtcClaims(room.id);
  const token = forge(key, rtc, claims);
  const use = (at: TestService) => joinPlainly(at, room.id, 'whep', token);
  await Promise.allSettled([use(service), use(second), use(service), use(second)]);
  await (await joinRoom(service.url, token)).close();
  const revoked = await project.api.call('revokeRtcToken', { roomId: room.id, tokenId: claims.jti });
  assert.equal(revoked.participantIdentity, 'ada');

  const fresh = rtcClaims(room.id);
  await (await joinRoom(service.url, forge(key, rtc, fresh))).close();
  for (const change of [{ sub: 'eve' }, { perm: { publish: true } }, { exp: fresh.exp + 600 }])
    assert.equal(await refusalOf(service, forge(key, rtc, { ...fresh, ...change })), 'INVALID_TOKEN');
  const minted = await project.api.call('mintRtcToken', { roomId: room.id, body: { participantIdentity: 'ada' } });
  assert.equal(await refusalOf(service, forge(key, rtc, { ...fresh, jti: minted.tokenId })), 'INVALID_TOKEN');
  const other = await service.newProject();
  const elsewhere = forge(await newSecret(other), rtc, { ...fresh, room: (await newRoom(other.api)).id });
  assert.equal(await refusalOf(service, elsewhere), 'INVALID_TOKEN');
});
