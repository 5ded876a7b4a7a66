import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ChatOf, createChatKit } from '../../../../apps/server/testkit/chat/chat.ts';
import { eventually } from '../../../../apps/server/testkit/kit/eventually.ts';
import { startService, type TestService } from '../../../../apps/server/testkit/kit/service.ts';
import { startTcpProxy, type TcpProxy } from '../../../../apps/server/testkit/peers/tcp-proxy.ts';
import type { ConnectionError, RateLimitError } from '../errors.ts';
import { Chat, type ChatOptions, type Conversation, type Message } from './index.ts';

let service: TestService;
let kit: ChatOf;
let proxy: TcpProxy;
const opened: Chat[] = [];

before(async () => {
  service = await startService({
    env: { CHAT_CONNECT_RATE_LIMIT: '1000', CHAT_SEND_RATE_LIMIT: '1000', CHAT_SUBSCRIBE_RATE_LIMIT: '1000' },
  });
  kit = await createChatKit(service);
  proxy = await startTcpProxy(service.url);
});
after(async () => {
  for (const chat of opened) await chat.disconnect();
  await proxy.close();
  await service.stop();
});

async function chatOf(userId: string, options: Partial<ChatOptions> = {}): Promise<Chat> {
  const token = async () => (await kit.user(userId)).token;
  const chat = new Chat({ url: proxy.url, token, ...options });
  opened.push(chat);
  await chat.connect();
  return chat;
}

/** Two people in a conversation of their own. */
async function pair(): Promise<{ alice: Conversation; bob: Conversation; chats: [Chat, Chat]; id: string }> {
  const { id } = await kit.conversation();
  const chats = [await chatOf('alice'), await chatOf('bob')] as [Chat, Chat];
  const [alice, bob] = [await chats[0].join(id), await chats[1].join(id)];
  return { alice, bob, chats, id };
}

const texts = ({ messages }: Conversation) => messages.getSnapshot().map(({ text }) => text);

test('[SDK-11] a message is shown at once, stored, and emitted once to both', async () => {
  const { alice, bob } = await pair();
  const received: string[] = [];
  alice.on('message', ({ text }) => received.push(`alice ${text}`));
  bob.on('message', ({ text }) => received.push(`bob ${text}`));
  const sending = alice.send('hello');
  assert.deepEqual(
    alice.messages.getSnapshot().map(({ text, delivery, id }) => [text, delivery, id]),
    [['hello', 'sending', null]],
  );
  const sent = await sending;
  assert.equal(sent.delivery, 'sent');
  assert.match(sent.id ?? '', /^msg_/);
  await eventually(() => assert.deepEqual(received.sort(), ['alice hello', 'bob hello']));
  assert.deepEqual([texts(alice), texts(bob)], [['hello'], ['hello']]);
});

test('[SDK-10] edits, removals and reactions reach everybody, with their events', async () => {
  const { alice, bob } = await pair();
  const { id } = await alice.send('first');
  const emitted: string[] = [];
  bob.on('messageUpdated', ({ text }) => emitted.push(`updated ${text}`));
  bob.on('reactionAdded', (message, emoji, who) => emitted.push(`added ${message.text} ${emoji} ${who}`));
  bob.on('reactionRemoved', (_message, emoji, who) => emitted.push(`removed ${emoji} ${who}`));
  bob.on('messageDeleted', ({ deleted, text }) => emitted.push(`deleted ${deleted} ${text}`));
  assert.ok(id);
  await alice.edit(id, 'second');
  await alice.react(id, '👍');
  assert.deepEqual(alice.messages.getSnapshot()[0]?.reactions, [
    { emoji: '👍', count: 1, userIds: ['alice'], reacted: true },
  ]);
  await alice.unreact(id, '👍');
  await alice.remove(id);
  await eventually(() =>
    assert.deepEqual(emitted, ['updated second', 'added second 👍 alice', 'removed 👍 alice', 'deleted true null']),
  );
  for (const one of [alice, bob])
    await eventually(() =>
      assert.deepEqual(
        one.messages.getSnapshot().map(({ text, deleted, reactions }) => [text, deleted, reactions.length]),
        [[null, true, 0]],
      ),
    );
});

test('[SDK-10] reply counts and own reactions follow live, as history says them', async () => {
  const { alice, bob } = await pair();
  const { id } = await alice.send('root');
  assert.ok(id);
  const reply = await bob.send({ text: 'one', replyTo: id });
  await bob.send({ text: 'two', replyTo: reply.id ?? '' });
  await bob.react(id, '👍');
  await alice.edit(id, 'edited');
  const shown = ({ messages }: Conversation) =>
    messages
      .getSnapshot()
      .map(({ text, replyCount, lastReplyAt, reactions }) => [text, replyCount, lastReplyAt, reactions]);
  await eventually(() => assert.deepEqual(texts(bob), ['edited', 'one', 'two']));
  const live = shown(bob);
  assert.equal(bob.messages.getSnapshot()[0]?.replyCount, 2);
  assert.equal(bob.messages.getSnapshot()[0]?.reactions[0]?.reacted, true);
  await bob.history();
  assert.deepEqual(shown(bob), live);

  const countOf = ({ messages }: Conversation) => messages.getSnapshot()[0]?.replyCount;
  const last = bob.messages.getSnapshot().at(-1);
  await bob.remove(last?.id ?? '');
  for (const one of [alice, bob]) await eventually(() => assert.equal(countOf(one), 1));
  const [before] = shown(bob);
  await bob.history();
  assert.deepEqual(shown(bob)[0], before);
});

test('[SDK-12] without a connection everything is queued, and goes out in order with the next one', async () => {
  const { alice, bob, chats } = await pair();
  const { id } = await alice.send('before');
  proxy.cut();
  await eventually(() => assert.equal(chats[0].state.getSnapshot().connection, 'reconnecting'));
  const queued = await Promise.all(['one', 'two', 'three'].map((text) => alice.send(text)));
  assert.deepEqual(
    queued.map(({ delivery, id: none }) => [delivery, none]),
    [
      ['queued', null],
      ['queued', null],
      ['queued', null],
    ],
  );
  await alice.react(id ?? '', '🎉');
  assert.equal(chats[0].state.getSnapshot().queued, 4);
  proxy.restore();
  await eventually(() => assert.deepEqual(texts(bob), ['before', 'one', 'two', 'three']), { withinMs: 30_000 });
  await eventually(() => assert.equal(bob.messages.getSnapshot()[0]?.reactions[0]?.count, 1));
  await eventually(() => assert.equal(chats[0].state.getSnapshot().queued, 0));
  assert.deepEqual(
    alice.messages.getSnapshot().map(({ delivery }) => delivery),
    ['sent', 'sent', 'sent', 'sent'],
  );
});

test('[SDK-10] four losses under traffic: every change emitted once, in order, to all', async () => {
  const { alice, bob, id } = await pair();
  const received: (number | null)[] = [];
  bob.on('message', ({ seq }) => received.push(seq));
  let made = 0;
  for (let loss = 0; loss < 4; loss++) {
    const sends = Array.from({ length: 25 }, () =>
      kit.project.api.call('sendMessage', { room: id, body: { text: `m${++made}`, senderId: 'alice' } }),
    );
    proxy.cut();
    await Promise.all(sends);
    proxy.restore();
    await eventually(() => assert.equal(received.length, made), { withinMs: 60_000 });
  }
  assert.deepEqual(
    received,
    Array.from({ length: made }, (_, index) => index + 1),
  );
  assert.equal(new Set(texts(bob)).size, made);
  await eventually(() => assert.deepEqual(texts(alice), texts(bob)));
});

test('[SDK-12] a refused message is kept as failed until it is retried or discarded', async () => {
  const { alice } = await pair();
  await assert.rejects(alice.send('x'.repeat(5_000)), { code: 'SVC_TEXT_TOO_LONG' });
  const [failed] = alice.messages.getSnapshot();
  assert.equal(failed?.delivery, 'failed');
  assert.equal(failed?.error?.code, 'SVC_TEXT_TOO_LONG');
  await assert.rejects(alice.retry(failed?.clientMessageId ?? ''), { code: 'SVC_TEXT_TOO_LONG' });
  alice.discard(failed?.clientMessageId ?? '');
  assert.deepEqual(texts(alice), []);
});

test('[SDK-15] history: newest first, one page when awaited, as many as asked when iterated', async () => {
  const { alice, bob } = await pair();
  for (let number = 1; number <= 7; number++) await alice.send(`m${number}`);
  const page = await bob.history({ limit: 3 });
  assert.deepEqual(
    page.items.map(({ text }) => text),
    ['m7', 'm6', 'm5'],
  );
  const older = await bob.history({ limit: 2, before: page.nextCursor ?? '' });
  assert.deepEqual(
    older.items.map(({ text }) => text),
    ['m4', 'm3'],
  );
  const some: Message[] = [];
  for await (const message of bob.history({ limit: 6 })) some.push(message);
  assert.deepEqual(
    some.map(({ text }) => text),
    ['m7', 'm6', 'm5', 'm4', 'm3', 'm2'],
  );
  const all: Message[] = [];
  for await (const message of bob.history()) all.push(message);
  assert.equal(all.length, 7);
  assert.deepEqual(texts(bob), ['m1', 'm2', 'm3', 'm4', 'm5', 'm6', 'm7']);
});

test('[SDK-16] typing is emitted and ends by itself; presence and read marks are emitted', async () => {
  const { alice, bob, chats } = await pair();
  const emitted: string[] = [];
  bob.on('typing', (userId, isTyping) => emitted.push(`typing ${userId} ${isTyping}`));
  bob.on('read', ({ userId }) => emitted.push(`read ${userId}`));
  bob.on('presence', (userId, status) => emitted.push(`presence ${userId} ${status}`));
  for (let key = 0; key < 5; key++) alice.setTyping();
  await eventually(() => assert.deepEqual(bob.typing.getSnapshot(), ['alice']));
  const { id } = await bob.send('hello');
  await alice.markRead(id ?? '');
  await eventually(() => assert.ok(emitted.includes('read alice')));
  chats[0].setPresence('AWAY');
  await eventually(() => assert.ok(emitted.includes('presence alice AWAY')));
  await alice.send('done');
  await eventually(() => assert.deepEqual(bob.typing.getSnapshot(), []));
  assert.deepEqual(
    emitted.filter((line) => line.startsWith('typing')),
    ['typing alice true', 'typing alice false'],
  );
});

test('[SDK-17] a file is uploaded, completed and sent', async () => {
  const { alice, bob } = await pair();
  const steps: unknown[] = [];
  const file = new File(['some bytes'], 'notes.txt', { type: 'text/plain' });
  const { attachmentId } = await alice.upload(file, { onProgress: (...step) => steps.push(step) });
  assert.deepEqual(steps, [[1, { loaded: 10, total: 10 }]]);
  await alice.send({ attachmentId });
  await eventually(() => assert.equal(bob.messages.getSnapshot()[0]?.attachment?.filename, 'notes.txt'));
});

test('[SDK-17] several files are sent with one message', async () => {
  const { alice, bob } = await pair();
  const files = ['one.txt', 'two.txt'].map((name) => new File([name], name, { type: 'text/plain' }));
  const uploads = await Promise.all(files.map((file) => alice.upload(file)));
  const sent = await alice.send({ attachmentIds: uploads.map(({ attachmentId }) => attachmentId) });
  assert.equal(sent.type, 'attachment');
  await eventually(() =>
    assert.deepEqual(
      bob.messages.getSnapshot()[0]?.attachments?.map(({ filename }) => filename),
      ['one.txt', 'two.txt'],
    ),
  );
});

test('[SDK-18] the twenty-first conversation is refused with what to do; the same one gives the same object', async () => {
  const chat = await chatOf('alice');
  const all = await Promise.all(Array.from({ length: 21 }, () => kit.conversation()));
  const joined: Conversation[] = [];
  for (const { id } of all.slice(0, 20)) joined.push(await chat.join(id));
  await assert.rejects(chat.join(all[20]?.id ?? ''), /at most 20: leave\(\)/);
  assert.equal(await chat.join(all[0]?.name ?? ''), joined[0]);
  await joined[0]?.leave();
  assert.equal((await chat.join(all[20]?.id ?? '')).id, all[20]?.id);
});

test('[SDK-18] a non-member cannot join; a removed member is notified', async () => {
  const { id } = await kit.conversation(['alice', 'bob']);
  const eve = await chatOf('eve');
  await assert.rejects(eve.join(id), { name: 'PermissionError', code: 'SVC_NOT_A_MEMBER' });
  const bob = await (await chatOf('bob')).join(id);
  const emitted = bob.once('error', { timeoutMs: 10_000 });
  await kit.project.api.call('removeConversationMember', { room: id, userId: 'bob' });
  assert.equal((await emitted)[0].code, 'SVC_NOT_A_MEMBER');
});

test('[SDK-3] a fixed token that is not valid ends at once; too many connections say how long to wait', async () => {
  const wrong = new Chat({ url: proxy.url, token: 'not-a-token' });
  await assert.rejects(wrong.connect(), (error: ConnectionError) => error.reason === 'token_expired');
  assert.equal(wrong.state.getSnapshot().connection, 'disconnected');
  const strict = await startService({ beside: service, env: { CHAT_CONNECT_RATE_LIMIT: '1' } });
  const { token } = await kit.user('frank');
  const first = new Chat({ url: strict.url, token });
  opened.push(first);
  await first.connect();
  const second = new Chat({ url: strict.url, token });
  await assert.rejects(second.connect(), (error: ConnectionError) => {
    assert.equal(error.reason, 'rate_limited');
    assert.match(error.message, /possible in \d+ s/);
    return true;
  });
  await first.disconnect();
  await strict.stop();
});

test('[SDK-13] the server’s own limit is waited for, not failed', async () => {
  const strict = await startService({
    beside: service,
    env: { CHAT_SEND_RATE_LIMIT: '3', RATE_LIMIT_WINDOW_SECONDS: '2' },
  });
  const { id } = await kit.conversation(['gina']);
  const { token } = await kit.user('gina');
  const chat = new Chat({ url: strict.url, token });
  opened.push(chat);
  await chat.connect();
  const conversation = await chat.join(id);
  const limited: RateLimitError[] = [];
  conversation.on('error', (error) => limited.push(error as RateLimitError));
  const sent = await Promise.all(['a', 'b', 'c', 'd', 'e'].map((text) => conversation.send(text)));
  assert.deepEqual(
    sent.map(({ seq }) => seq),
    [1, 2, 3, 4, 5],
  );
  assert.deepEqual(limited, []);
  await chat.disconnect();
  await strict.stop();
});
