import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { mintChatToken, mintRtcToken, speaker } from '@parley/server';
import { chatAs } from '../../../testkit/chat/chat.ts';
import {
  chatRefusalOf,
  claimsOf,
  forge,
  idOf,
  newPair,
  newSecret,
  refusalOf,
  rtc,
  rtcClaims,
  secondsOf,
} from '../../../testkit/clients/offline.ts';
import {
  joinPlainly,
  newRoom,
  passTime,
  type RoomsService,
  sharedRooms,
  startTimedRooms,
} from '../../../testkit/clients/rooms.ts';
import { joinRoom } from '../../../testkit/clients/signal-client.ts';
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

test('[SIGN-7] revoking a signing key ends its tokens, sessions and sockets on every process; those of others go on', async () => {
  const project = await service.newProject();
  const room = await newRoom(project.api);
  const [signingKey, other] = [await newSecret(project), await newPair(project, 'ES256')];
  const rtcToken = (identity: string) => mintRtcToken({ signingKey, room: room.id, identity, permissions: speaker() });
  const [ada, bob, unused] = [rtcToken('ada'), rtcToken('bob'), rtcToken('eve')];
  const chatToken = mintChatToken({ signingKey, userId: 'ada' }).token;
  const sockets = [
    await joinRoom(service.url, ada.token),
    await joinRoom(second.url, bob.token),
    await chatAs(service, chatToken),
    await chatAs(second, chatToken),
  ];
  await joinPlainly(second, room.id, 'whip', rtcToken('obs').token);
  const spared = await joinRoom(
    second.url,
    mintRtcToken({ signingKey: other, room: room.id, identity: 'spared' }).token,
  );
  await project.owner.api.call('revokeSigningKey', { projectId: project.id, signingKeyId: idOf(signingKey) });
  for (const socket of sockets) assert.deepEqual(await socket.whenClosed(), { code: 4410, reason: 'TOKEN_REVOKED' });
  await eventually(() => assert.deepEqual(service.node.rooms().get(room.id), ['spared']));
  for (const { token } of [ada, bob, unused, rtcToken('later')])
    for (const at of [service, second])
      await eventually(async () => assert.equal(await refusalOf(at, token), 'TOKEN_REVOKED'));
  await assert.rejects(service.as(chatToken).call('listConversations'), failure('SVC_TOKEN_REVOKED'));
  assert.equal(await chatRefusalOf(service, chatToken), 'TOKEN_REVOKED');
  assert.equal(spared.closed, null);
  await spared.close();
});

test('[SIGN-7] signing keys end with the membership of their maker, and with a role that could not make them', async () => {
  const project = await service.newProject();
  const { id: projectId, owner } = project;
  const body = { name: 'k', algorithm: 'HS256' as const };
  const endings = {
    removed: (userId: string) => owner.api.call('removeProjectMember', { projectId, userId }),
    demoted: (userId: string) => owner.api.call('changeProjectMember', { projectId, userId, body: { role: 'VIEWER' } }),
  };
  for (const end of Object.values(endings)) {
    const admin = await project.member('ADMIN');
    const { key } = await admin.api.call('createSigningKey', { projectId, body });
    const { token } = mintChatToken({ signingKey: key ?? '', userId: 'ada' });
    const socket = await chatAs(second, token);
    await end(admin.userId);
    assert.deepEqual(await socket.whenClosed(), { code: 4410, reason: 'TOKEN_REVOKED' });
    await eventually(() => assert.rejects(service.as(token).call('listConversations'), failure('SVC_TOKEN_REVOKED')));
  }
});

test('[SIGN-8] a token is revoked by its id, also before anybody has used it, and only in its own project', async () => {
  const [project, stranger] = [await service.newProject(), await service.newProject()];
  const room = await newRoom(project.api);
  const signingKey = await newSecret(project);
  const token = (identity: string) => mintRtcToken({ signingKey, room: room.id, identity });
  const [used, unused, foreign] = [token('ada'), token('bob'), token('carol')];
  const client = await joinRoom(second.url, used.token);
  const theirs = await newRoom(stranger.api);
  await newSecret(stranger);
  await stranger.api.call('revokeRtcToken', { roomId: theirs.id, tokenId: foreign.tokenId });
  for (const { tokenId } of [used, unused]) {
    const revoked = await project.api.call('revokeRtcToken', { roomId: room.id, tokenId });
    const again = await project.api.call('revokeRtcToken', { roomId: room.id, tokenId });
    assert.deepEqual([again.tokenId, again.revokedAt], [tokenId, revoked.revokedAt]);
  }
  assert.deepEqual(await client.whenClosed(), { code: 4410, reason: 'TOKEN_REVOKED' });
  for (const { token: jwt } of [used, unused])
    for (const at of [service, second]) assert.equal(await refusalOf(at, jwt), 'TOKEN_REVOKED');
  await (await joinRoom(service.url, foreign.token)).close();
  await assert.rejects(
    project.api.call('revokeRtcToken', { roomId: room.id, tokenId: 'rtk_nothing' }),
    failure('SVC_TOKEN_NOT_FOUND'),
  );
});

test('[SIGN-8] a chat token, minted or signed offline, is revoked by its id and its sockets close everywhere', async () => {
  const [project, stranger] = [await service.newProject(), await service.newProject()];
  const signingKey = await newSecret(project);
  const tokens = [
    await project.api.call('mintChatToken', { body: { userId: 'ada' } }),
    mintChatToken({ signingKey, userId: 'ada' }),
  ];
  const unused = mintChatToken({ signingKey, userId: 'ada' });
  const spared = await chatAs(second, mintChatToken({ signingKey, userId: 'ada' }).token);
  for (const { token, tokenId } of tokens) {
    const sockets = [await chatAs(service, token), await chatAs(second, token)];
    await stranger.api.call('revokeChatToken', { tokenId });
    await service.as(token).call('listConversations');
    const revoked = await project.api.call('revokeChatToken', { tokenId });
    assert.equal((await project.api.call('revokeChatToken', { tokenId })).revokedAt, revoked.revokedAt);
    for (const socket of sockets) assert.deepEqual(await socket.whenClosed(), { code: 4410, reason: 'TOKEN_REVOKED' });
    for (const at of [service, second])
      await eventually(() => assert.rejects(at.as(token).call('listConversations'), failure('SVC_TOKEN_REVOKED')));
  }
  await project.api.call('revokeChatToken', { tokenId: unused.tokenId });
  assert.equal(await chatRefusalOf(service, unused.token), 'TOKEN_REVOKED');
  assert.equal(spared.closed, null);
  await spared.close();
  await assert.rejects(project.api.call('revokeChatToken', { tokenId: 'ctk_1' }), failure('SVC_TOKEN_NOT_FOUND'));
});

test('[SIGN-8] a kick voids what was signed for the participant and the room before it, used or not', async () => {
  const project = await service.newProject();
  const [room, other] = [await newRoom(project.api), await newRoom(project.api)];
  const signingKey = await newSecret(project);
  const token = (to: string) => mintRtcToken({ signingKey, room: to, identity: 'ada' }).token;
  const [used, spare, elsewhere] = [token(room.id), token(room.id), token(other.id)];
  const client = await joinRoom(service.url, used);
  await project.api.call('removeParticipant', { id: room.id, identity: 'ada' });
  assert.deepEqual(await client.whenClosed(), { code: 4410, reason: 'PARTICIPANT_REMOVED' });
  for (const jwt of [used, spare]) assert.equal(await refusalOf(second, jwt), 'TOKEN_REVOKED');
  for (const jwt of [elsewhere, token(room.id)]) await (await joinRoom(service.url, jwt)).close();
});

test('[SIGN-2] [SIGN-7] a signed token is refreshed by the service while its key is good, and ends with it', async () => {
  const timed = await startTimedRooms();
  try {
    const project = await timed.newProject();
    const room = await newRoom(project.api);
    const key = await newSecret(project);
    const iat = secondsOf(timed.clock);
    const claims = rtcClaims(room.id, { iat, exp: iat + 30 });
    const ada = await joinRoom(timed.url, forge(key, rtc, claims));
    const stay = async () => {
      ada.send({ type: 'ping', t: 1 });
      await timed.node.heartbeat();
    };
    // Longer than the first one lives, and shorter than the next.
    await passTime(timed, 41, stay);
    const fresh = await ada.take('token.refresh');
    assert.equal(claimsOf(String(fresh['token']))['jti'], claims.jti);
    assert.deepEqual(timed.node.rooms().get(room.id), ['ada']);
    await project.owner.api.call('revokeSigningKey', { projectId: project.id, signingKeyId: idOf(key) });
    assert.deepEqual(await ada.whenClosed(), { code: 4410, reason: 'TOKEN_REVOKED' });
    assert.equal(await refusalOf(timed, String(fresh['token'])), 'TOKEN_REVOKED');
  } finally {
    await timed.stop();
  }
});
