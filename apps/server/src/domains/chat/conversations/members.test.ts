import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { assertRefused, type ChatOf, createChatKit } from '../../../../testkit/chat/chat.ts';
import type { TestService } from '../../../../testkit/kit/service.ts';
import { sharedService } from '../../../../testkit/kit/shared-service.ts';

let service: TestService;
let chat: ChatOf;
before(async () => {
  service = await sharedService();
  chat = await createChatKit(service);
});

test('[MEM-1] adding is 201 once and 200 again; removing is soft and adding brings back', async () => {
  const { api } = chat.project;
  const { id: room } = await chat.conversation([]);
  const add = (body: { userId: string; role?: 'GUEST' }) => api.request('addConversationMember', { room, body });
  assert.equal((await add({ userId: 'ann', role: 'GUEST' })).status, 201);
  assert.equal((await add({ userId: 'ann' })).status, 200);
  assert.equal((await api.call('getConversation', { room })).memberCount, 1);
  const removed = await api.call('removeConversationMember', { room, userId: 'ann' });
  assert.deepEqual([removed.active, typeof removed.removedAt], [false, 'string']);
  assert.deepEqual(await api.call('listConversationMembers', { room }), []);
  await assertRefused(api.call('removeConversationMember', { room, userId: 'ann' }), 404, 'SVC_MEMBER_NOT_FOUND');
  const back = await add({ userId: 'ann' });
  assert.deepEqual([back.status, back.body.active, back.body.role, back.body.removedAt], [201, true, 'GUEST', null]);
  assert.equal((await api.call('getConversation', { room })).memberCount, 1);
});

test('[MEM-2] twenty callers add the same user: one member, one change', async () => {
  const { api } = chat.project;
  const { id: room } = await chat.conversation([]);
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => api.request('addConversationMember', { room, body: { userId: 'eve' } })),
  );
  assert.equal(answers.filter(({ status }) => status === 201).length, 1);
  assert.equal((await api.call('getConversation', { room })).memberCount, 1);
  assert.equal((await api.call('listChanges', { room })).changes.length, 1);
});

test('[MEM-3] what a removed member wrote keeps its author, and they can do nothing more', async () => {
  const { api } = chat.project;
  const { id: room } = await chat.conversation(['ann', 'ben']);
  const ann = await chat.user('ann');
  const { id: messageId } = await ann.api.call('sendMessage', { room, body: { text: 'mine', clientMessageId: 'k' } });
  await api.call('removeConversationMember', { room, userId: 'ann' });
  assert.equal((await api.call('getMessage', { messageId })).senderId, 'ann');
  const denied = [
    () => ann.api.call('getConversation', { room }),
    () => ann.api.call('listMessages', { room }),
    () => ann.api.call('listChanges', { room }),
    () => ann.api.call('sendMessage', { room, body: { text: 'more' } }),
    // Not even their own message, by the key that made it.
    () => ann.api.call('sendMessage', { room, body: { text: 'mine', clientMessageId: 'k' } }),
    () => ann.api.call('getMessage', { messageId }),
    () => ann.api.call('editMessage', { messageId, body: { text: 'x' } }),
    () => ann.api.call('addReaction', { messageId, body: { emoji: '👍' } }),
    () => ann.api.call('markRead', { messageId }),
  ];
  for (const call of denied) await assertRefused(call(), 403, 'SVC_NOT_A_MEMBER');
});

test('[MEM-4] roles rule those below them; anybody may leave', async () => {
  const everybody = ['OWNER', 'ADMIN', 'MODERATOR', 'MEMBER', 'GUEST'] as const;
  const { id: room } = await chat.conversation([
    ...everybody.map((role) => ({ userId: role.toLowerCase(), role })),
    { userId: 'admin2', role: 'ADMIN' },
  ]);
  const as = async (userId: string) => (await chat.user(userId)).api;
  const [admin, moderator, member, owner, guest] = [
    await as('admin'),
    await as('moderator'),
    await as('member'),
    await as('owner'),
    await as('guest'),
  ];
  const remove = (api: typeof admin, userId: string) => api.call('removeConversationMember', { room, userId });
  const setRole = (api: typeof admin, userId: string, role: (typeof everybody)[number]) =>
    api.call('changeConversationMember', { room, userId, body: { role } });

  await assertRefused(remove(member, 'guest'), 403, 'SVC_FORBIDDEN');
  await assertRefused(remove(moderator, 'admin'), 403, 'SVC_FORBIDDEN');
  await assertRefused(remove(admin, 'admin2'), 403, 'SVC_FORBIDDEN');
  await assertRefused(moderator.call('addConversationMember', { room, body: { userId: 'new' } }), 403, 'SVC_FORBIDDEN');
  await assertRefused(
    admin.call('addConversationMember', { room, body: { userId: 'new', role: 'OWNER' } }),
    403,
    'SVC_FORBIDDEN',
  );
  await assertRefused(setRole(admin, 'member', 'ADMIN'), 403, 'SVC_FORBIDDEN');
  await assertRefused(setRole(admin, 'admin', 'OWNER'), 403, 'SVC_FORBIDDEN');
  assert.equal((await setRole(admin, 'member', 'MODERATOR')).role, 'MODERATOR');
  assert.equal((await setRole(owner, 'admin2', 'MEMBER')).role, 'MEMBER');
  await admin.call('addConversationMember', { room, body: { userId: 'new' } });
  await remove(moderator, 'new');
  assert.equal((await remove(guest, 'guest')).active, false);
});

test('[MEM-5] members are listed newest first in pages', async () => {
  const { id: room } = await chat.conversation(Array.from({ length: 7 }, (_, at) => `u${at}`));
  const seen: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const query = { limit: 3, ...(cursor === undefined ? {} : { cursor }) };
    const reply = await chat.project.api.request('listConversationMembers', { room, query });
    assert.ok(reply.body.length <= 3);
    seen.push(...reply.body.map(({ userId }) => userId));
    cursor = reply.headers.get('x-next-cursor');
  }
  assert.deepEqual(
    [...seen].sort(),
    Array.from({ length: 7 }, (_, at) => `u${at}`),
  );
});
