import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  joinAs,
  mint,
  newRoom,
  passTime,
  type RoomsService,
  sharedRooms,
  startTimedRooms,
} from '../../../testkit/clients/rooms.ts';
import { JoinRefused, joinRoom, openSignal } from '../../../testkit/clients/signal-client.ts';
import { startService, type TestService } from '../../../testkit/kit/service.ts';
import { raceRevocations } from '../../../testkit/proofs/room-races.ts';

let service: RoomsService;
let second: TestService;
before(async () => {
  service = await sharedRooms();
  second = await startService({ beside: service });
});
after(async () => {
  await second.stop();
});

const claimsOf = (token: string): Record<string, unknown> =>
  JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()) as Record<string, unknown>;

const code = (expected: string) => (error: unknown) => {
  assert.equal((error as { code: string }).code, expected);
  return true;
};

/** The code with which a join was refused, and the close that followed. */
async function refusalOf(url: string, token: string): Promise<[unknown, number]> {
  const error = await joinRoom(url, token).catch((reason: unknown) => reason);
  assert.ok(error instanceof JoinRefused, 'the join was accepted');
  return [error.frame['code'], (await error.socket.whenClosed()).code];
}

test('[TOK-1] minting gives a token bound to the room id, with defaults, where to use it and its end', async () => {
  const { api, id } = await service.newProject();
  const room = await newRoom(api);
  const minted = await api.call('mintRtcToken', { roomId: room.name, body: { participantIdentity: 'auth0|ada@x' } });
  assert.match(minted.tokenId, /^rtk_/);
  assert.deepEqual(
    [minted.id, minted.tokenType, minted.roomId, minted.expiresIn],
    [minted.tokenId, 'Bearer', room.id, 600],
  );
  assert.equal(minted.signalingUrl, `${service.config.publicUrl.replace('http', 'ws')}/v1/rtc/signal`);
  assert.deepEqual(minted.permissions, {
    join: true,
    subscribe: true,
    publish: false,
    publishAudio: false,
    publishVideo: false,
    publishData: false,
    updateMetadata: false,
  });
  const { sub, jti, pid, env, room: bound, perm, typ, iat, exp } = claimsOf(minted.token);
  assert.deepEqual(
    [sub, jti, pid, env, bound, perm, typ],
    ['auth0|ada@x', minted.tokenId, id, 'DEVELOPMENT', room.id, minted.permissions, 'rtc'],
  );
  assert.equal(Number(exp) - Number(iat), 600);
  for (const body of [
    { participantIdentity: '' },
    { participantIdentity: 'a b' },
    { participantIdentity: 'x'.repeat(129) },
    { participantIdentity: 'a', ttlSeconds: 29 },
    { participantIdentity: 'a', ttlSeconds: 21_601 },
    { participantIdentity: 'a', metadata: 'x'.repeat(1025) },
    { participantIdentity: 'a', permissions: { publish: 'yes' } },
  ])
    await assert.rejects(
      api.call('mintRtcToken', { roomId: room.id, body: body as { participantIdentity: string } }),
      code('SVC_VALIDATION_FAILED'),
    );
});

test('[TOK-1] the same Idempotency-Key gives the same token', async () => {
  const { api } = await service.newProject();
  const room = await newRoom(api);
  const ask = () =>
    api.request('mintRtcToken', { roomId: room.id, body: { participantIdentity: 'ada' } }, { idempotencyKey: 'once' });
  const answers = await Promise.all(Array.from({ length: 10 }, ask));
  assert.equal(new Set(answers.map(({ body }) => body.token)).size, 1);
});

test('[TOK-2] a token reaches only the room it was minted for, also when another takes its name', async () => {
  const { api } = await service.newProject();
  const room = await newRoom(api);
  const { token } = await mint(api, room, 'ada');
  await api.call('closeRoom', { id: room.id });
  await api.call('createRoom', { body: { name: room.name } });
  assert.deepEqual(await refusalOf(service.url, token), ['TOKEN_REVOKED', 4401]);
});

test('[TOK-2] a token without join cannot join, and a foreign, altered or other token is refused', async () => {
  const { api, apiKey } = await service.newProject();
  const room = await newRoom(api);
  const silent = await mint(api, room, 'ada', { permissions: { join: false } });
  assert.deepEqual(await refusalOf(service.url, silent.token), ['JOIN_NOT_ALLOWED', 4403]);
  const { token } = await mint(api, room, 'ada');
  for (const bad of [`${token}x`, token.slice(0, -2), apiKey, 'nothing']) {
    const socket = await openSignal(service.url, bad.replace(/[^\w.-]/g, ''));
    assert.equal((await socket.whenClosed()).code, 4401);
  }
});

test('[TOK-3] revoking blocks joins at once and cuts the live session on whichever process it is', async () => {
  const { api } = await service.newProject();
  const room = await newRoom(api);
  const here = await joinAs(service, api, room, 'ada');
  const there = await joinAs(second, api, room, 'bob');
  for (const one of [here, there]) {
    const revoked = await api.call('revokeRtcToken', { roomId: room.id, tokenId: one.tokenId });
    assert.deepEqual(await refusalOf(service.url, one.token), ['TOKEN_REVOKED', 4401]);
    assert.deepEqual(await one.whenClosed(), { code: 4410, reason: 'TOKEN_REVOKED' });
    const again = await api.call('revokeRtcToken', { roomId: room.id, tokenId: one.tokenId });
    assert.equal(again.revokedAt, revoked.revokedAt);
  }
  assert.deepEqual(service.node.rooms().get(room.id), []);
  await assert.rejects(
    api.call('revokeRtcToken', { roomId: room.id, tokenId: 'rtk_nothing' }),
    code('SVC_TOKEN_NOT_FOUND'),
  );
});

test('[TOK-3] whatever their order, no join that began after the revocation answered is accepted', async () => {
  const outcome = await raceRevocations({ urls: [service.url, second.url], service, rounds: 12 });
  assert.equal(outcome.acceptedAfter, 0);
  assert.ok(outcome.acceptedBefore > 0, 'no join ever came first: the race was none');
  assert.ok(outcome.refused > 0);
});

test('[TOK-3] a socket that was authenticated before the revocation cannot join after it', async () => {
  const { api } = await service.newProject();
  const room = await newRoom(api);
  const { token, tokenId } = await mint(api, room, 'ada');
  const socket = await openSignal(service.url, token);
  await socket.take('hello');
  await api.call('revokeRtcToken', { roomId: room.id, tokenId });
  assert.equal((await socket.ask({ type: 'join', connectionId: 'late' }))['code'], 'TOKEN_REVOKED');
  assert.equal((await socket.whenClosed()).code, 4401);
});

test('[TOK-4] a test token lasts ten minutes, may do everything and is budgeted by user', async () => {
  const project = await service.newProject();
  const room = await newRoom(project.api);
  const at = { projectId: project.id, roomId: room.id };
  const { body, headers } = await project.owner.api.request('mintTestToken', { ...at, body: {} });
  assert.equal(body.expiresIn, 600);
  assert.ok(Object.values(body.permissions).every(Boolean));
  assert.equal(claimsOf(body.token)['dashboard'], true);
  assert.equal(headers.get('x-ratelimit-limit'), '30');
  const named = await project.owner.api.call('mintTestToken', { ...at, body: { participantIdentity: 'me' } });
  assert.equal(named.participantIdentity, 'me');
  await (await joinRoom(service.url, body.token)).close();
});

test('[TOK-5] a connected participant is given a fresh token before theirs ends; nobody joins with one that ended', async () => {
  const timed = await startTimedRooms();
  try {
    const { api } = await timed.newProject();
    const room = await newRoom(api);
    const ada = await joinAs(timed, api, room, 'ada', { token: { ttlSeconds: 30 } });
    const { token: unused } = await mint(api, room, 'bob', { ttlSeconds: 30 });
    const stay = async () => {
      ada.send({ type: 'ping', t: 1 });
      await timed.node.heartbeat();
    };
    await passTime(timed, 90, stay);
    assert.equal(ada.closed, null);
    const fresh = ada.frames.filter(({ type }) => type === 'token.refresh');
    assert.ok(fresh.length >= 4 && fresh.length <= 10, `${fresh.length} refreshes in three lifetimes`);
    const last = String(fresh.at(-1)?.['token']);
    assert.equal(claimsOf(last)['jti'], ada.tokenId);
    assert.deepEqual(await refusalOf(timed.url, ada.token), ['TOKEN_EXPIRED', 4401]);
    assert.deepEqual(await refusalOf(timed.url, unused), ['TOKEN_EXPIRED', 4401]);
    const again = await joinRoom(timed.url, last);
    assert.deepEqual(await ada.whenClosed(), { code: 4409, reason: 'DUPLICATE_IDENTITY' });
    // The id is that of the token that was minted: revoking it ends what came of it.
    await api.call('revokeRtcToken', { roomId: room.id, tokenId: ada.tokenId });
    assert.equal((await again.whenClosed()).code, 4410);
    assert.deepEqual(await refusalOf(timed.url, last), ['TOKEN_REVOKED', 4401]);
  } finally {
    await timed.stop();
  }
});
