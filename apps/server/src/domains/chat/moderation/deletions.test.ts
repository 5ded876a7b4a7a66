import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertRefused, type ChatOf, createChatKit, subscribe } from '../../../../testkit/chat/chat.ts';
import { createFakeClock } from '../../../../testkit/kit/fake-clock.ts';
import { startService, type TestService } from '../../../../testkit/kit/service.ts';
import { sql } from '../../../core/sql.ts';

const clock = createFakeClock();
let service: TestService;
let chat: ChatOf;
before(async () => {
  service = await startService({ clock });
  chat = await createChatKit(service);
});
after(() => service.stop());

/** A turn that ends after so many looks: what a process does before it is killed. */
const turnOf = (looks: number) => ({ isOver: () => looks-- <= 0 });

test('[MOD-15] all messages of a user are deleted, as by hand, and no others; it goes on where it was broken off', async () => {
  const { api } = chat.project;
  const rooms = [await chat.conversation(['ann', 'eve']), await chat.conversation(['ann'])].map(({ id }) => id);
  const [first = '', other = ''] = rooms;
  const send = (room: string, senderId: string, text: string) =>
    api.call('sendMessage', { room, body: { text, senderId } });
  for (let at = 0; at < 60; at++) await send(first, 'eve', `${at}`);
  await send(other, 'eve', 'not a member, and yet the author');
  await send(first, 'ann', 'mine');
  const socket = await (await chat.user('ann')).connect();
  await subscribe(socket, first);

  const begun = await api.request('deleteUserMessages', { userId: 'eve' });
  assert.deepEqual([begun.status, begun.body.status, begun.body.deleted], [202, 'RUNNING', 0]);
  const deletionId = begun.body.id;
  clock.jump(10);
  await send(first, 'eve', 'later');
  const { deletions } = service.service.chat.sweep;
  await deletions(turnOf(1));
  const between = await api.call('getChatDeletion', { deletionId });
  assert.equal(between.status, 'RUNNING');
  assert.ok(between.deleted < 61, `${between.deleted}`);
  await Promise.all([deletions(), deletions()]);
  const done = await api.call('getChatDeletion', { deletionId });
  assert.deepEqual([done.status, done.deleted], ['DONE', 61]);
  const left = await api.call('listMessages', { room: first, query: { limit: 100 } });
  assert.deepEqual(left.messages.map(({ text }) => text).sort(), ['later', 'mine']);
  assert.equal((await api.call('listMessages', { room: other })).messages.length, 0);
  assert.equal((await api.call('getConversation', { room: first })).messageCount, 2);
  for (let at = 0; at < 60; at++) await socket.take('message.deleted');
  const events = await service.adapters.db.query(sql`
    select from events where type = 'user.messages_deleted' and data::json->'deletion'->>'id' = ${deletionId}`);
  assert.equal(events.length, 1);
  await socket.close();
});

test('[MOD-15] in one conversation only that one is looked at; unknown ones and names are refused', async () => {
  const { api } = chat.project;
  const rooms = [await chat.conversation(['gus']), await chat.conversation(['gus'])].map(({ id }) => id);
  const [first = '', other = ''] = rooms;
  for (const room of rooms) await api.call('sendMessage', { room, body: { text: 'x', senderId: 'gus' } });
  const { id: deletionId } = await api.call('deleteUserMessages', { userId: 'gus', body: { conversation: first } });
  await service.service.chat.sweep.deletions();
  const done = await api.call('getChatDeletion', { deletionId });
  assert.deepEqual([done.status, done.deleted, done.conversationId], ['DONE', 1, first]);
  assert.equal((await api.call('listMessages', { room: other })).messages.length, 1);
  await assertRefused(
    api.call('deleteUserMessages', { userId: 'gus', body: { conversation: 'conv_none' } }),
    404,
    'SVC_CONVERSATION_NOT_FOUND',
  );
  await assertRefused(api.call('deleteUserMessages', { userId: 'a b' }), 400, 'SVC_VALIDATION_FAILED');
  await assertRefused(api.call('getChatDeletion', { deletionId: 'cdl_none' }), 404, 'SVC_DELETION_NOT_FOUND');
});

test('[MOD-1] a ban holds against those who open a direct conversation again', async () => {
  const { api } = chat.project;
  const { id: room } = await api.call('openDirectConversation', { body: { userIds: ['lea', 'max'] } });
  await api.call('banFromConversation', { room, userId: 'max', body: { reason: 'between us' } });
  const max = await chat.user('max');
  await assertRefused(
    max.api.call('openDirectConversation', { body: { userIds: ['lea', 'max'] } }),
    403,
    'SVC_CHAT_BANNED',
  );
  // The other is not banned, and not told why this one is.
  const lea = await chat.user('lea');
  const opened = await lea.api.call('openDirectConversation', { body: { userIds: ['lea', 'max'] } });
  assert.deepEqual([opened.id, opened.memberCount], [room, 1]);
});
