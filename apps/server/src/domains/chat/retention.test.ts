import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ChatOf, createChatKit } from '../../../testkit/chat.ts';
import { startService, type TestService } from '../../../testkit/service.ts';
import { sql } from '../../core/sql.ts';

let service: TestService;
let chat: ChatOf;
before(async () => {
  service = await startService();
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
