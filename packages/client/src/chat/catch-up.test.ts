import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createFakeWorld, type FakeSocket, type FakeWorld, settle } from '../../testkit/fake-world.ts';
import { Chat, type Conversation } from './index.ts';
import type { MessageRecord } from './records.ts';

/** What a server says that lags, is cut short, refuses or answers late: frame by frame, on a clock of its own. */
const message = (change: number) => ({
  type: 'message',
  conversationId: 'conv_1',
  change,
  // What the list shows of a record.
  message: { id: `msg_${change}`, seq: change, change, text: `m${change}`, reactions: [] } as unknown as MessageRecord,
});
const subscription = (change: number, fields: object = {}) => ({
  conversationId: 'conv_1',
  change,
  epoch: 'e1',
  recovered: true,
  ...fields,
});
const page = (changes: readonly object[], change: number, complete = true) => ({ changes, change, complete });

const newest = ({ sockets }: FakeWorld): FakeSocket => sockets.at(-1) ?? assert.fail('no socket');
const asked = (socket: FakeSocket, type: string) => socket.sent.filter((frame) => frame.type === type);

/** Answers the last request of this type. */
async function answer(world: FakeWorld, type: string, data: object): Promise<void> {
  const { id } = asked(newest(world), type).at(-1) ?? assert.fail(`nobody asked for ${type}`);
  newest(world).receive({ type: 'ack', ref: id, data });
  await settle();
}

async function refuse(world: FakeWorld, type: string, fields: object): Promise<void> {
  const { id } = asked(newest(world), type).at(-1) ?? assert.fail(`nobody asked for ${type}`);
  newest(world).receive({ type: 'error', ref: id, code: 'X', message: 'No.', ...fields });
  await settle();
}

async function open(world: FakeWorld): Promise<Chat> {
  const chat = new Chat({ url: 'http://parley.test', token: 't' }, world);
  const connecting = chat.connect();
  await settle();
  newest(world).hello();
  await connecting;
  return chat;
}

/** In `conv_1`, which is at change 5; its events are recorded. */
async function joined(
  world: FakeWorld,
): Promise<{ chat: Chat; conversation: Conversation; received: (number | null)[] }> {
  const chat = await open(world);
  const joining = chat.join('conv_1');
  await settle();
  await answer(world, 'subscribe', { conversations: [subscription(5, { recovered: false })] });
  const conversation = await joining;
  const received: (number | null)[] = [];
  conversation.on('message', ({ seq }) => received.push(seq));
  return { chat, conversation, received };
}

/** The connection is lost and made again, up to the `hello`. */
async function comeBack(world: FakeWorld, code = 1006, reason = ''): Promise<void> {
  const before = world.sockets.length;
  newest(world).drop(code, reason);
  while (world.sockets.length === before) await world.advance(100);
  newest(world).hello();
  await settle();
}

const texts = ({ messages }: Conversation) => messages.getSnapshot().map(({ text }) => text);

test('[SDK-10] a process that lags behind, of the same epoch, neither clears the list nor emits anything twice', async () => {
  const world = createFakeWorld();
  const { conversation, received } = await joined(world);
  for (const change of [6, 7, 8]) newest(world).receive(message(change));
  await comeBack(world);
  assert.deepEqual(asked(newest(world), 'subscribe')[0]?.['conversations'], [
    { ref: 'conv_1', presence: true, since: 8, epoch: 'e1' },
  ]);
  await answer(world, 'subscribe', { conversations: [subscription(6, { recovered: false })] });
  for (const change of [7, 8, 9]) newest(world).receive(message(change));
  await world.advance(5_000);
  assert.deepEqual(received, [6, 7, 8, 9]);
  assert.deepEqual(texts(conversation), ['m6', 'm7', 'm8', 'm9']);
});

test('[SDK-10] what the server does not send, or sends only in part, is read page by page; the list stays', async () => {
  for (const isPart of [true, false]) {
    const world = createFakeWorld();
    const { conversation, received } = await joined(world);
    newest(world).receive(message(6));
    await comeBack(world);
    await answer(world, 'subscribe', { conversations: [subscription(10, { recovered: isPart })] });
    if (isPart) {
      const { conversationId } = message(7);
      newest(world).receive({ type: 'recovered', conversationId, changes: [message(7)], to: 7, complete: false });
      await settle();
    } else {
      await answer(world, 'changes', page([message(7)], 7, false));
    }
    assert.deepEqual(
      asked(newest(world), 'changes').map(({ since }) => since),
      isPart ? [7] : [6, 7],
    );
    newest(world).receive(message(11));
    await answer(world, 'changes', page([message(8), message(9)], 9, false));
    await answer(world, 'changes', page([message(10)], 10));
    assert.deepEqual(received, [6, 7, 8, 9, 10, 11]);
    assert.deepEqual(texts(conversation), ['m6', 'm7', 'm8', 'm9', 'm10', 'm11']);
  }
});

test('[SDK-10] a reading that failed is tried again, later and later, until nothing is missing', async () => {
  const world = createFakeWorld();
  const { received } = await joined(world);
  newest(world).receive(message(7));
  await world.advance(300);
  await refuse(world, 'changes', { svcCode: 'SVC_INTERNAL', retryable: true });
  await world.advance(1_000);
  assert.equal(asked(newest(world), 'changes').length, 2);
  // No answer at all: timed out after ten seconds, and retried.
  newest(world).receive({ type: 'pong' });
  await world.advance(10_000);
  newest(world).receive({ type: 'pong' });
  await world.advance(1_500);
  assert.equal(asked(newest(world), 'changes').length, 3);
  await answer(world, 'changes', page([message(6), message(7)], 7));
  assert.deepEqual(received, [6, 7]);
  await world.advance(10_000);
  assert.equal(asked(newest(world), 'changes').length, 3);
});

test('[SDK-10] nothing is read for a conversation that was left, nor after disconnect(); no timer stays', async () => {
  for (const end of [
    async ({ conversation }: { conversation: Conversation }) => conversation.leave(),
    async ({ chat }: { chat: Chat }) => chat.disconnect(),
  ]) {
    const world = createFakeWorld();
    const made = await joined(world);
    const idle = world.timers;
    newest(world).receive(message(7));
    newest(world).receive({ type: 'typing', conversationId: 'conv_1', userId: 'bob', typing: true });
    await world.advance(300);
    await refuse(world, 'changes', { svcCode: 'SVC_INTERNAL', retryable: true });
    assert.deepEqual(made.conversation.typing.getSnapshot(), ['bob']);
    await end(made);
    await settle();
    assert.deepEqual(made.conversation.typing.getSnapshot(), []);
    assert.equal(world.timers, newest(world).readyState === 1 ? idle : 0);
    await world.advance(60_000);
    assert.equal(world.sockets.flatMap((socket) => asked(socket, 'changes')).length, 1);
  }
});

test('[SDK-10] a read that is refused for good is reported once', async () => {
  const world = createFakeWorld();
  const { conversation } = await joined(world);
  const emitted: string[] = [];
  conversation.on('error', ({ code }) => emitted.push(code));
  newest(world).receive(message(7));
  await world.advance(300);
  await refuse(world, 'changes', { svcCode: 'SVC_SCOPE_MISSING', retryable: false });
  await world.advance(10_000);
  assert.deepEqual([emitted, asked(newest(world), 'changes').length], [['SVC_SCOPE_MISSING'], 1]);
});

test('[SDK-19] another epoch: a reload that fails is tried again, also by the next connection', async () => {
  const world = createFakeWorld();
  const { conversation } = await joined(world);
  newest(world).receive(message(6));
  assert.deepEqual(texts(conversation), ['m6']);
  await comeBack(world);
  await answer(world, 'subscribe', { conversations: [subscription(3, { recovered: false, epoch: 'e2' })] });
  await comeBack(world);
  const messages = [3, 2, 1].map((change) => message(change).message);
  world.fetch = async () => Response.json({ messages, nextCursor: null, latestCursor: 'x' });
  await answer(world, 'subscribe', { conversations: [subscription(3, { epoch: 'e2' })] });
  await world.advance(3_000);
  await answer(world, 'changes', page([], 3));
  assert.deepEqual(texts(conversation), ['m1', 'm2', 'm3']);
});

test('[SDK-10] cut right after subscribing, it subscribes to fewer at a time, and waits until they are complete', async () => {
  const world = createFakeWorld();
  const chat = await open(world);
  const ids = Array.from({ length: 8 }, (_, at) => `conv_${at + 1}`);
  for (const id of ids) {
    const joining = chat.join(id);
    await settle();
    await answer(world, 'subscribe', { conversations: [{ ...subscription(5), conversationId: id }] });
    await joining;
  }
  const groups = () =>
    asked(newest(world), 'subscribe').map(({ conversations }) =>
      (conversations as { ref: string }[]).map(({ ref }) => ref),
    );
  const confirm = (change: number) => {
    const group = groups().at(-1) ?? [];
    const conversations = group.map((conversationId) => ({ ...subscription(change), conversationId }));
    return answer(world, 'subscribe', { conversations });
  };
  await comeBack(world);
  assert.deepEqual(groups(), [ids]);
  await confirm(6);

  await comeBack(world, 4408, 'SLOW_CONSUMER');
  assert.deepEqual(groups(), [ids.slice(0, 2)]);
  await confirm(6);
  assert.equal(groups().length, 1);
  const recovered = (conversationId: string) =>
    newest(world).receive({ type: 'recovered', conversationId, changes: [], to: 6, complete: true });
  recovered('conv_1');
  await settle();
  assert.equal(groups().length, 1);
  recovered('conv_2');
  await settle();
  assert.deepEqual(groups(), [ids.slice(0, 2), ids.slice(2, 4)]);

  await comeBack(world, 4408, 'SLOW_CONSUMER');
  assert.deepEqual(groups(), [['conv_1']]);
  for (const id of ids) {
    assert.deepEqual(groups().at(-1), [id]);
    await confirm(6);
    recovered(id);
    await settle();
  }
  assert.equal(chat.state.getSnapshot().connection, 'connected');
  await comeBack(world);
  assert.deepEqual(groups(), [ids]);
});

test('[SDK-10] pages of several conversations are read one at a time', async () => {
  const world = createFakeWorld();
  const { chat } = await joined(world);
  const joining = chat.join('conv_2');
  await settle();
  await answer(world, 'subscribe', { conversations: [subscription(5, { conversationId: 'conv_2' })] });
  await joining;
  await comeBack(world);
  const both = ['conv_1', 'conv_2'].map((conversationId) => subscription(6, { conversationId, recovered: false }));
  await answer(world, 'subscribe', { conversations: both });
  assert.equal(asked(newest(world), 'changes').length, 1);
  await answer(world, 'changes', page([message(6)], 6));
  assert.deepEqual(
    asked(newest(world), 'changes').map(({ conversation }) => conversation),
    ['conv_1', 'conv_2'],
  );
});

test('[SDK-10] a change that comes right behind the answer to join() is emitted', async () => {
  const world = createFakeWorld();
  const chat = await open(world);
  const joining = chat.join('conv_1');
  await settle();
  const { id } = asked(newest(world), 'subscribe')[0] ?? {};
  newest(world).receive({ type: 'ack', ref: id, data: { conversations: [subscription(5)] } });
  newest(world).receive(message(6));
  assert.deepEqual(texts(await joining), ['m6']);
});

test('[SDK-94] an edit or a deletion of a message that is not loaded is emitted, and leaves no hole in the list', async () => {
  const world = createFakeWorld();
  const { chat, conversation } = await joined(world);
  const told: unknown[] = [];
  for (const name of ['messageUpdated', 'messageDeleted'] as const)
    conversation.on(name, ({ id, text }) => told.push([name, id, text]));
  newest(world).receive(message(6));
  const old = { ...message(6).message, id: 'msg_old', seq: 1 };
  newest(world).receive({ ...message(7), type: 'message.updated', message: { ...old, change: 7, text: 'edited' } });
  newest(world).receive({
    ...message(8),
    type: 'message.deleted',
    message: { ...old, change: 8, text: null, deleted: true },
  });
  assert.deepEqual(texts(conversation), ['m6']);
  assert.deepEqual(told, [
    ['messageUpdated', 'msg_old', 'edited'],
    ['messageDeleted', 'msg_old', null],
  ]);
  void conversation.edit('msg_old', 'mine');
  await settle();
  await answer(world, 'message.edit', { message: { ...old, change: 9, text: 'mine' } });
  assert.deepEqual(texts(conversation), ['m6']);
  await chat.disconnect();
});

test('[SDK-16] AWAY is sent again on every connection, before this user is seen', async () => {
  const world = createFakeWorld();
  const { chat } = await joined(world);
  chat.setPresence('AWAY');
  await comeBack(world);
  assert.deepEqual(
    newest(world).sent.map(({ type, status }) => [type, status]),
    [
      ['presence', 'AWAY'],
      ['subscribe', undefined],
    ],
  );
  await answer(world, 'subscribe', { conversations: [subscription(5)] });
  chat.setPresence('ONLINE');
  await comeBack(world);
  assert.deepEqual(
    newest(world).sent.map(({ type }) => type),
    ['subscribe'],
  );
});
