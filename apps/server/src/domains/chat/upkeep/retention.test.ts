import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ChatOf, createChatKit, subscribe } from '../../../../testkit/chat/chat.ts';
import { openSocket, type SocketClient } from '../../../../testkit/clients/socket-client.ts';
import { eventually } from '../../../../testkit/kit/eventually.ts';
import { startService, type TestService } from '../../../../testkit/kit/service.ts';
import { sql } from '../../../core/sql.ts';

const env = { CHAT_SUBSCRIBE_RATE_LIMIT: '100000' };
let service: TestService;
let chat: ChatOf;
before(async () => {
  service = await startService({ env });
  chat = await createChatKit(service);
});
after(() => service.stop());

test('[RET-1] messages past their retention go for good, threads with them; unread and history stay exact', async () => {
  const { api } = chat.project;
  const { id: room, uuid } = await chat.conversation();
  await api.call('updateConversation', { room, body: { retentionDays: 7 } });
  const send = async (text: string, replyTo?: string) =>
    (await api.call('sendMessage', { room, body: { text, senderId: 'bob', ...(replyTo ? { replyTo } : {}) } })).id;
  const [root, old] = [await send('root'), await send('old')];
  const kept = await send('kept');
  const reply = await send('late reply to the old root', root);
  const last = await send('last');
  await api.call('addReaction', { messageId: old, body: { emoji: '👍', userId: 'bob' } });
  await service.adapters.db.execute(sql`
    update messages set created_at = created_at - interval '8 days' where id = any(${[root, old]})`);
  assert.equal(await service.service.chat.sweep.retention(), 3);
  const { messages } = await api.call('listMessages', { room, query: { includeDeleted: true } });
  assert.deepEqual(
    messages.map(({ id }) => id),
    [last, kept],
  );
  const state = await api.call('getReadState', { room, query: { userId: 'alice' } });
  assert.deepEqual([state.unreadCount, state.firstUnreadMessageId], [2, kept]);
  assert.equal((await api.call('getConversation', { room })).messageCount, 2);
  const events = await service.adapters.db.query(sql`
    select id from events where topic = ${`chat/${room}`} and type = 'message.deleted'`);
  assert.deepEqual(events, []);
  const { changes, complete } = await api.call('listChanges', { room });
  assert.ok(complete && !JSON.stringify(changes).includes(reply));
  const next = await api.call('sendMessage', { room, body: { text: 'next' } });
  assert.equal(next.seq, 6);
  assert.equal(uuid.length, 36);
});

test('[RET-2] a client that subscribes again after retention gets the current unread count, on every process', async () => {
  const { api } = chat.project;
  const { id: room } = await chat.conversation();
  await api.call('updateConversation', { room, body: { retentionDays: 7 } });
  const { token } = await chat.user('alice');
  const beside = await startService({ beside: service, env });
  const clients: SocketClient[] = [];
  for (const { url } of [service, beside]) clients.push(await openSocket(`${url}/v1/chat/ws?token=${token}`));
  for (const client of clients) await subscribe(client, room);
  for (const text of ['old', 'older', 'new']) await api.call('sendMessage', { room, body: { text, senderId: 'bob' } });
  const unread = () => Promise.all(clients.map(async (client) => (await subscribe(client, room))['unreadCount']));
  await eventually(async () => assert.deepEqual(await unread(), [3, 3]));
  await service.adapters.db.execute(sql`
    update messages set created_at = created_at - interval '8 days' where text like 'old%'`);
  assert.equal(await service.service.chat.sweep.retention(), 2);
  await eventually(async () => assert.deepEqual(await unread(), [1, 1]));
  for (const client of clients) await client.close();
  await beside.stop();
});
