import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ChatOf, changesReceived, createChatKit, subscribe } from '../../../testkit/chat/chat.ts';
import { openSocket } from '../../../testkit/clients/socket-client.ts';
import { eventually } from '../../../testkit/kit/eventually.ts';
import { startService, type TestService } from '../../../testkit/kit/service.ts';
import type { Sql } from '../../core/sql.ts';

let service: TestService;
let chat: ChatOf;
before(async () => {
  service = await startService({
    env: {
      CHAT_SEND_RATE_LIMIT: '100000',
      CHAT_CONNECT_RATE_LIMIT: '100000',
      CHAT_SUBSCRIBE_RATE_LIMIT: '100000',
    },
  });
  chat = await createChatKit(service);
});
after(() => service.stop());

const send = (room: string, text: string, senderId = 'bob') =>
  chat.project.api.call('sendMessage', { room, body: { text, senderId } });

test('[CHATWS-1] hello says who, where and which limits hold', async () => {
  const alice = await chat.user('alice');
  const client = await openSocket(`${service.url}/v1/chat/ws`, { protocols: ['svc.chat.v1', `bearer.${alice.token}`] });
  const hello = await client.take('hello');
  assert.deepEqual(
    [hello['userId'], hello['projectId'], hello['environment'], hello['heartbeatIntervalMs'], hello['maxFrameBytes']],
    ['alice', chat.project.id, 'DEVELOPMENT', 15_000, 65_536],
  );
  assert.deepEqual([hello['heartbeatTimeoutMs'], hello['maxSubscriptions'], hello['protocol']], [45_000, 20, 1]);
  await client.close();
});

test('[CHATWS-2] a subscriber hears each change once and in order, also of what it sends itself', async () => {
  const { id } = await chat.conversation();
  const [alice, bob] = [await chat.user('alice'), await chat.user('bob')];
  const [one, two] = [await alice.connect(), await bob.connect()];
  const answer = await subscribe(one, id);
  assert.deepEqual([answer['conversationId'], answer['change'], answer['unreadCount']], [id, 0, 0]);
  await subscribe(two, id);
  const ack = await two.ask({ type: 'message.send', conversation: id, text: 'hi', clientMessageId: 'c1' });
  const { message } = ack['data'] as { message: { id: string; change: number } };
  const received = await one.take('message');
  assert.deepEqual([received['message'], received['change']], [message, 1]);
  assert.equal(((await two.take('message'))['message'] as { clientMessageId: string }).clientMessageId, 'c1');
  const messageId = message.id;
  await one.ask({ type: 'reaction.add', messageId, emoji: '👍' });
  await two.ask({ type: 'message.edit', messageId, text: 'hi!' });
  const state = await one.ask({ type: 'read', messageId });
  assert.equal((state['data'] as { unreadCount: number }).unreadCount, 0);
  const deleted = await two.ask({ type: 'message.delete', messageId });
  assert.equal((deleted['data'] as { messageId: string }).messageId, messageId);
  await two.take('message.deleted');
  await eventually(() => changesReceived(one.frames, id).length === 4);
  for (const client of [one, two]) assert.deepEqual(changesReceived(client.frames, id), [1, 2, 3, 4]);
  const read = await two.take('read');
  assert.deepEqual([read['userId'], read['messageId'], read['seq']], ['alice', messageId, 1]);
  await Promise.all([one.close(), two.close()]);
});

test('[CHATWS-3] a client that reconnects gets what it missed, from memory and without a database read', async () => {
  const { id } = await chat.conversation();
  const alice = await chat.user('alice');
  const first = await alice.connect();
  let epoch: unknown;
  const reads = await countStatements(id, async () => {
    ({ epoch } = await subscribe(first, id));
  });
  assert.ok(reads > 0, 'the first subscriber has it read');
  await send(id, 'm1');
  await first.take('message');
  await first.close();
  for (let at = 2; at <= 6; at++) await send(id, `m${at}`);
  const again = await alice.connect();
  const statements = await countStatements(id, async () => {
    const answer = await subscribe(again, id, { since: 1, epoch });
    assert.deepEqual([answer['recovered'], answer['change'], answer['unreadCount']], [true, 6, 6]);
  });
  assert.equal(statements, 0);
  const recovered = await again.take('recovered');
  assert.deepEqual([recovered['from'], recovered['to'], recovered['complete']], [1, 6, true]);
  await send(id, 'm7');
  await again.take('message');
  assert.deepEqual(changesReceived(again.frames, id), [2, 3, 4, 5, 6, 7]);
  await again.close();
});

/** Statements about a conversation while `work` runs: what the service does by itself is not counted. */
async function countStatements(conversationId: string, work: () => Promise<void>): Promise<number> {
  const { db } = service.adapters;
  const { query } = db;
  let count = 0;
  // The look at the heads runs in turns, independent of subscribers.
  const isChore = (text: string) => /"lastChange" from conversations where id = any/.test(text);
  const isCounted = ({ text, values }: Sql) => JSON.stringify(values).includes(conversationId) && !isChore(text);
  db.query = ((statement: Sql) => {
    if (isCounted(statement)) count++;
    return query(statement);
  }) as typeof db.query;
  try {
    await work();
  } finally {
    db.query = query;
  }
  return count;
}

test('[CHATWS-4] a gap that memory does not hold is read once and recovered all the same; one too long is not', async () => {
  const { id } = await chat.conversation();
  for (let at = 1; at <= 30; at++) await send(id, `m${at}`);
  const alice = await chat.user('alice');
  const client = await alice.connect();
  const answer = await subscribe(client, id, { since: 10 });
  assert.equal(answer['recovered'], true);
  await client.take('recovered');
  assert.deepEqual(
    changesReceived(client.frames, id),
    Array.from({ length: 20 }, (_, at) => at + 11),
  );
  assert.equal((await subscribe(client, id, { since: 99 }))['recovered'], false);
  assert.equal((await subscribe(client, id, { since: 10, epoch: 'another' }))['recovered'], false);
  const page = await client.ask({ type: 'changes', conversation: id, since: 25 });
  const data = page['data'] as { changes: { change: number }[]; complete: boolean };
  assert.deepEqual([data.changes.map(({ change }) => change), data.complete], [[26, 27, 28, 29, 30], true]);
  await client.close();
});

test('[CHATWS-5] what was deleted meanwhile is not handed out from memory', async () => {
  const { id } = await chat.conversation();
  const alice = await chat.user('alice');
  const first = await alice.connect();
  await subscribe(first, id);
  await first.close();
  const { id: messageId } = await send(id, 'secret');
  await chat.project.api.call('deleteMessage', { messageId });
  const again = await alice.connect();
  await subscribe(again, id, { since: 0 });
  await again.take('recovered');
  assert.deepEqual(changesReceived(again.frames, id), [1, 2]);
  assert.ok(!JSON.stringify(again.frames).includes('secret'));
  await again.close();
});

test('[CHATWS-6] what may not be subscribed to is refused item by item: strangers, unknown, outside the list, beyond 20', async () => {
  const rooms = await Promise.all(Array.from({ length: 21 }, () => chat.conversation(['zoe'])));
  const zoe = await chat.user('zoe');
  const client = await zoe.connect();
  const ack = await client.ask({ type: 'subscribe', conversations: rooms.map(({ id }) => ({ ref: id })) });
  const { conversations } = ack['data'] as { conversations: { code?: string; conversationId?: string }[] };
  assert.equal(conversations.filter(({ conversationId }) => conversationId).length, 20);
  assert.equal(conversations[20]?.code, 'SUBSCRIPTION_LIMIT');
  await client.ask({ type: 'unsubscribe', conversations: [rooms[0]?.name, rooms[1]?.id] });
  assert.equal((await subscribe(client, rooms[20]?.id ?? ''))['code'], undefined);
  assert.equal((await subscribe(client, 'nowhere'))['code'], 'CONVERSATION_NOT_FOUND');
  const other = await chat.conversation(['alice']);
  assert.equal((await subscribe(client, other.id))['code'], 'NOT_A_MEMBER');
  const narrow = await (await chat.user('zoe', { conversations: [rooms[2]?.id ?? ''] })).connect();
  assert.equal((await subscribe(narrow, rooms[3]?.id ?? ''))['code'], 'CONVERSATION_NOT_FOUND');
  await Promise.all([client.close(), narrow.close()]);
});

test('[CHATWS-7] removal and erasure cut subscriptions at once, and say so', async () => {
  const [kicked, erased] = [await chat.conversation(), await chat.conversation()];
  const alice = await chat.user('alice');
  const client = await alice.connect();
  await subscribe(client, kicked.id);
  await subscribe(client, erased.id);
  await chat.project.api.call('removeConversationMember', { room: kicked.id, userId: 'alice' });
  const gone = await client.take('unsubscribed');
  assert.deepEqual([gone['conversationId'], gone['reason']], [kicked.id, 'REMOVED']);
  await chat.project.api.call('deleteConversation', { room: erased.id });
  const deleted = await client.take('unsubscribed');
  assert.deepEqual([deleted['conversationId'], deleted['reason']], [erased.id, 'DELETED']);
  await send(kicked.id, 'not for alice');
  assert.equal((await subscribe(client, kicked.id))['code'], 'NOT_A_MEMBER');
  assert.equal((await subscribe(client, erased.id))['code'], 'CONVERSATION_NOT_FOUND');
  assert.ok(!JSON.stringify(client.frames).includes('not for alice'));
  await chat.project.api.call('addConversationMember', { room: kicked.id, body: { userId: 'alice' } });
  assert.equal((await subscribe(client, kicked.id))['code'], undefined);
  await client.close();
});

test('[CHATWS-8] a token is refreshed for the same user only; what a narrower one leaves out ends', async () => {
  const { id } = await chat.conversation();
  const alice = await chat.user('alice');
  const client = await alice.connect();
  await subscribe(client, id);
  const bob = await chat.user('bob');
  const refused = await client.ask({ type: 'token.refresh', token: bob.token });
  assert.equal(refused['code'], 'FORBIDDEN');
  const narrow = await chat.user('alice', { conversations: [] });
  const ack = await client.ask({ type: 'token.refresh', token: narrow.token });
  assert.equal(typeof (ack['data'] as { expiresAt: string }).expiresAt, 'string');
  assert.equal((await client.take('unsubscribed'))['conversationId'], id);
  await client.close();
});

test('[CHATWS-9] a page that would not fit a frame is cut, and its cursor goes on', async () => {
  const { id } = await chat.conversation();
  for (let at = 0; at < 12; at++) await send(id, `${at}`.padEnd(3_900, '€'));
  const client = await (await chat.user('alice')).connect();
  const seen: number[] = [];
  for (let before: string | null | undefined; before !== null; ) {
    const ack = await client.ask({ type: 'history', conversation: id, limit: 100, ...(before ? { before } : {}) });
    const data = ack['data'] as { messages: { seq: number }[]; nextCursor: string | null };
    assert.ok(Buffer.byteLength(JSON.stringify(ack)) <= 65_536);
    seen.push(...data.messages.map(({ seq }) => seq));
    before = data.nextCursor;
  }
  assert.deepEqual(
    seen,
    Array.from({ length: 12 }, (_, at) => 12 - at),
  );
  const again = await (await chat.user('alice')).connect();
  await subscribe(again, id, { since: 0 });
  await eventually(() => changesReceived(again.frames, id).length === 12);
  for (const frame of again.frames) assert.ok(Buffer.byteLength(JSON.stringify(frame)) <= 65_536);
  await Promise.all([client.close(), again.close()]);
});

interface Reacted {
  reactions?: object[];
}

test('[CHATWS-9] a message whose reactions would not fit is sent with fewer of them', async () => {
  const { id } = await chat.conversation();
  const alice = await chat.user('alice');
  const client = await alice.connect();
  await subscribe(client, id);
  const draft = { type: 'message.send', conversation: id, text: '😀'.repeat(4_000), clientMessageId: 'crowded' };
  const sent = (await client.ask(draft))['data'] as { message: { id: string } };
  const messageId = sent.message.id;
  const emojiOf = (at: number) =>
    Array.from({ length: 32 }, (_, bit) => ((at >> bit) & 1 ? '👩' : '👨')).join('\u200d');
  await Promise.all(
    Array.from({ length: 199 }, (_, at) =>
      chat.project.api.call('addReaction', {
        messageId,
        body: { emoji: emojiOf(at), userId: `user-${at}-`.padEnd(128, 'x') },
      }),
    ),
  );
  const { change } = await chat.project.api.call('getMessage', { messageId });
  const asked = [
    { type: 'reaction.add', messageId, emoji: '👍' },
    { type: 'reaction.remove', messageId, emoji: '👍' },
    { type: 'message.edit', messageId, text: '😁'.repeat(4_000) },
    draft,
    { type: 'history', conversation: id },
    { type: 'changes', conversation: id, since: change + 2 },
  ];
  for (const frame of asked) {
    const ack = await client.ask(frame);
    assert.equal(ack.type, 'ack', JSON.stringify(ack));
    const data = ack['data'] as Reacted & { message?: Reacted; messages?: Reacted[]; changes?: { message: Reacted }[] };
    const [holder = data] = [data.message ?? data.messages?.[0] ?? data.changes?.[0]?.message];
    assert.ok((holder.reactions?.length ?? 0) > 100, `${frame.type} shows what fits`);
  }
  await eventually(() => client.frames.some(({ type }) => type === 'message.updated'));
  for (const frame of client.frames) assert.ok(Buffer.byteLength(JSON.stringify(frame)) <= 65_536, frame.type);
  await client.close();
});

test('[CHATWS-10] bad frames get the declared error and store nothing', async () => {
  const { id } = await chat.conversation();
  const client = await (await chat.user('alice')).connect();
  const bad: [object, string][] = [
    [{ type: 'message.send', conversation: id }, 'VALIDATION_FAILED'],
    [{ type: 'message.send', conversation: id, text: 'x', msgType: 'system' }, 'MESSAGE_TYPE_FORBIDDEN'],
    [{ type: 'message.send', conversation: id, msgType: 'text', attachmentId: 'att_x' }, 'VALIDATION_FAILED'],
    [{ type: 'message.send', conversation: 'nowhere', text: 'x' }, 'CONVERSATION_NOT_FOUND'],
    [{ type: 'message.send', text: 'x' }, 'VALIDATION_FAILED'],
    [{ type: 'message.send', conversation: id, text: 'x'.repeat(4001) }, 'TEXT_TOO_LONG'],
    [{ type: 'message.edit', messageId: 'msg_none', text: 'x' }, 'MESSAGE_NOT_FOUND'],
    [{ type: 'message.delete', messageId: '' }, 'VALIDATION_FAILED'],
    [{ type: 'reaction.add', messageId: 'msg_none', emoji: '👍' }, 'MESSAGE_NOT_FOUND'],
    [{ type: 'read', messageId: 7 }, 'VALIDATION_FAILED'],
    [{ type: 'typing', conversation: id }, 'VALIDATION_FAILED'],
    [{ type: 'presence', status: 'OFFLINE' }, 'VALIDATION_FAILED'],
    [{ type: 'presence', status: 'AWAY', data: { x: 'y'.repeat(1100) } }, 'METADATA_TOO_LARGE'],
    [{ type: 'history', conversation: id, limit: 101 }, 'VALIDATION_FAILED'],
    [{ type: 'history', conversation: id, before: 'x' }, 'INVALID_CURSOR'],
    [{ type: 'changes', conversation: id, since: -1 }, 'VALIDATION_FAILED'],
    [{ type: 'subscribe', conversations: [] }, 'VALIDATION_FAILED'],
    [{ type: 'token.refresh', token: 'x' }, 'INVALID_TOKEN'],
    [{ type: 'hello' }, 'UNKNOWN_FRAME'],
  ];
  for (const [frame, code] of bad) {
    const answer = await client.ask(frame as { type: string });
    assert.deepEqual([answer.type, answer['code']], ['error', code], JSON.stringify(frame));
  }
  assert.equal((await chat.project.api.call('getConversation', { room: id })).messageCount, 0);
  await client.close();
});

test('[CDASH-1] the dashboard sees sessions, counters and message metadata, never content', async () => {
  const own = await createChatKit(service);
  const { id } = await own.conversation(['alice', 'bob']);
  const client = await (await own.user('alice')).connect();
  await subscribe(client, id);
  const ack = await client.ask({ type: 'message.send', conversation: id, text: 'top secret' });
  const { message } = ack['data'] as { message: { id: string } };
  await own.project.api.call('addReaction', { messageId: message.id, body: { emoji: '👍', userId: 'bob' } });
  const { api } = own.project.owner;
  const at = { projectId: own.project.id };
  const overview = await api.call('getChatOverview', at);
  assert.deepEqual(
    [overview.conversations, overview.members, overview.messages, overview.connections, overview.reactions],
    [{ total: 1, active: 1, archived: 0 }, 2, { total: 1, last24h: 1, last7d: 1 }, { active: 1 }, 1],
  );
  assert.deepEqual([overview.hours.length, overview.hours.reduce((sum, { messages }) => sum + messages, 0)], [24, 1]);
  const [connection] = await api.call('listChatConnections', at);
  assert.deepEqual(
    [connection?.userId, connection?.subscriptions, connection?.messagesSent, connection?.disconnectedAt],
    ['alice', 1, 1, null],
  );
  assert.equal(connection?.ip, '127.0.0.0');
  const messages = await api.call('listProjectMessages', { ...at, conversationId: id });
  assert.deepEqual(
    messages.map(({ id, publicId }) => [id, publicId]),
    [[message.id, message.id]],
  );
  const seen = [
    messages,
    await api.call('listProjectConversations', at),
    await api.call('getProjectConversation', { ...at, conversationId: id }),
    await api.call('listProjectConversationMembers', { ...at, conversationId: id }),
    await api.call('listProjectPresence', { ...at, conversationId: id }),
  ];
  assert.ok(!JSON.stringify(seen).includes('secret'));
  await client.close();
  await eventually(async () => (await api.call('listChatConnections', at))[0]?.closeCode === 1000);
  await eventually(async () => assert.equal((await api.call('getChatOverview', at)).connections.active, 0));
});
