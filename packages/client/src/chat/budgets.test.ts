import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ChatOf, createChatKit } from '../../../../apps/server/testkit/chat/chat.ts';
import { eventually } from '../../../../apps/server/testkit/kit/eventually.ts';
import { startService, type TestService } from '../../../../apps/server/testkit/kit/service.ts';
import { Chat } from './index.ts';

/** Two of each in a second: the client comes to the end of every budget, and past it. */
const env = {
  RATE_LIMIT_WINDOW_SECONDS: '1',
  CHAT_EDIT_RATE_LIMIT: '2',
  CHAT_DELETE_RATE_LIMIT: '2',
  CHAT_READ_RATE_LIMIT: '2',
  CHAT_PRESENCE_RATE_LIMIT: '2',
  CHAT_HISTORY_RATE_LIMIT: '2',
};
let service: TestService;
let kit: ChatOf;
before(async () => {
  service = await startService({ env });
  kit = await createChatKit(service);
});
after(() => service.stop());

test('[SDK-47] what a budget refuses waits as long as the server says: nothing fails and the last word counts', async () => {
  const { id: room } = await kit.conversation(['alice', 'bob']);
  const chat = new Chat({ url: service.url, token: async () => (await kit.user('alice')).token });
  await chat.connect();
  const errors: string[] = [];
  const conversation = await chat.join(room);
  chat.on('error', ({ code }) => errors.push(code));
  conversation.on('error', ({ code }) => errors.push(code));

  const { api } = kit.project;
  const messages: string[] = [];
  for (let at = 0; at < 6; at++)
    messages.push((await api.call('sendMessage', { room, body: { text: 'x', senderId: 'alice' } })).id);
  const [first = '', ...others] = messages;
  await eventually(() => assert.equal(conversation.messages.getSnapshot().length, 6));

  await Promise.all([
    ...Array.from({ length: 5 }, (_, at) => conversation.edit(first, `edit ${at}`)),
    ...others.map((messageId) => conversation.markRead(messageId)),
    // The last call is not the furthest mark.
    conversation.markRead(first),
  ]);
  for (let at = 0; at < 9; at++) chat.setPresence(at % 2 ? 'ONLINE' : 'AWAY');

  assert.equal((await api.call('getMessage', { messageId: first })).text, 'edit 4');
  const { lastReadMessageId } = await api.call('getReadState', { room, query: { userId: 'alice' } });
  assert.equal(lastReadMessageId, others.at(-1));
  await eventually(async () => {
    const [alice] = await api.call('listPresence', { room, query: {} });
    assert.equal(alice?.status, 'AWAY');
  });
  assert.deepEqual(errors, []);
  await chat.disconnect();
});
