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

const message = async (): Promise<string> => {
  const { id: room } = await chat.conversation();
  return (await chat.project.api.call('sendMessage', { room, body: { text: 'x', senderId: 'alice' } })).id;
};

test('[REACT-1] a reaction is 201 once and 200 again, and one spelling of an emoji counts', async () => {
  const messageId = await message();
  const alice = await chat.user('alice');
  const react = (emoji: string) => alice.api.request('addReaction', { messageId, body: { emoji } });
  assert.equal((await react('❤️')).status, 201);
  assert.equal((await react('❤\ufe0e')).status, 200);
  const again = await react('❤');
  assert.deepEqual([again.status, again.body], [200, [{ emoji: '❤', count: 1, userIds: ['alice'], reacted: true }]]);
  assert.equal((await react('thumbsup')).status, 201);
  const bob = await chat.user('bob');
  const seen = await bob.api.call('getMessage', { messageId });
  assert.deepEqual(seen.reactions, [
    { emoji: '❤', count: 1, userIds: ['alice'], reacted: false },
    { emoji: 'thumbsup', count: 1, userIds: ['alice'], reacted: false },
  ]);
  assert.equal((await alice.api.request('removeReaction', { messageId, emoji: '❤️' })).status, 204);
  await assertRefused(alice.api.call('removeReaction', { messageId, emoji: '❤' }), 404, 'SVC_REACTION_NOT_FOUND');
  assert.equal((await bob.api.call('getMessage', { messageId })).reactions.length, 1);
});

test('[REACT-2] what is no emoji is refused', async () => {
  const messageId = await message();
  const alice = await chat.user('alice');
  for (const emoji of ['two words', '<b>', 'é', '\u202e', '👍 x', '\ufe0e', ':', '::']) {
    await assertRefused(alice.api.call('addReaction', { messageId, body: { emoji } }), 400, 'SVC_INVALID_EMOJI');
  }
  for (const emoji of ['', 'x'.repeat(65)]) {
    await assertRefused(alice.api.call('addReaction', { messageId, body: { emoji } }), 400, 'SVC_VALIDATION_FAILED');
  }
  for (const emoji of ['👨‍👩‍👧‍👦', '🇩🇪', '1️⃣', ':tada:', 'x'.repeat(64), `:${'x'.repeat(62)}:`])
    await alice.api.call('addReaction', { messageId, body: { emoji } });
});

test('[REACT-3] an API key names the user', async () => {
  const messageId = await message();
  const { api } = chat.project;
  await assertRefused(api.call('addReaction', { messageId, body: { emoji: '👍' } }), 400, 'SVC_USER_REQUIRED');
  await assertRefused(api.call('removeReaction', { messageId, emoji: '👍' }), 400, 'SVC_USER_REQUIRED');
  const summary = await api.call('addReaction', { messageId, body: { emoji: '👍', userId: 'bob' } });
  assert.deepEqual(summary, [{ emoji: '👍', count: 1, userIds: ['bob'] }]);
  await api.call('addReaction', { messageId, query: { userId: 'alice' }, body: { emoji: '👍' } });
  const both = { messageId, query: { userId: 'alice' }, body: { emoji: '👍', userId: 'carol' } };
  assert.deepEqual((await api.call('addReaction', both))[0]?.userIds, ['bob', 'alice', 'carol']);
});

test('[REQ-7] a reaction with an Idempotency-Key is replayed, taken back or not; for another user it is another input', async () => {
  const messageId = await message();
  const react = (userId: string) =>
    chat.project.api.request(
      'addReaction',
      { messageId, query: { userId }, body: { emoji: '👍' } },
      { idempotencyKey: 'r' },
    );
  const first = await react('bob');
  assert.deepEqual([first.status, first.headers.get('idempotent-replayed')], [201, null]);
  await chat.project.api.call('removeReaction', { messageId, emoji: '👍', query: { userId: 'bob' } });
  const again = await react('bob');
  assert.deepEqual([again.status, again.headers.get('idempotent-replayed'), again.body], [201, 'true', first.body]);
  assert.deepEqual((await chat.project.api.call('getMessage', { messageId })).reactions, []);
  await assertRefused(react('alice'), 422, 'SVC_IDEMPOTENCY_MISMATCH');
});

test('[REACT-4] 240 users at once against a cap of 200: exactly 200 are stored', async () => {
  const messageId = await message();
  const { api } = chat.project;
  const tries = await Promise.allSettled(
    Array.from({ length: 240 }, (_, at) =>
      api.call('addReaction', { messageId, body: { emoji: at % 2 ? '👍' : '🎉', userId: `u${at}` } }),
    ),
  );
  assert.equal(tries.filter(({ status }) => status === 'fulfilled').length, 200);
  for (const one of tries) if (one.status === 'rejected') assert.equal(one.reason.code, 'SVC_REACTION_LIMIT');
  const { reactions, change } = await api.call('getMessage', { messageId });
  assert.equal(
    reactions.reduce((sum, { count }) => sum + count, 0),
    200,
  );
  assert.ok(reactions.every(({ userIds }) => userIds.length === 10));
  assert.equal(change, 201);
});

test('[REACT-5] what is given and taken back spends one budget', async () => {
  const messageId = await message();
  const { api } = await chat.user('alice');
  const limit = service.config.limits.CHAT_REACT_RATE_LIMIT;
  const toggles = Array.from({ length: limit }, (_, at) => api.call('removeReaction', { messageId, emoji: `e${at}` }));
  for (const one of await Promise.allSettled(toggles)) assert.equal(one.status, 'rejected');
  await assertRefused(api.call('removeReaction', { messageId, emoji: '👍' }), 429, 'SVC_RATE_LIMITED');
  await assertRefused(api.call('addReaction', { messageId, body: { emoji: '👍' } }), 429, 'SVC_RATE_LIMITED');
  await chat.project.api.call('addReaction', { messageId, body: { emoji: '👍', userId: 'alice' } });
});
