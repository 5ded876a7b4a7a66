import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertRefused, type ChatOf, createChatKit, refusal } from '../../../../testkit/chat/chat.ts';
import { startService, type TestService } from '../../../../testkit/kit/service.ts';
import { sql } from '../../../core/sql.ts';

let service: TestService;
let chat: ChatOf;
before(async () => {
  service = await startService({ env: { CHAT_SEND_RATE_LIMIT: '1000' } });
  chat = await createChatKit(service);
});
after(() => service.stop());

test('[MSG-1] a token sends as its own user whatever the body says; an API key as whom it names, or as the server', async () => {
  const { id: room } = await chat.conversation(['alice', { userId: 'mo', role: 'MODERATOR' }]);
  const mo = await chat.user('mo');
  const sent = await mo.api.call('sendMessage', { room, body: { text: 'hi', senderId: 'alice' } });
  assert.deepEqual([sent.senderId, sent.senderRole, sent.seq, sent.change], ['mo', 'MODERATOR', 1, 1]);
  const nobody = { text: 'hi', senderId: 'no identity' };
  assert.equal((await mo.api.call('sendMessage', { room, body: nobody })).senderId, 'mo');
  const refused = await refusal(chat.project.api.call('sendMessage', { room, body: nobody }));
  const [detail] = refused.body['details'] as { field: string; rule: string }[];
  assert.deepEqual([refused.code, detail?.field, detail?.rule], ['SVC_VALIDATION_FAILED', 'senderId', 'pattern']);
  const named = await chat.project.api.call('sendMessage', { room, body: { text: 'hi', senderId: 'alice' } });
  assert.deepEqual([named.senderId, named.senderRole], ['alice', 'MEMBER']);
  const server = await chat.project.api.call('sendMessage', { room, body: { text: 'hi' } });
  assert.deepEqual([server.senderId, server.senderRole, server.seq], [null, null, 4]);
  const unnamed = await chat.project.api.call('sendMessage', { room, body: { text: 'hi', senderId: '' } });
  assert.equal(unnamed.senderId, null);
});

test('[MSG-2] the server stamps createdAt; clientSentAt is kept for latency only', async () => {
  const { id: room } = await chat.conversation();
  const before = Date.now();
  const sent = await chat.project.api.call('sendMessage', { room, body: { text: 'x', clientSentAt: 12.5 } });
  assert.equal(sent.clientSentAt, 12.5);
  assert.ok(Date.parse(sent.createdAt) >= before - 1000 && sent.createdAt.endsWith('Z'));
  for (const clientSentAt of [-1, '1', 9e15]) {
    const body = { text: 'x', clientSentAt: clientSentAt as number };
    await assertRefused(chat.project.api.call('sendMessage', { room, body }), 400, 'SVC_VALIDATION_FAILED');
  }
});

test('[MSG-3] text is counted in code points, metadata in bytes; what does not fit stores nothing', async () => {
  const { id: room } = await chat.conversation();
  const send = (body: object) => chat.project.api.call('sendMessage', { room, body });
  assert.equal((await send({ text: '👍'.repeat(4000) })).text?.length, 8000);
  await assertRefused(send({ text: 'x'.repeat(4001) }), 400, 'SVC_TEXT_TOO_LONG');
  await assertRefused(send({ text: 'x', metadata: { x: 'y'.repeat(4096) } }), 400, 'SVC_METADATA_TOO_LARGE');
  const bad = [{}, { text: '' }, { text: 7 }, { text: null }, { metadata: { a: 1 } }, { text: 'x', type: 'TEXT' }];
  for (const body of bad) await assertRefused(send(body), 400, 'SVC_VALIDATION_FAILED');
  await assertRefused(send({ text: 'x', clientMessageId: 'k'.repeat(129) }), 400, 'SVC_VALIDATION_FAILED');
  await assertRefused(send({ type: 'attachment', text: 'x' }), 400, 'SVC_VALIDATION_FAILED');
  const { body } = await refusal(send({ type: 'text', attachmentId: 'att_x' }));
  assert.deepEqual(body['details'], [
    { field: 'text', rule: 'required', message: 'A message of type text needs text.' },
  ]);
  for (const text of ['nul\u0000', '\ud800']) await assertRefused(send({ text }), 400, 'SVC_INVALID_JSON');
  for (const type of ['system', 'event']) {
    await assertRefused(send({ type, metadata: { a: 1 } }), 400, 'SVC_VALIDATION_FAILED');
  }
  assert.equal((await send({ type: 'custom', metadata: { shape: 'circle' } })).text, null);
  assert.equal((await chat.project.api.call('getConversation', { room })).messageCount, 2);
});

test('[MSG-4] only a server sends system and event messages', async () => {
  const { id: room } = await chat.conversation();
  const alice = await chat.user('alice');
  for (const type of ['system', 'event'] as const) {
    await assertRefused(
      alice.api.call('sendMessage', { room, body: { text: 'x', type } }),
      403,
      'SVC_MESSAGE_TYPE_FORBIDDEN',
    );
    assert.equal((await chat.project.api.call('sendMessage', { room, body: { text: 'x', type } })).type, type);
  }
});

test('[MSG-5] fifty retries at once with one clientMessageId: one message, equal answers, no number lost', async () => {
  const { id: room } = await chat.conversation();
  const alice = await chat.user('alice');
  const retry = () => alice.api.request('sendMessage', { room, body: { text: 'once', clientMessageId: 'same' } });
  const answers = await Promise.all(Array.from({ length: 50 }, retry));
  assert.equal(answers.filter(({ status }) => status === 201).length, 1);
  assert.equal(answers.filter(({ status }) => status === 200).length, 49);
  assert.equal(new Set(answers.map(({ body }) => JSON.stringify(body))).size, 1);
  const next = await alice.api.call('sendMessage', { room, body: { text: 'next' } });
  assert.deepEqual([next.seq, next.change], [2, 2]);
});

test('[MSG-5] the key belongs to conversation and sender: nobody is handed the message of another', async () => {
  const [one, two] = [await chat.conversation(), await chat.conversation()];
  const [alice, bob] = [await chat.user('alice'), await chat.user('bob')];
  const send = (api: typeof alice.api, room: string) =>
    api.call('sendMessage', { room, body: { text: 'x', clientMessageId: 'k' } });
  const sent = [await send(alice.api, one.id), await send(bob.api, one.id), await send(alice.api, two.id)];
  assert.equal(new Set(sent.map(({ id }) => id)).size, 3);
  const repeated = await send(bob.api, one.id);
  assert.deepEqual([repeated.id, repeated.senderId], [sent[1]?.id, 'bob']);
});

test('[MSG-6] replies join the thread of their root, however deep; the thread is read from any of its messages', async () => {
  const { id: room } = await chat.conversation();
  const send = (text: string, replyTo?: string) =>
    chat.project.api.call('sendMessage', { room, body: { text, senderId: 'alice', ...(replyTo ? { replyTo } : {}) } });
  const root = await send('root');
  const reply = await send('reply', root.id);
  const nested = await send('nested', reply.id);
  assert.deepEqual([reply.threadRootId, nested.threadRootId, nested.replyTo], [root.id, root.id, reply.id]);
  for (const messageId of [root.id, reply.id, nested.id]) {
    const thread = await chat.project.api.call('getThread', { messageId });
    assert.deepEqual(
      thread.map(({ id }) => id),
      [root.id, reply.id, nested.id],
    );
  }
  const read = await chat.project.api.call('getMessage', { messageId: root.id });
  assert.deepEqual([read.replyCount, read.lastReplyAt], [2, nested.createdAt]);
  const page = await chat.project.api.request('getThread', { messageId: root.id, query: { limit: 2 } });
  const cursor = page.headers.get('x-next-cursor') ?? '';
  const rest = await chat.project.api.call('getThread', { messageId: root.id, query: { limit: 2, cursor } });
  assert.deepEqual([page.body.length, rest.map(({ id }) => id)], [2, [nested.id]]);
  const answered = async () => {
    const { replyCount, lastReplyAt } = await chat.project.api.call('getMessage', { messageId: root.id });
    return [replyCount, lastReplyAt];
  };
  const remove = (messageId: string) => chat.project.api.call('deleteMessage', { messageId });
  await remove(nested.id);
  await remove(nested.id);
  assert.deepEqual(await answered(), [1, reply.createdAt]);
  await remove(reply.id);
  assert.deepEqual(await answered(), [0, null]);
});

test('[MSG-7] a reply to a message of another conversation, a deleted or a missing one is refused', async () => {
  const [here, there] = [await chat.conversation(), await chat.conversation()];
  const { api } = chat.project;
  const elsewhere = await api.call('sendMessage', { room: there.id, body: { text: 'x' } });
  const gone = await api.call('sendMessage', { room: here.id, body: { text: 'x' } });
  await api.call('deleteMessage', { messageId: gone.id });
  for (const replyTo of [elsewhere.id, gone.id, 'msg_none', "x' or 1=1"]) {
    await assertRefused(
      api.call('sendMessage', { room: here.id, body: { text: 'x', replyTo } }),
      400,
      'SVC_INVALID_REPLY_TARGET',
    );
  }
});

test('[MSG-8] an edit replaces text or metadata, sets edited and takes a change number', async () => {
  const { id: room } = await chat.conversation();
  const alice = await chat.user('alice');
  const { id: messageId } = await alice.api.call('sendMessage', { room, body: { text: 'one', metadata: { a: 1 } } });
  const edited = await alice.api.call('editMessage', { messageId, body: { text: 'two' } });
  assert.deepEqual(
    [edited.text, edited.metadata, edited.edited, edited.seq, edited.change, edited.updatedAt],
    ['two', { a: 1 }, true, 1, 2, edited.editedAt],
  );
  const cleared = await alice.api.call('editMessage', { messageId, body: { metadata: null } });
  assert.deepEqual([cleared.text, cleared.metadata, cleared.change], ['two', {}, 3]);
  for (const body of [{}, { text: '' }]) {
    await assertRefused(alice.api.call('editMessage', { messageId, body }), 400, 'SVC_VALIDATION_FAILED');
  }
  const bob = await chat.user('bob');
  await assertRefused(bob.api.call('editMessage', { messageId, body: { text: 'mine' } }), 403, 'SVC_FORBIDDEN');
  assert.equal((await chat.project.api.call('editMessage', { messageId, body: { text: 'server' } })).text, 'server');
});

test('[MSG-9] a deleted message is a tombstone: no text, no reactions, not read by id; delete wins over edit', async () => {
  const { id: room } = await chat.conversation();
  const alice = await chat.user('alice');
  const { id: messageId } = await alice.api.call('sendMessage', {
    room,
    body: { text: 'secret', metadata: { m: 'secret' }, clientMessageId: 'k' },
  });
  await alice.api.call('addReaction', { messageId, body: { emoji: '👍' } });
  const tombstone = await alice.api.call('deleteMessage', { messageId });
  assert.deepEqual(
    [tombstone.deleted, tombstone.text, tombstone.metadata, tombstone.reactions, tombstone.deletedBy, tombstone.change],
    [true, null, {}, [], 'alice', 3],
  );
  assert.deepEqual(await alice.api.call('deleteMessage', { messageId }), tombstone);
  await assertRefused(alice.api.call('getMessage', { messageId }), 404, 'SVC_MESSAGE_NOT_FOUND');
  await assertRefused(alice.api.call('editMessage', { messageId, body: { text: 'x' } }), 409, 'SVC_MESSAGE_DELETED');
  await assertRefused(
    alice.api.call('addReaction', { messageId, body: { emoji: '👍' } }),
    404,
    'SVC_MESSAGE_NOT_FOUND',
  );
  assert.deepEqual((await alice.api.call('listMessages', { room })).messages, []);
  const all = await alice.api.call('listMessages', { room, query: { includeDeleted: true } });
  assert.deepEqual(all.messages, [tombstone]);
  const retried = await alice.api.request('sendMessage', { room, body: { text: 'again', clientMessageId: 'k' } });
  assert.deepEqual([retried.status, retried.body], [200, tombstone]);
  const changes = JSON.stringify(await alice.api.call('listChanges', { room }));
  assert.ok(!changes.includes('secret'));
});

test('[MSG-10] members delete their own, moderators any, API keys any even in an archived conversation', async () => {
  const { id: room } = await chat.conversation(['alice', 'bob', { userId: 'mo', role: 'MODERATOR' }]);
  const [alice, bob, mo] = [await chat.user('alice'), await chat.user('bob'), await chat.user('mo')];
  const send = async () => (await alice.api.call('sendMessage', { room, body: { text: 'x' } })).id;
  const [first, second, third] = [await send(), await send(), await send()];
  await assertRefused(bob.api.call('deleteMessage', { messageId: first }), 403, 'SVC_FORBIDDEN');
  await alice.api.call('deleteMessage', { messageId: first });
  assert.equal((await mo.api.call('deleteMessage', { messageId: second })).deletedBy, 'mo');
  await chat.project.api.call('updateConversation', { room, body: { status: 'ARCHIVED' } });
  for (const messageId of [third]) {
    await assertRefused(alice.api.call('deleteMessage', { messageId }), 409, 'SVC_CONVERSATION_ARCHIVED');
    await assertRefused(
      alice.api.call('editMessage', { messageId, body: { text: 'x' } }),
      409,
      'SVC_CONVERSATION_ARCHIVED',
    );
    await assertRefused(
      alice.api.call('addReaction', { messageId, body: { emoji: '👍' } }),
      409,
      'SVC_CONVERSATION_ARCHIVED',
    );
    await alice.api.call('markRead', { messageId });
  }
  const query = { userId: 'the-boss' };
  assert.equal((await chat.project.api.call('deleteMessage', { messageId: third, query })).deletedBy, 'the-boss');
});

test('[MSG-11] guests and strangers send nothing', async () => {
  const { id: room } = await chat.conversation([{ userId: 'guest', role: 'GUEST' }]);
  const [guest, stranger] = [await chat.user('guest'), await chat.user('stranger')];
  await assertRefused(guest.api.call('sendMessage', { room, body: { text: 'x' } }), 403, 'SVC_FORBIDDEN');
  await assertRefused(stranger.api.call('sendMessage', { room, body: { text: 'x' } }), 403, 'SVC_NOT_A_MEMBER');
  assert.equal((await chat.project.api.call('getConversation', { room })).messageCount, 0);
});

test('[MSG-12] a rename moves the name: sends by name follow it at once', async () => {
  const [old, fresh] = [await chat.conversation(), await chat.conversation()];
  const { api } = chat.project;
  const toName = () => api.call('sendMessage', { room: old.name, body: { text: 'x' } });
  assert.equal((await toName()).conversationId, old.id);
  await api.call('updateConversation', { room: old.id, body: { name: 'moved-away' } });
  await assertRefused(toName(), 404, 'SVC_CONVERSATION_NOT_FOUND');
  await api.call('updateConversation', { room: fresh.id, body: { name: old.name } });
  assert.equal((await toName()).conversationId, fresh.id);
  assert.equal((await api.call('listMessages', { room: old.name })).messages[0]?.conversationId, fresh.id);
});

test('[MSG-13] a send is stored with its event: message.created carries the whole record', async () => {
  const { id: room } = await chat.conversation();
  const sent = await chat.project.api.call('sendMessage', { room, body: { text: 'told' } });
  const [event] = await service.adapters.db.query<{ type: string; data: object }>(
    sql`select type, data::json as data from events where topic = ${`chat/${room}`} and type like 'message.%'`,
  );
  assert.deepEqual(event, {
    type: 'message.created',
    data: { conversationId: room, roomId: null, change: 1, message: sent },
  });
});

test('[MSG-17] without an endpoint an event is stored as dispatched; with one it is queued for it', async () => {
  const kit = await createChatKit(service);
  const { id: room } = await kit.conversation();
  const find = (text: string) =>
    service.adapters.db.query<{ isHandedOn: boolean; deliveries: number }>(sql`
      select e.dispatched_at is not null as "isHandedOn",
             (select count(*) from deliveries d where d.event_id = e.id) as deliveries
      from events e where e.topic = ${`chat/${room}`} and e.data::json->'message'->>'text' = ${text}`);
  await kit.project.api.call('sendMessage', { room, body: { text: 'unheard' } });
  assert.deepEqual(await find('unheard'), [{ isHandedOn: true, deliveries: 0 }]);

  const { project } = kit;
  const url = 'https://hooks.example.com/chat';
  await project.owner.api.call('createWebhook', { projectId: project.id, body: { url } });
  await project.api.call('sendMessage', { room, body: { text: 'received' } });
  await service.service.dispatcher.settled();
  assert.deepEqual(await find('received'), [{ isHandedOn: true, deliveries: 1 }]);
  assert.deepEqual(await find('unheard'), [{ isHandedOn: true, deliveries: 0 }]);
});

test('[MSG-5] sender and key are never confused, whatever is in them', async () => {
  const { id: room } = await chat.conversation([]);
  const send = (senderId: string, clientMessageId: string) =>
    chat.project.api.call('sendMessage', { room, body: { text: 'x', senderId, clientMessageId } });
  const ids = [await send('a', '1:b2'), await send('a1:b', '2'), await send('a1:b2', 'x'), await send('a', '1:b2')];
  assert.equal(new Set(ids.map(({ id }) => id)).size, 3);
  assert.equal(ids[0]?.id, ids[3]?.id);
});

test('[MSG-14] 160 sends at once over many conversations: all stored, numbers dense, in the order of each counter', async () => {
  const rooms = await Promise.all(Array.from({ length: 8 }, () => chat.conversation()));
  const sent = await Promise.all(
    Array.from({ length: 160 }, (_, at) =>
      chat.project.api.call('sendMessage', {
        room: rooms[at % rooms.length]?.id ?? '',
        body: { text: `m${at}`, senderId: `u${at % 5}` },
      }),
    ),
  );
  for (const { id } of rooms) {
    const own = sent.filter(({ conversationId }) => conversationId === id);
    assert.deepEqual(
      own.map(({ seq }) => seq).sort((a, b) => a - b),
      Array.from({ length: 20 }, (_, at) => at + 1),
    );
    assert.ok(own.every(({ seq, change }) => seq === change));
  }
});

test('[MSG-8] the editor sees their own reactions marked, over REST and over the socket', async () => {
  const { id: room } = await chat.conversation();
  const alice = await chat.user('alice');
  const { id: messageId } = await alice.api.call('sendMessage', { room, body: { text: 'a' } });
  await alice.api.call('addReaction', { messageId, body: { emoji: '👍' } });
  const reactions = [{ emoji: '👍', count: 1, userIds: ['alice'], reacted: true }];
  const edited = await alice.api.call('editMessage', { messageId, body: { text: 'b' } });
  assert.deepEqual([edited.text, edited.reactions], ['b', reactions]);
  const client = await alice.connect();
  const ack = await client.ask({ type: 'message.edit', messageId, text: 'c' });
  const { message } = ack['data'] as { message: { text: string; reactions: object[] } };
  assert.deepEqual([message.text, message.reactions], ['c', reactions]);
  await client.close();
});
