import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { assertRefused, type ChatOf, createChatKit } from '../../../../testkit/chat/chat.ts';
import { sharedService } from '../../../../testkit/kit/shared-service.ts';

let chat: ChatOf;
before(async () => {
  chat = await createChatKit(await sharedService());
});

const open = (...userIds: string[]) => chat.project.api.request('openDirectConversation', { body: { userIds } });
const membersOf = async (room: string): Promise<string[]> =>
  (await chat.project.api.call('listConversationMembers', { room })).map(({ userId }) => userId).sort();

test('[DIR-1] the conversation of exactly these people is made once and found in any order', async () => {
  const made = await open('ann', 'ben');
  assert.deepEqual([made.status, made.body.type, made.body.memberCount], [201, 'DIRECT', 2]);
  const found = await open('ben', 'ann', 'ben');
  assert.deepEqual([found.status, found.body.id], [200, made.body.id]);
  assert.deepEqual(await membersOf(made.body.id), ['ann', 'ben']);
  const three = await open('ann', 'ben', 'cem');
  assert.deepEqual([three.status, three.body.id === made.body.id], [201, false]);
});

test('[DIR-1] 2 to 8 different people', async () => {
  await assertRefused(open('ann'), 400, 'SVC_VALIDATION_FAILED');
  await assertRefused(open('ann', 'ann'), 400, 'SVC_VALIDATION_FAILED');
  await assertRefused(open(...Array.from({ length: 9 }, (_, at) => `p${at}`)), 400, 'SVC_VALIDATION_FAILED');
  assert.equal((await open(...Array.from({ length: 8 }, (_, at) => `p${at}`))).status, 201);
});

test('[DIR-3] a chat token opens those its user is in, with chat:edit, and within its list', async () => {
  const body = { userIds: ['dia', 'eli'] };
  const dia = await chat.user('dia');
  const made = await dia.api.request('openDirectConversation', { body });
  assert.deepEqual([made.status, made.body.myRole], [201, 'MEMBER']);
  const other = await chat.user('fay');
  await assertRefused(other.api.call('openDirectConversation', { body }), 403, 'SVC_FORBIDDEN');
  const reader = await chat.user('dia', { scopes: ['chat:read', 'chat:send'] });
  await assertRefused(reader.api.call('openDirectConversation', { body }), 403, 'SVC_SCOPE_MISSING');
  const narrow = await chat.user('dia', { conversations: [made.body.id] });
  assert.equal((await narrow.api.call('openDirectConversation', { body })).id, made.body.id);
  const unlisted = { userIds: ['dia', 'gus'] };
  await assertRefused(narrow.api.call('openDirectConversation', { body: unlisted }), 403, 'SVC_FORBIDDEN');
  await open('dia', 'gus');
  await assertRefused(narrow.api.call('openDirectConversation', { body: unlisted }), 403, 'SVC_FORBIDDEN');
});

test('[DIR-4] who left is back when it is opened again, with the read position they had', async () => {
  const { api } = chat.project;
  const room = (await open('hal', 'ida')).body.id;
  const [hal, ida] = [await chat.user('hal'), await chat.user('ida')];
  await hal.api.call('sendMessage', { room, body: { text: 'one' } });
  await ida.api.call('removeConversationMember', { room, userId: 'ida' });
  assert.deepEqual(await membersOf(room), ['hal']);
  const again = await hal.api.request('openDirectConversation', { body: { userIds: ['hal', 'ida'] } });
  assert.deepEqual([again.status, again.body.id, again.body.memberCount], [200, room, 2]);
  assert.equal((await ida.api.call('getConversation', { room })).unreadCount, 1);
  const { changes } = await api.call('listChanges', { room });
  assert.deepEqual(
    changes.map(({ type }) => type),
    ['message', 'member.removed', 'member.added'],
  );
});

test('[DIR-5] an API key brings an archived one back, a token gets it as it is; an erased one is made anew', async () => {
  const { api } = chat.project;
  const room = (await open('jan', 'kim')).body.id;
  await api.call('updateConversation', { room, body: { status: 'ARCHIVED' } });
  const jan = await chat.user('jan');
  const body = { userIds: ['jan', 'kim'] };
  assert.equal((await jan.api.call('openDirectConversation', { body })).status, 'ARCHIVED');
  const back = await open('jan', 'kim');
  assert.deepEqual([back.status, back.body.id, back.body.status], [200, room, 'ACTIVE']);
  await api.call('deleteConversation', { room });
  const anew = await open('jan', 'kim');
  assert.deepEqual([anew.status, anew.body.id === room], [201, false]);
});

test('[DIR-6] nobody else can be added; who left can', async () => {
  const { api } = chat.project;
  const room = (await open('lea', 'max')).body.id;
  const add = (userId: string) => api.request('addConversationMember', { room, body: { userId } });
  await assertRefused(add('nia'), 409, 'SVC_DIRECT_MEMBERS_FIXED');
  await api.call('removeConversationMember', { room, userId: 'max' });
  assert.equal((await add('max')).status, 201);
  // One of type DIRECT that was created by name is as before.
  const plain = await api.call('createConversation', {
    body: { name: 'plain', type: 'DIRECT', members: ['lea', 'max'] },
  });
  await api.call('addConversationMember', { room: plain.id, body: { userId: 'nia' } });
  assert.notEqual((await open('lea', 'max')).body.id, plain.id);
});
