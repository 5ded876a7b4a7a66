import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ChatOf, changesReceived, createChatKit, subscribe } from '../../../../testkit/chat/chat.ts';
import { openSocket, type SocketClient } from '../../../../testkit/clients/socket-client.ts';
import { createFakeClock } from '../../../../testkit/kit/fake-clock.ts';
import { startService, type TestService } from '../../../../testkit/kit/service.ts';
import type { Adapters } from '../../../core/ports.ts';

const env = {
  CHAT_SEND_RATE_LIMIT: '100000',
  CHAT_CONNECT_RATE_LIMIT: '100000',
  CHAT_SUBSCRIBE_RATE_LIMIT: '100000',
};
let service: TestService;
let chat: ChatOf;
before(async () => {
  service = await startService({ env });
  chat = await createChatKit(service);
});
after(() => service.stop());

const send = (room: string, text: string, senderId = 'bob') =>
  chat.project.api.call('sendMessage', { room, body: { text, senderId } });

interface Subscribed {
  conversationId: string;
  change: number;
  recovered: boolean;
}

/** Everything after `since`, a page after the other. */
async function pageChanges(client: SocketClient, conversation: string, since: number): Promise<number[]> {
  const numbers: number[] = [];
  for (let [at, isComplete] = [since, false]; !isComplete; ) {
    const { data } = await client.ask({ type: 'changes', conversation, since: at });
    const page = data as { changes: { change: number }[]; change: number; complete: boolean };
    numbers.push(...page.changes.map(({ change }) => change));
    [at, isComplete] = [page.change, page.complete];
  }
  return numbers;
}

test('[CHATWS-4] many long gaps at once do not cut the client: what one answer cannot carry is left to page', async () => {
  const rooms = [await chat.conversation(), await chat.conversation(), await chat.conversation()];
  const each = 35;
  for (const { id } of rooms) {
    await Promise.all(Array.from({ length: each }, (_, at) => send(id, `${at}`.padEnd(3_990, '€'))));
  }
  const client = await (await chat.user('alice')).connect();
  const wanted = rooms.map(({ id }) => ({ ref: id, since: 0 }));
  const ack = await client.ask({ type: 'subscribe', conversations: wanted });
  const { conversations } = ack['data'] as { conversations: Subscribed[] };
  assert.deepEqual(
    conversations.map(({ change }) => change),
    [each, each, each],
  );
  await client.ask({ type: 'ping' });
  assert.equal(client.closed, null);
  assert.ok(client.frames.reduce((sum, frame) => sum + JSON.stringify(frame).length, 0) < 600 * 1024);
  for (const { conversationId, recovered } of conversations) {
    const frames = client.frames.filter(
      (frame) => frame.type === 'recovered' && frame['conversationId'] === conversationId,
    );
    assert.equal(recovered, frames.length > 0);
    const received = changesReceived(frames, conversationId);
    const isWhole = frames.every((frame) => frame['complete']) && recovered;
    assert.equal(isWhole, received.length === each);
    const rest = await pageChanges(client, conversationId, received.at(-1) ?? 0);
    assert.deepEqual(
      [...received, ...rest],
      Array.from({ length: each }, (_, at) => at + 1),
    );
  }
  assert.equal(conversations[0]?.recovered, true);
  assert.equal(conversations[2]?.recovered, false);
  await client.close();
});

/** Holds back what `isHeld` says until it is released. */
function gate(isHeld: (text: string) => boolean) {
  let opened: Promise<void> = Promise.resolve();
  let open = (): void => {};
  let [reached, tellReached] = [Promise.resolve(), (): void => {}];
  const wrap = (adapters: Adapters): Adapters => {
    const { db } = adapters;
    const query = async (statement: { text: string }) => {
      if (isHeld(statement.text)) {
        tellReached();
        await opened;
      }
      return db.query(statement as never);
    };
    return { ...adapters, db: { ...db, query: query as typeof db.query } };
  };
  return {
    wrap,
    shut() {
      opened = new Promise((resolve) => {
        open = resolve;
      });
      reached = new Promise((resolve) => {
        tellReached = resolve;
      });
    },
    open: () => open(),
    whenReached: () => reached,
  };
}

test('[CHATWS-2] a conversation that was evicted while a client subscribed is opened again, not silent', async () => {
  const clock = createFakeClock();
  const views = gate((text) => /jsonb_to_recordset/.test(text) && /conversation_members/.test(text));
  const own = await startService({ env, clock, wrap: views.wrap });
  const kit = await createChatKit(own);
  const { id } = await kit.conversation();
  const first = await (await kit.user('alice')).connect();
  await subscribe(first, id);
  await first.close();
  const bob = await kit.user('bob');
  // Quiet for almost the ten minutes that it is kept.
  clock.jump(590_000);
  const client = await bob.connect();
  views.shut();
  const subscribing = subscribe(client, id);
  await views.whenReached();
  await clock.advance(31_000);
  views.open();
  assert.equal((await subscribing)['change'], 0);
  await kit.project.api.call('sendMessage', { room: id, body: { text: 'received?' } });
  await client.take('message');
  await client.close();
  await own.stop();
});

test('[MSG-12] a subscription by name or room follows it at once, as sends and history do', async () => {
  const { api } = chat.project;
  const client = await (await chat.user('alice')).connect();
  const create = (body: { name: string; roomId?: string }) =>
    api.call('createConversation', { body: { ...body, members: ['alice'] } });

  const standup = await create({ name: 'standup' });
  assert.equal((await subscribe(client, 'standup'))['conversationId'], standup.id);
  await api.call('deleteConversation', { room: standup.id });
  const again = await create({ name: 'standup' });
  assert.equal((await subscribe(client, 'standup'))['conversationId'], again.id);

  const other = await create({ name: 'other' });
  await subscribe(client, 'other');
  for (const [room, name] of [
    [again.id, 'aside'],
    [other.id, 'standup'],
    [again.id, 'other'],
  ] as const) {
    await api.call('updateConversation', { room, body: { name } });
  }
  await client.ask({ type: 'typing', conversation: 'other', typing: true });
  assert.equal((await api.call('listTyping', { room: again.id }))[0]?.userId, 'alice');
  const listed = await (await chat.user('alice', { conversations: [other.id] })).connect();
  assert.equal((await subscribe(client, 'standup'))['conversationId'], other.id);
  assert.equal((await subscribe(client, 'other'))['conversationId'], again.id);
  assert.equal((await subscribe(listed, 'standup'))['conversationId'], other.id);
  await Promise.all([client.close(), listed.close()]);
});

test('[MSG-12] a list of conversations holds by what a name means now', async () => {
  const { api } = chat.project;
  const [one, two] = [await chat.conversation(), await chat.conversation()];
  const alice = await chat.user('alice', { conversations: [two.id] });
  await send(one.name, 'x');
  await api.call('updateConversation', { room: one.id, body: { name: 'one-aside' } });
  await api.call('updateConversation', { room: two.id, body: { name: one.name } });
  const sent = await alice.api.call('sendMessage', { room: one.name, body: { text: 'mine' } });
  assert.equal(sent.conversationId, two.id);
});

test('[CONV-11] the conversation that a room has now is found by the id of the room, in every way', async () => {
  const { api } = chat.project;
  const room = await api.call('createRoom', { body: { name: 'hall' } });
  const client = await (await chat.user('alice')).connect();
  const hall = (name: string) =>
    api.call('createConversation', { body: { name, roomId: room.id, members: ['alice', 'bob'] } });
  const ways = [
    async () => (await send(room.id, 'x')).conversationId,
    async () => (await api.call('listMessages', { room: room.id })).messages[0]?.conversationId,
    async () => (await subscribe(client, room.id))['conversationId'],
  ];
  for (const [at, way] of ways.entries()) {
    const old = await hall(`hall-old-${at}`);
    await send(room.id, 'old');
    await api.call('deleteConversation', { room: old.id });
    const fresh = await hall(`hall-${at}`);
    await send(fresh.id, 'fresh');
    assert.equal(await way(), fresh.id);
    await api.call('deleteConversation', { room: fresh.id });
  }
  await client.close();
});

test('[CHATWS-4] a client that comes from a process that is ahead loses nothing', async () => {
  let isDeaf = false;
  const deaf = (adapters: Adapters): Adapters => {
    const { bus } = adapters;
    const subscribeTo: typeof bus.subscribe = (topic, listener) =>
      bus.subscribe(topic, (message) => (isDeaf ? undefined : listener(message)));
    return { ...adapters, bus: { ...bus, subscribe: subscribeTo } };
  };
  const late = await startService({ env, beside: service, wrap: deaf });
  const { id } = await chat.conversation();
  const { token } = await chat.user('alice');
  const client = await openSocket(`${late.url}/v1/chat/ws?token=${token}`);
  await subscribe(client, id);
  isDeaf = true;
  for (let at = 1; at <= 3; at++) await send(id, `m${at}`);
  const answer = await subscribe(client, id, { since: 2 });
  assert.deepEqual([answer['recovered'], answer['change']], [true, 3]);
  await client.close();
  await late.stop();
});

test('[CHATWS-6] a subscription ends by whatever leads to its conversation', async () => {
  const room = await chat.conversation();
  const client = await (await chat.user('alice')).connect();
  for (const [by, until] of [
    [room.id, room.name],
    [room.name, room.uuid],
    [room.uuid, room.id],
    [room.id, room.uuid],
  ] as const) {
    await subscribe(client, by);
    const ack = await client.ask({ type: 'unsubscribe', conversations: ['nowhere', until] });
    assert.equal(ack.type, 'ack');
    const received = changesReceived(client.frames, room.id).length;
    await send(room.id, 'not received');
    await client.ask({ type: 'ping' });
    assert.equal(changesReceived(client.frames, room.id).length, received, `${by} until ${until}`);
  }
  await client.close();
});
