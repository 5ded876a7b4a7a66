import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { chatAs } from '../../../testkit/chat/chat.ts';
import {
  joinAs,
  joinPlainly,
  mint,
  newRoom,
  offerPlainly,
  type RoomsService,
  sharedRooms,
  startTimedRooms,
} from '../../../testkit/clients/rooms.ts';
import { JoinRefused, joinRoom, openSignal } from '../../../testkit/clients/signal-client.ts';
import { eventually } from '../../../testkit/kit/eventually.ts';
import { failure } from '../../../testkit/kit/failure.ts';
import { startService, type TestService } from '../../../testkit/kit/service.ts';
import { systemClock } from '../../core/clock.ts';
import type { Db } from '../../core/db.ts';
import { createStanding } from './standing.ts';

let service: RoomsService;
let second: TestService;
before(async () => {
  service = await sharedRooms();
  second = await startService({ beside: service });
});
after(async () => {
  await second.stop();
});

const inAnHour = (now = Date.now()): string => new Date(now + 3_600_000).toISOString();

/** The code with which a join was refused, and the close that followed. */
async function refusalOf(token: string): Promise<[unknown, number]> {
  const error = await joinRoom(service.url, token).catch((reason: unknown) => reason);
  assert.ok(error instanceof JoinRefused, 'the join was accepted');
  return [error.frame['code'], (await error.socket.whenClosed()).code];
}

test('[USER-1] one call ends all tokens, sessions and sockets of a user on every process; others and new tokens go on', async () => {
  const { api } = await service.newProject();
  const [room, other] = [await newRoom(api), await newRoom(api)];
  const rtc = [await joinAs(service, api, room, 'eve'), await joinAs(second, api, other, 'eve')];
  const { token: spare } = await mint(api, room, 'eve');
  const waiting = await openSignal(second.url, spare);
  await waiting.take('hello');
  const { token: plain } = await mint(api, await newRoom(api), 'eve');
  const studio = await newRoom(api);
  await joinPlainly(second, studio.id, 'whip', (await mint(api, studio, 'eve')).token);
  const { token: chatToken } = await api.call('mintChatToken', { body: { userId: 'eve' } });
  const chats = [await chatAs(service, chatToken), await chatAs(second, chatToken)];
  const ada = await joinAs(second, api, room, 'ada');
  const adaChat = await chatAs(second, (await api.call('mintChatToken', { body: { userId: 'ada' } })).token);

  const user = await api.call('revokeUser', { userId: 'eve', body: {} });
  assert.deepEqual([user.userId, user.banned, user.bannedUntil], ['eve', false, null]);
  for (const socket of [...rtc, ...chats, waiting])
    assert.deepEqual(await socket.whenClosed(), { code: 4410, reason: 'TOKEN_REVOKED' });
  await eventually(() => assert.deepEqual(service.node.rooms().get(studio.id) ?? [], []));
  assert.deepEqual(service.node.rooms().get(room.id), ['ada']);
  for (const token of [spare, plain, rtc[1]?.token ?? ''])
    assert.deepEqual(await refusalOf(token), ['TOKEN_REVOKED', 4401]);
  for (const at of [service, second])
    await eventually(() => assert.rejects(at.as(chatToken).call('listConversations'), failure('SVC_TOKEN_REVOKED')));
  assert.deepEqual([ada.closed, adaChat.closed], [null, null]);

  await (await joinAs(service, api, room, 'eve')).close();
  const { token: fresh } = await api.call('mintChatToken', { body: { userId: 'eve' } });
  await service.as(fresh).call('listConversations');
  for (const socket of [ada, adaChat]) await socket.close();
});

test('[USER-1] a process that hears nothing of the bus closes the sockets too, of users and of revoked keys', async () => {
  const deaf = await startService({
    beside: service,
    wrap: (adapters) => ({ ...adapters, bus: { ...adapters.bus, subscribe: async () => () => {} } }),
  });
  try {
    const project = await service.newProject();
    const room = await newRoom(project.api);
    const key = await project.newKey('DEVELOPMENT');
    const chatOf = async (api: typeof project.api) =>
      chatAs(deaf, (await api.call('mintChatToken', { body: { userId: 'eve' } })).token);
    const ofKey = [await chatOf(service.as(key)), await joinAs(deaf, service.as(key), room, 'bob')];
    const ofUser = [await chatOf(project.api), await joinAs(deaf, project.api, room, 'eve')];
    const [publicId = ''] = key.slice('svk_dev_'.length).split('.');
    const query = { revokeTokens: true };
    await project.owner.api.call('revokeApiKey', { projectId: project.id, publicId, query });
    for (const socket of ofKey) assert.equal((await socket.whenClosed()).code, 4410);
    assert.deepEqual(
      ofUser.map(({ closed }) => closed),
      [null, null],
    );
    await project.api.call('revokeUser', { userId: 'eve' });
    for (const socket of ofUser) assert.equal((await socket.whenClosed()).code, 4410);
  } finally {
    await deaf.stop();
  }
});

test('[USER-2] a banned user gets no token of any kind and joins nothing', async () => {
  const { api } = await service.newProject();
  const room = await newRoom(api);
  const eve = await joinAs(service, api, room, 'eve');
  const { token: chatToken } = await api.call('mintChatToken', { body: { userId: 'eve' } });
  const stream = await api.call('createLiveStream', { body: { title: 'x', hostIdentity: 'host' } });
  const bannedUntil = inAnHour();
  const user = await api.call('revokeUser', { userId: 'eve', body: { bannedUntil, reason: 'spam' } });
  assert.deepEqual([user.banned, user.bannedUntil, user.reason], [true, bannedUntil, 'spam']);
  assert.equal((await eve.whenClosed()).code, 4410);
  assert.deepEqual(await refusalOf(eve.token), ['USER_BANNED', 4403]);
  for (const way of ['whip', 'whep'] as const) {
    const answer = await offerPlainly(service, room.id, way, eve.token);
    assert.deepEqual([answer.status, ((await answer.json()) as { code: string }).code], [403, 'SVC_USER_BANNED']);
  }
  const { id: streamId, conversationId } = stream;
  for (const call of [
    () => mint(api, room, 'eve'),
    () => api.call('mintChatToken', { body: { userId: 'eve' } }),
    () => api.call('createViewerToken', { streamId, body: { identity: 'eve' } }),
    () => api.call('registerHost', { streamId, body: { identity: 'eve' } }),
    () => service.as(chatToken).call('listConversations'),
  ])
    await assert.rejects(call(), failure('SVC_USER_BANNED'));
  const members = await api.call('listConversationMembers', { room: conversationId });
  assert.ok(!members.some(({ userId }) => userId === 'eve'), 'a banned viewer became a member');
});

test('[USER-3] a ban is seen, listed, lifted, and ends by itself; what was revoked stays revoked', async () => {
  const timed = await startTimedRooms();
  try {
    const { api } = await timed.newProject();
    const { token } = await api.call('mintChatToken', { body: { userId: 'eve', ttlSeconds: 21_600 } });
    assert.deepEqual(await api.call('getUser', { userId: 'eve' }), {
      userId: 'eve',
      banned: false,
      bannedUntil: null,
      reason: null,
      revokedAt: null,
    });
    const bannedUntil = inAnHour(timed.clock.now());
    const revoked = await api.call('revokeUser', { userId: 'eve', body: { bannedUntil } });
    await api.call('revokeUser', { userId: 'mallory', body: {} });
    assert.deepEqual(await api.call('getUser', { userId: 'eve' }), revoked);
    const listed = async (query: object = {}) =>
      (await api.call('listRevokedUsers', { query })).map(({ userId }) => userId).sort();
    assert.deepEqual([await listed(), await listed({ banned: true })], [['eve', 'mallory'], ['eve']]);
    // A second revocation without a time leaves the ban as it is.
    assert.equal((await api.call('revokeUser', { userId: 'eve', body: {} })).bannedUntil, bannedUntil);

    assert.equal((await api.call('unbanUser', { userId: 'eve' })).banned, false);
    await api.call('mintChatToken', { body: { userId: 'eve' } });
    await assert.rejects(timed.as(token).call('listConversations'), failure('SVC_TOKEN_REVOKED'));

    await api.call('revokeUser', { userId: 'eve', body: { bannedUntil } });
    timed.clock.jump(3_600_001);
    assert.deepEqual(await listed({ banned: true }), []);
    assert.equal((await api.call('getUser', { userId: 'eve' })).banned, false);
    const { token: fresh } = await api.call('mintChatToken', { body: { userId: 'eve' } });
    await timed.as(fresh).call('listConversations');
    await assert.rejects(timed.as(token).call('listConversations'), failure('SVC_TOKEN_REVOKED'));
  } finally {
    await timed.stop();
  }
});

test('[USER-4] it reaches the own project and environment only, is audited, and takes users and times as they are', async () => {
  const project = await service.newProject();
  const { api } = project;
  const production = service.as(await project.newKey('PRODUCTION'));
  const { token: sibling } = await production.call('mintChatToken', { body: { userId: 'auth0|eve' } });
  const { token: foreign } = await (await service.newProject()).api.call('mintChatToken', {
    body: { userId: 'auth0|eve' },
  });
  await api.call('revokeUser', { userId: 'auth0|eve', body: { bannedUntil: inAnHour() } });
  for (const token of [sibling, foreign]) await service.as(token).call('listConversations');
  assert.equal((await production.call('getUser', { userId: 'auth0|eve' })).revokedAt, null);
  await api.call('unbanUser', { userId: 'auth0|eve' });
  await api.call('unbanUser', { userId: 'auth0|eve' });

  const entries = await project.owner.api.call('listAuditLogs', { projectId: project.id });
  const keys = await project.owner.api.call('listApiKeys', { projectId: project.id });
  const key = keys.find(({ environment }) => environment === 'DEVELOPMENT');
  assert.deepEqual(
    entries
      .filter(({ resourceType }) => resourceType === 'user')
      .map(({ action, actorId, actorEmail, resourceId, environment }) => [
        action,
        actorId,
        actorEmail,
        resourceId,
        environment,
      ]),
    [
      ['user.unbanned', key?.id, `API key ${key?.publicId}`, 'auth0|eve', 'DEVELOPMENT'],
      ['user.revoked', key?.id, `API key ${key?.publicId}`, 'auth0|eve', 'DEVELOPMENT'],
    ],
  );
  for (const userId of ['a b', 'x'.repeat(129), 'ü'])
    for (const call of ['revokeUser', 'unbanUser', 'getUser'] as const)
      await assert.rejects(api.call(call, { userId }), failure('SVC_VALIDATION_FAILED'));
  for (const bannedUntil of ['2020-01-01T00:00:00.000Z', 'tomorrow', '9999-12-31T23:59:59-12:00'])
    await assert.rejects(
      api.call('revokeUser', { userId: 'eve', body: { bannedUntil } }),
      failure('SVC_VALIDATION_FAILED'),
    );
  assert.equal((await api.call('revokeUser', { userId: 'eve' })).banned, false);
});

test('[USER-5] a crowd that comes back at once is asked for in few statements, and each of it answered for itself', async () => {
  const { api, id: projectId } = await service.newProject();
  await api.call('revokeUser', { userId: 'u7', body: { bannedUntil: inAnHour() } });
  const { db } = service.adapters;
  let reads = 0;
  const counting: Db = {
    ...db,
    query(statement) {
      reads += 1;
      return db.query(statement);
    },
  };
  const standing = createStanding({
    db: counting,
    clock: systemClock,
    access: { assertHolds: async () => undefined },
    revokedTokens: { isRevoked: async () => false, isRevokedIn: async () => false },
    namesOf: (_scope, userId) => [userId, `sealed-${userId}`],
  });
  const holds = (userId: string) =>
    standing.assertHolds({
      projectId,
      environment: 'DEVELOPMENT',
      userId,
      tokenId: `t-${userId}`,
      keyId: null,
      issuedAt: Date.now(),
    });
  const answers = await Promise.allSettled(Array.from({ length: 300 }, (_, at) => holds(`u${at}`)));
  const refused = answers.flatMap(({ status }, at) => (status === 'rejected' ? [at] : []));
  assert.deepEqual(refused, [7]);
  assert.ok(reads <= 3, `${reads} statements`);
});
