import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ChatOf, createChatKit, subscribe } from '../../../../testkit/chat/chat.ts';
import { openSocket, type SocketClient } from '../../../../testkit/clients/socket-client.ts';
import { eventually } from '../../../../testkit/kit/eventually.ts';
import { startService, type TestService } from '../../../../testkit/kit/service.ts';
import type { Adapters } from '../../../core/ports.ts';
import { type Sql, sql } from '../../../core/sql.ts';

/** How many files each statement marked as expired, and how many inbox entries one found. */
const marked: number[] = [];
const found: number[] = [];
const counted = (adapters: Adapters): Adapters => {
  const { db } = adapters;
  async function noted<T>({ text }: Sql, touched: Promise<T>, count: (result: T) => number): Promise<T> {
    const result = await touched;
    if (/^\s*update attachments (a )?set status = 'EXPIRED'/.test(text)) marked.push(count(result));
    if (/^\s*select .* from dormant_entries/s.test(text)) found.push(count(result));
    return result;
  }
  const execute = (statement: Sql) => noted(statement, db.execute(statement), (rows) => rows);
  const query = <T extends object>(statement: Sql) => noted(statement, db.query<T>(statement), (rows) => rows.length);
  return { ...adapters, db: { ...db, execute, query } };
};

const env = { CHAT_SUBSCRIBE_RATE_LIMIT: '100000' };
let service: TestService;
let chat: ChatOf;
before(async () => {
  service = await startService({ env, wrap: counted });
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

test('[RET-3] a backlog of any size goes in one sweep: events, deliveries, messages, a thread longer than a batch', async () => {
  const { db } = service.adapters;
  const { id: projectId, api } = chat.project;
  const old = sql`now() - interval '40 days'`;
  await db.execute(sql`
    insert into events (id, project_id, environment, type, data, created_at, dispatched_at)
    select 'evt_0' || g, ${projectId}, 'development', 'message.created', '{}', ${old}, ${old}
    from generate_series(1, 5500) g`);
  await db.execute(sql`
    insert into deliveries (webhook_id, id, project_id, event_id, event_type, status, due_at, created_at)
    select 'wh_old' || g % 3, 'dlv_0' || g, ${projectId}, 'evt_0' || g, 'message.created', 'DELIVERED', ${old}, ${old}
    from generate_series(1, 2500) g`);
  await service.service.webhooks.sweep();
  const [left] = await db.query(sql`
    select (select count(*) from events where id like 'evt_0%' and created_at < now() - interval '39 days') as events,
           (select count(*) from deliveries where webhook_id like 'wh_old%') as deliveries`);
  assert.deepEqual(left, { events: 0, deliveries: 0 });

  const { id: room, uuid } = await chat.conversation();
  await api.call('updateConversation', { room, body: { retentionDays: 7 } });
  const root = (await api.call('sendMessage', { room, body: { text: 'root' } })).id;
  await db.execute(sql`
    insert into messages (conversation_id, position, seq, change, id, type, text, thread_root_id, metadata, created_at)
    select ${uuid}, 10 + g, 1 + g, 10 + g, 'msg_0' || g, 'text', 'x', case when g <= 1200 then ${root} end, '{}', now()
    from generate_series(1, 2000) g`);
  await db.execute(sql`
    update messages set created_at = ${old} where conversation_id = ${uuid} and (id = ${root} or seq > 1201)`);
  assert.equal(await service.service.chat.sweep.retention(), 2001);
});

test('[RET-4] an erased conversation with more files than a batch goes in batches, and its row with the last of them', async () => {
  const { db } = service.adapters;
  const { api } = chat.project;
  const { id: room, uuid } = await chat.conversation();
  await db.execute(sql`
    insert into attachments (id, conversation_id, filename, mime_type, size, status, blob_key, created_at)
    select 'att_old' || g, ${uuid}, 'a.txt', 'text/plain', 0, 'ATTACHED', 'chat/att_old' || g || '/0', now()
    from generate_series(1, 1200) g`);
  await db.execute(sql`
    insert into dormant_entries (project_id, environment, user_id, at, conversation_id, unread, mentions, settled_at)
    select ${chat.project.id}, 'DEVELOPMENT', 'user-' || g, now(), ${uuid}, 0, 0, now() from generate_series(1, 600) g`);
  await api.call('deleteConversation', { room });
  const { sweep } = service.service.chat;
  marked.length = 0;
  await sweep.retention();
  assert.deepEqual([Math.max(...marked), sum(marked)], [500, 1_200]);
  assert.deepEqual([Math.max(...found), sum(found)], [500, 600]);
  marked.length = 0;
  await sweep.attachments();
  assert.deepEqual([Math.max(...marked), sum(marked)], [25, 1_200]);
  await sweep.retention();
  const left = await db.query(sql`
    select id from conversations where id = ${uuid} union all select conversation_id from attachments where conversation_id = ${uuid}`);
  assert.deepEqual(left, []);
});

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);
