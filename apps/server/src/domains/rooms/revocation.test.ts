import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { chatAs } from '../../../testkit/chat/chat.ts';
import {
  joinAs,
  joinPlainly,
  mint,
  newRoom,
  offerPlainly,
  passTime,
  type RoomsService,
  sharedRooms,
  startTimedRooms,
} from '../../../testkit/clients/rooms.ts';
import { JoinRefused, joinRoom, type SignalClient } from '../../../testkit/clients/signal-client.ts';
import { eventually } from '../../../testkit/kit/eventually.ts';
import { failure } from '../../../testkit/kit/failure.ts';
import { createFakeClock } from '../../../testkit/kit/fake-clock.ts';
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

const publicIdOf = (key: string): string => key.split('_')[2]?.split('.')[0] ?? '';

const resumeOf = (client: SignalClient) => ({
  sessionId: client.joined.sessionId,
  resumeToken: client.joined.resumeToken,
  lastSeq: client.highestSeq(),
});

/** The code with which a join was refused. */
async function refusalOf(token: string): Promise<unknown> {
  const error = await joinRoom(service.url, token).catch((reason: unknown) => reason);
  assert.ok(error instanceof JoinRefused, 'the join was accepted');
  return error.frame['code'];
}

const nobodyIn = (roomId: string) =>
  eventually(() => assert.deepEqual(service.node.rooms().get(roomId) ?? [], [], 'somebody is still in'));

test('[REV-1] a session that was resumed with another token ends with that one, not with the first', async () => {
  const { api } = await service.newProject();
  const room = await newRoom(api);
  const ada = await joinAs(service, api, room, 'ada');
  const other = await mint(api, room, 'ada');
  const resume = resumeOf(ada);
  ada.ws.terminate();
  const back = await joinRoom(second.url, other.token, { resume });
  assert.equal(back.joined.resumed, true);
  await api.call('revokeRtcToken', { roomId: room.id, tokenId: ada.tokenId });
  assert.equal((await back.ask({ type: 'stats', report: {} })).type, 'response');
  await api.call('revokeRtcToken', { roomId: room.id, tokenId: other.tokenId });
  assert.deepEqual(await back.whenClosed(), { code: 4410, reason: 'TOKEN_REVOKED' });
});

test('[REV-1] a resumed session may what the token in use allows, and no more', async () => {
  const { api } = await service.newProject();
  const room = await newRoom(api);
  const [ada, bob] = [await joinAs(service, api, room, 'ada'), await joinAs(service, api, room, 'bob')];
  const narrow = await mint(api, room, 'ada', { permissions: {} });
  const back = await joinRoom(service.url, narrow.token, { resume: resumeOf(ada) });
  assert.deepEqual([back.joined.resumed, back.joined.participant.permissions.publish], [true, false]);
  const refused = await back.ask({
    type: 'publish',
    tracks: [{ cid: 'c', kind: 'AUDIO', source: 'MICROPHONE' }],
    description: { media: [] },
  });
  assert.equal(refused['code'], 'PUBLISH_NOT_ALLOWED');
  const seen = (await bob.take('participant.updated'))['participant'] as SignalClient['joined']['participant'];
  assert.deepEqual([seen.identity, seen.permissions.publish], ['ada', false]);
  for (const one of [back, bob]) await one.close();
});

test('[REV-2] a removed participant does not come back with any token they had; a new one lets them in', async () => {
  const { api, owner, id: projectId } = await service.newProject();
  const room = await newRoom(api);
  const ada = await joinAs(service, api, room, 'ada');
  const spare = await mint(api, room, 'ada');
  await api.call('removeParticipant', { id: room.id, identity: 'ada' });
  assert.deepEqual(await ada.whenClosed(), { code: 4410, reason: 'PARTICIPANT_REMOVED' });
  for (const token of [ada.token, spare.token]) {
    assert.equal(await refusalOf(token), 'TOKEN_REVOKED');
    for (const way of ['whip', 'whep'] as const)
      assert.equal((await offerPlainly(service, room.id, way, token)).status, 401);
  }
  const again = await joinAs(service, api, room, 'ada');
  await owner.api.call('removeProjectParticipant', { projectId, roomId: room.id, identity: 'ada' });
  assert.equal((await again.whenClosed()).code, 4410);
  assert.equal(await refusalOf(again.token), 'TOKEN_REVOKED');
});

test('[REV-2] with revokeTokens=false a removal only removes', async () => {
  const { api } = await service.newProject();
  const room = await newRoom(api);
  const ada = await joinAs(service, api, room, 'ada');
  await api.call('removeParticipant', { id: room.id, identity: 'ada', query: { revokeTokens: false } });
  assert.equal((await ada.whenClosed()).code, 4410);
  await (await joinRoom(service.url, ada.token)).close();
});

test('[REV-3] a key that is revoked with its tokens takes sessions and sockets of both kinds along, everywhere', async () => {
  const project = await service.newProject();
  const { api: other, owner, id: projectId } = project;
  const room = await newRoom(other);
  const key = await project.newKey('DEVELOPMENT');
  const api = service.as(key);
  const rtc = [await joinAs(service, api, room, 'ada'), await joinAs(second, api, room, 'bob')];
  const { token: whip } = await mint(api, room, 'obs');
  const { token: whep } = await mint(api, room, 'screen');
  await joinPlainly(service, room.id, 'whip', whip);
  await joinPlainly(second, room.id, 'whep', whep);
  const { token: chatToken } = await api.call('mintChatToken', { body: { userId: 'ada' } });
  const chats = [await chatAs(service, chatToken), await chatAs(second, chatToken)];
  const spared = await joinAs(service, other, room, 'spared');
  const { token: sparedChat } = await other.call('mintChatToken', { body: { userId: 'ada' } });
  const sparedSocket = await chatAs(second, sparedChat);

  await owner.api.call('revokeApiKey', { projectId, publicId: publicIdOf(key), query: { revokeTokens: true } });
  for (const socket of [...rtc, ...chats])
    assert.deepEqual(await socket.whenClosed(), { code: 4410, reason: 'TOKEN_REVOKED' });
  await eventually(() => assert.deepEqual(service.node.rooms().get(room.id), ['spared']));
  assert.equal(await refusalOf(rtc[0]?.token ?? ''), 'TOKEN_REVOKED');
  for (const at of [service, second])
    await eventually(() => assert.rejects(at.as(chatToken).call('listConversations'), failure('SVC_TOKEN_REVOKED')));
  assert.equal((await offerPlainly(second, room.id, 'whip', whip)).status, 401);
  await service.as(sparedChat).call('listConversations');
  assert.deepEqual([spared.closed, sparedSocket.closed], [null, null]);
  for (const socket of [spared, sparedSocket]) await socket.close();
});

test('[REV-3] a key can be revoked first and its tokens later', async () => {
  const project = await service.newProject();
  const key = await project.newKey('DEVELOPMENT');
  const { token } = await service.as(key).call('mintChatToken', { body: { userId: 'ada' } });
  const at = { projectId: project.id, publicId: publicIdOf(key) };
  const revoked = await project.owner.api.call('revokeApiKey', at);
  await service.as(token).call('listConversations');
  const again = await project.owner.api.call('revokeApiKey', { ...at, query: { revokeTokens: true } });
  assert.equal(again.revokedAt, revoked.revokedAt);
  await assert.rejects(service.as(token).call('listConversations'), failure('SVC_TOKEN_REVOKED'));
});

test('[REV-3] tokens of a revoked key are refreshed no more: the sessions end with them, WHIP and WHEP too', async () => {
  const timed = await startTimedRooms();
  try {
    const project = await timed.newProject();
    const room = await newRoom(project.api);
    const key = await project.newKey('DEVELOPMENT');
    const api = timed.as(key);
    const brief = { ttlSeconds: 30 };
    const ada = await joinAs(timed, api, room, 'ada', { token: brief });
    const spared = await joinAs(timed, project.api, room, 'spared', { token: brief });
    await joinPlainly(timed, room.id, 'whip', (await mint(api, room, 'obs', brief)).token);
    await joinPlainly(timed, room.id, 'whep', (await mint(api, room, 'screen', brief)).token);
    const stay = async () => {
      for (const one of [ada, spared]) one.send({ type: 'ping', t: 1 });
      await timed.node.heartbeat();
    };
    await passTime(timed, 60, stay);
    assert.deepEqual(timed.node.rooms().get(room.id), ['ada', 'spared', 'obs', 'screen']);
    await project.owner.api.call('revokeApiKey', { projectId: project.id, publicId: publicIdOf(key) });
    await passTime(timed, 45, stay);
    assert.deepEqual(await ada.whenClosed(), { code: 4401, reason: 'TOKEN_EXPIRED' });
    await eventually(() => assert.deepEqual(timed.node.rooms().get(room.id), ['spared']));
  } finally {
    await timed.stop();
  }
});

test("[REV-4] a removed member's keys stay dead when they are added again", async () => {
  const project = await service.newProject();
  const admin = await project.member('ADMIN');
  const { key, publicId } = await admin.api.call('createApiKey', { projectId: project.id, body: { name: 'k' } });
  await project.owner.api.call('removeProjectMember', { projectId: project.id, userId: admin.userId });
  const body = { email: admin.email, role: 'VIEWER' as const };
  await project.owner.api.call('addProjectMember', { projectId: project.id, body });
  for (const at of [service, second])
    await eventually(() => assert.rejects(at.as(key).call('getOwnProject'), failure('SVC_API_KEY_REVOKED')));
  const listed = await project.owner.api.call('listApiKeys', { projectId: project.id });
  assert.equal(listed.find((one) => one.publicId === publicId)?.status, 'REVOKED');
});

test('[REV-4] the test calls of a member end with the membership, and with a role that may make none', async () => {
  const project = await service.newProject();
  const { id: projectId, owner } = project;
  const room = await newRoom(project.api);
  const endings = {
    removed: (userId: string) => owner.api.call('removeProjectMember', { projectId, userId }),
    demoted: (userId: string) => owner.api.call('changeProjectMember', { projectId, userId, body: { role: 'VIEWER' } }),
  };
  for (const end of Object.values(endings)) {
    const developer = await project.member('DEVELOPER');
    const { token } = await developer.api.call('mintTestToken', { projectId, roomId: room.id, body: {} });
    const client = await joinRoom(service.url, token);
    await end(developer.userId);
    assert.deepEqual(await client.whenClosed(), { code: 4410, reason: 'TOKEN_REVOKED' });
    assert.equal(await refusalOf(token), 'TOKEN_REVOKED');
  }
});

test('[REV-4] a demotion ends the keys that the new role could not make', async () => {
  const project = await service.newProject();
  const { id: projectId, owner } = project;
  const admin = await project.member('ADMIN');
  const make = async (environment: 'DEVELOPMENT' | 'PRODUCTION') =>
    (await admin.api.call('createApiKey', { projectId, body: { name: 'k', environment } })).key;
  const [development, production] = [await make('DEVELOPMENT'), await make('PRODUCTION')];
  const become = (role: 'ADMIN' | 'DEVELOPER' | 'VIEWER') =>
    owner.api.call('changeProjectMember', { projectId, userId: admin.userId, body: { role } });
  await become('DEVELOPER');
  await assert.rejects(service.as(production).call('getOwnProject'), failure('SVC_API_KEY_REVOKED'));
  await service.as(development).call('getOwnProject');
  await become('VIEWER');
  await assert.rejects(service.as(development).call('getOwnProject'), failure('SVC_API_KEY_REVOKED'));
  await become('ADMIN');
  for (const key of [development, production])
    await assert.rejects(service.as(key).call('getOwnProject'), failure('SVC_API_KEY_REVOKED'));
  await project.api.call('getOwnProject');
});

test('[REV-5] archiving a project ends every participant, those without a socket too', async () => {
  const { api, owner, id: projectId } = await service.newProject();
  const room = await newRoom(api);
  const ada = await joinAs(service, api, room, 'ada');
  const lost = await joinAs(second, api, room, 'lost');
  lost.ws.terminate();
  await joinPlainly(service, room.id, 'whip', (await mint(api, room, 'obs')).token);
  await joinPlainly(second, room.id, 'whep', (await mint(api, room, 'screen')).token);
  await owner.api.call('archiveProject', { projectId });
  assert.equal((await ada.whenClosed()).code, 4401);
  await nobodyIn(room.id);
});

test('[REV-6] a token is refreshed for RTC_SESSION_MAX_AGE_SECONDS after its minting; then its session ends', async () => {
  const timed = await startTimedRooms({ env: { RTC_SESSION_MAX_AGE_SECONDS: '90' } });
  try {
    const { api } = await timed.newProject();
    const room = await newRoom(api);
    const ada = await joinAs(timed, api, room, 'ada', { token: { ttlSeconds: 30 } });
    await joinPlainly(timed, room.id, 'whip', (await mint(api, room, 'obs', { ttlSeconds: 30 })).token);
    const stay = async () => {
      ada.send({ type: 'ping', t: 1 });
      await timed.node.heartbeat();
    };
    await passTime(timed, 80, stay);
    assert.deepEqual([ada.closed, timed.node.rooms().get(room.id)], [null, ['ada', 'obs']]);
    await passTime(timed, 25, stay);
    assert.deepEqual(await ada.whenClosed(), { code: 4401, reason: 'TOKEN_EXPIRED' });
    await eventually(() => assert.deepEqual(timed.node.rooms().get(room.id) ?? [], []));
    // Every 15 s, half its life; what cannot be prolonged any further is not sent again every second.
    const refreshed = ada.frames.filter(({ type }) => type === 'token.refresh').length;
    assert.ok(refreshed >= 4 && refreshed <= 6, `${refreshed} refreshes`);
  } finally {
    await timed.stop();
  }
});

test('[REV-4] who has lost the role makes no key, at a process that does not know it yet either', async () => {
  const deaf = await startService({
    beside: service,
    // What it has read of roles stays as it was.
    clock: createFakeClock(Date.now()),
    wrap: (adapters) => ({ ...adapters, bus: { ...adapters.bus, subscribe: async () => () => {} } }),
  });
  try {
    const { id: projectId, owner, member } = await service.newProject();
    const admin = await member('ADMIN');
    const there = deaf.as(admin.accessToken);
    await there.call('listApiKeys', { projectId });
    await owner.api.call('changeProjectMember', { projectId, userId: admin.userId, body: { role: 'VIEWER' } });
    await there.call('listApiKeys', { projectId });
    const keys = [
      () => there.call('createApiKey', { projectId, body: { name: 'late' } }),
      () => there.call('createSigningKey', { projectId, body: { name: 'late', algorithm: 'HS256' } }),
    ];
    for (const make of keys) await assert.rejects(make(), failure('SVC_PERMISSION_DENIED'));
  } finally {
    await deaf.stop();
  }
});
