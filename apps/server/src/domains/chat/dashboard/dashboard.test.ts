import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { assertRefused, type ChatOf, createChatKit } from '../../../../testkit/chat/chat.ts';
import { eventually } from '../../../../testkit/kit/eventually.ts';
import type { Person } from '../../../../testkit/kit/people.ts';
import { sharedService } from '../../../../testkit/kit/shared-service.ts';

let chat: ChatOf;
let admin: Person;
let viewer: Person;
before(async () => {
  chat = await createChatKit(await sharedService());
  admin = await chat.project.member('ADMIN');
  viewer = await chat.project.member('VIEWER');
});

const here = () => ({ projectId: chat.project.id, query: { environment: 'DEVELOPMENT' } });
const written = /secret/;
const later = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString();

test('[DASH-100] a conversation is shown with its pins, polls and scheduled messages in numbers, without a word of them', async () => {
  const { api } = chat.project;
  const { id: room } = await chat.conversation(['ann', 'bob']);
  const seen = async () => {
    const shown = await viewer.api.call('getProjectConversation', { ...here(), conversationId: room });
    assert.doesNotMatch(JSON.stringify(shown), written);
    const { pins, polls, scheduled, slowModeSeconds } = shown;
    return { pins, polls, scheduled, slowModeSeconds };
  };
  const nothing = {
    pins: { count: 0, max: 50 },
    polls: { open: 0, closed: 0, voters: 0, isCapped: false },
    scheduled: { waiting: 0, failed: 0, nextAt: null, isCapped: false },
    slowModeSeconds: 0,
  };
  assert.deepEqual(await seen(), nothing);
  const poll = { question: 'A secret?', options: ['secret one', 'secret two'] };
  const asked = [];
  for (let n = 0; n < 3; n++) asked.push(await api.call('sendMessage', { room, body: { poll, senderId: 'ann' } }));
  const [open, over, deleted] = asked.map(({ id }) => ({ messageId: id }));
  assert.ok(open && over && deleted);
  for (const vote of [open, over])
    for (const userId of ['ann', 'bob']) await api.call('castVote', { ...vote, body: { userId, optionIds: [1] } });
  await api.call('closePoll', over);
  await api.call('deleteMessage', deleted);
  await api.call('pinMessage', { ...open, query: { userId: 'ann' } });
  const sendAt = [later(3), later(2)];
  for (const at of sendAt)
    await api.call('scheduleMessage', { room, body: { text: 'secret', sendAt: at, senderId: 'ann' } });
  await api.call('updateConversation', { room, body: { slowModeSeconds: 30 } });
  assert.deepEqual(await seen(), {
    pins: { count: 1, max: 50 },
    polls: { open: 1, closed: 1, voters: 4, isCapped: false },
    scheduled: { waiting: 2, failed: 0, nextAt: sendAt[1], isCapped: false },
    slowModeSeconds: 30,
  });
});

test('[DASH-101] who is banned, muted or in the shadow in one conversation is listed and lifted by who may', async () => {
  const { api, id: projectId, owner } = chat.project;
  const [{ id: room }, { id: other }] = [
    await chat.conversation(['ann', 'eve', 'tom', 'una']),
    await chat.conversation(['eve']),
  ];
  const of = { ...here(), conversationId: room };
  const until = later(1);
  await api.call('muteInConversation', { room, userId: 'tom', body: { until, reason: 'calm down' } });
  await api.call('muteInConversation', { room, userId: 'ann' });
  await api.call('banFromConversation', { room, userId: 'eve' });
  await api.call('shadowInConversation', { room, userId: 'una' });
  await api.call('muteInConversation', { room: other, userId: 'eve' });
  await api.call('banFromChat', { userId: 'everywhere' });
  const list = async () =>
    (await viewer.api.call('listProjectConversationSanctions', of)).map(({ kind, userId }) => [kind, userId]);
  const all = [
    ['BAN', 'eve'],
    ['MUTE', 'ann'],
    ['MUTE', 'tom'],
    ['SHADOW', 'una'],
  ];
  assert.deepEqual(await list(), all);
  const paged: unknown[] = [];
  for (let cursor: string | undefined, pages = 0; pages < all.length; pages++) {
    const query = { ...of.query, limit: 1, ...(cursor && { cursor }) };
    const { body, headers } = await viewer.api.request('listProjectConversationSanctions', { ...of, query });
    paged.push(...body.map(({ kind, userId }) => [kind, userId]));
    cursor = headers.get('x-next-cursor') ?? undefined;
  }
  assert.deepEqual(paged, all);
  const [, , tom] = await viewer.api.call('listProjectConversationSanctions', of);
  assert.deepEqual(
    [tom?.until, tom?.reason, tom?.imposedBy, tom?.conversationId],
    [until, 'calm down', 'server', room],
  );
  const lift = { ...of, userId: 'tom' };
  await assertRefused(viewer.api.call('unmuteProjectConversationUser', lift), 403, 'SVC_PERMISSION_DENIED');
  await admin.api.call('unmuteProjectConversationUser', lift);
  await (await chat.user('tom')).api.call('sendMessage', { room, body: { text: 'hi' } });
  await admin.api.call('unbanProjectConversationUser', { ...of, userId: 'eve' });
  await api.call('addConversationMember', { room, body: { userId: 'eve' } });
  await admin.api.call('unshadowProjectConversationUser', { ...of, userId: 'una' });
  assert.deepEqual(await list(), [['MUTE', 'ann']]);
  const gone = { ...of, conversationId: 'nowhere' };
  await assertRefused(viewer.api.call('listProjectConversationSanctions', gone), 404, 'SVC_CONVERSATION_NOT_FOUND');
  const [entry] = await owner.api.call('listAuditLogs', { projectId, query: { resourceId: 'tom' } });
  assert.deepEqual([entry?.action, entry?.actorEmail], ['chat.user_unmuted', admin.email]);
});

test('[DASH-102] users are listed with a record or a session and found by their id, without what a record says', async () => {
  const own = await createChatKit(await sharedService());
  const { api, id: projectId } = own.project;
  const looking = await own.project.member('VIEWER');
  const at = { projectId, query: { environment: 'DEVELOPMENT' } };
  await own.conversation(['cora', 'member-only']);
  const record = { name: 'A secret', avatarUrl: 'https://example.com/secret', metadata: { note: 'secret' } };
  await api.call('putChatUser', { userId: 'ann@example.com/1', body: { ...record, role: 'coach' } });
  await api.call('putChatUser', { userId: 'bob', body: {} });
  const sockets = [];
  for (const userId of ['cora', 'cora', 'bob']) sockets.push(await (await own.user(userId)).connect());
  await api.call('muteInChat', { userId: 'zoe', body: { reason: 'calm down' } });
  const list = async (query: object = {}) => {
    const users = await looking.api.call('listProjectChatUsers', { ...at, query: { ...at.query, ...query } });
    assert.doesNotMatch(JSON.stringify(users), written);
    return users;
  };
  const shown = await list();
  assert.deepEqual(
    shown.map(({ userId, hasRecord, hasName, hasAvatar, role, isConnected }) => [
      userId,
      hasRecord,
      hasName,
      hasAvatar,
      role,
      isConnected,
    ]),
    [
      ['ann@example.com/1', true, true, true, 'coach', false],
      ['bob', true, false, false, null, true],
      ['cora', false, false, false, null, true],
    ],
  );
  assert.deepEqual(
    shown.map(({ metadataBytes, createdAt, lastSeenAt }) => [metadataBytes > 0, createdAt !== null, lastSeenAt]),
    [
      [true, true, null],
      [false, true, null],
      [false, false, null],
    ],
  );
  const paged: string[] = [];
  for (let cursor: string | undefined, pages = 0; pages < 3; pages++) {
    const query = { ...at.query, limit: 1, ...(cursor && { cursor }) };
    const { body, headers } = await looking.api.request('listProjectChatUsers', { ...at, query });
    paged.push(...body.map(({ userId }) => userId));
    cursor = headers.get('x-next-cursor') ?? undefined;
  }
  assert.deepEqual(
    paged,
    shown.map(({ userId }) => userId),
  );
  const found = async (userId: string) => (await list({ userId })).map((user) => user.userId);
  assert.deepEqual(await found('member-only'), ['member-only']);
  assert.deepEqual(await found('nobody'), []);
  const one = (userId: string) => looking.api.call('getProjectChatUser', { ...at, userId });
  assert.equal((await one('ann@example.com/1')).role, 'coach');
  const zoe = await one('zoe');
  assert.deepEqual(
    [zoe.hasRecord, zoe.sanctions.map(({ kind, reason }) => [kind, reason])],
    [false, [['MUTE', 'calm down']]],
  );
  await assertRefused(one('nobody'), 404, 'SVC_USER_NOT_FOUND');
  await assertRefused(
    looking.api.call('getProjectChatUser', { ...at, userId: 'bob', query: { environment: 'PRODUCTION' } }),
    404,
    'SVC_USER_NOT_FOUND',
  );
  const ofCora = { ...at, query: { ...at.query, userId: 'cora' } };
  assert.deepEqual(
    (await looking.api.call('listProjectConversations', ofCora)).map(({ myRole }) => myRole),
    ['MEMBER'],
  );
  await Promise.all(sockets.map((socket) => socket.close()));
  await eventually(async () => {
    const { isConnected, lastSeenAt } = await one('cora');
    assert.ok(!isConnected && lastSeenAt !== null);
  });
});
