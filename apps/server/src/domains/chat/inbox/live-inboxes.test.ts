import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { InboxEntry } from '@parley/contract';
import { type ChatOf, createChatKit } from '../../../../testkit/chat/chat.ts';
import type { SocketClient } from '../../../../testkit/clients/socket-client.ts';
import { eventually, processWorkMs } from '../../../../testkit/kit/eventually.ts';
import { startService, type TestService } from '../../../../testkit/kit/service.ts';
import type { Adapters } from '../../../core/ports.ts';

const env = { CHAT_SEND_RATE_LIMIT: '100000' };
let service: TestService;
let chat: ChatOf;
before(async () => {
  // As with a bus between processes, where messages can be lost.
  const wrap = (adapters: Adapters) => ({ ...adapters, bus: { ...adapters.bus, ping: async () => 0 } });
  service = await startService({ env, wrap });
  chat = await createChatKit(service);
});
after(() => service.stop());

let named = 0;
const someone = (): string => `live-${++named}`;

const send = async (room: string, senderId: string, text = 'hello'): Promise<string> =>
  (await chat.project.api.call('sendMessage', { room, body: { text, senderId } })).id;

async function follow(client: SocketClient, since?: number) {
  const ack = await client.ask({ type: 'inbox.subscribe', ...(since === undefined ? {} : { since }) });
  assert.equal(ack.type, 'ack', JSON.stringify(ack));
  return ack['data'] as { recovered: boolean; at: number };
}

/** The last entry that a client was told of a conversation; null once it was removed. */
function latest(client: SocketClient, room: string): InboxEntry | null | undefined {
  const frame = client.frames.findLast(
    ({ type, conversationId }) => conversationId === room && ['inbox.changed', 'inbox.removed'].includes(type),
  );
  return frame && (frame.type === 'inbox.changed' ? (frame['entry'] as InboxEntry) : null);
}

test('[INB-10] a followed inbox is told of every change of an entry, and each time gets it as REST has it', async () => {
  const [me, other] = [someone(), someone()];
  const user = await chat.user(me);
  const client = await user.connect();
  assert.equal((await follow(client)).recovered, false);
  const { api } = chat.project;
  const { id: room } = await chat.conversation([me, other]);
  /** Waits until the client has what REST says, and this holds of it. */
  const agrees = (isSo: (entry: InboxEntry) => boolean) =>
    eventually(async () => {
      const entries = [
        ...(await user.api.call('listInbox', {})),
        ...(await user.api.call('listInbox', { query: { hidden: true } })),
      ];
      const entry = entries.find(({ conversation }) => conversation.id === room);
      const told = latest(client, room);
      return entry !== undefined && isSo(entry) && JSON.stringify(sorted(told)) === JSON.stringify(sorted(entry));
    });
  await agrees(({ lastMessage }) => lastMessage === null);
  const first = await send(room, other, 'first');
  const second = await send(room, other, 'second');
  await agrees(({ unreadCount }) => unreadCount === 2);
  await user.api.call('markRead', { messageId: second });
  await agrees(({ unreadCount }) => unreadCount === 0);
  await user.api.call('markUnread', { room, body: { messageId: first } });
  await agrees(({ unreadCount }) => unreadCount === 2);
  await api.call('editMessage', { messageId: second, body: { text: 'edited' } });
  await agrees(({ lastMessage }) => lastMessage?.text === 'edited');
  await api.call('deleteMessage', { messageId: second });
  await agrees(({ unreadCount, lastMessage }) => unreadCount === 1 && lastMessage?.deleted === true);
  await user.api.call('changeInboxEntry', { room, body: { muted: true, pinned: true, hidden: true } });
  await agrees(({ muted, pinned, hidden }) => muted && pinned && hidden);
  await api.call('addConversationMember', { room, body: { userId: someone() } });
  await agrees(({ faces }) => faces.length === 2);
  await api.call('updateConversation', { room, body: { metadata: { topic: 'x' } } });
  await agrees(({ conversation }) => conversation.metadata['topic'] === 'x');
  await api.call('removeConversationMember', { room, userId: me });
  await eventually(() => latest(client, room) === null);
  await api.call('addConversationMember', { room, body: { userId: me } });
  await agrees(({ hidden }) => !hidden);
  await api.call('deleteConversation', { room });
  await eventually(() => latest(client, room) === null);
  await client.ask({ type: 'inbox.unsubscribe' });
  const { id: later } = await chat.conversation([me, other]);
  await send(later, other);
  await client.ask({ type: 'typing', conversation: later, typing: true });
  assert.equal(latest(client, later), undefined);
});

/** The same whatever the order of its fields. */
const sorted = (value: unknown): unknown =>
  value !== null && typeof value === 'object' && !Array.isArray(value)
    ? Object.fromEntries(
        Object.entries(value)
          .sort()
          .map(([key, part]) => [key, sorted(part)]),
      )
    : Array.isArray(value)
      ? value.map(sorted)
      : value;

test('[INB-11] who was away gets what changed since, and is told to read anew when that is not known', async () => {
  // In a project in which nothing was erased yet.
  const chat = await createChatKit(service);
  const [me, other] = [someone(), someone()];
  const user = await chat.user(me);
  const rooms: string[] = [];
  for (let at = 0; at < 4; at++) rooms.push((await chat.conversation([me, other])).id);
  const [messaged = '', left = '', marked = '', erased = ''] = rooms;
  const since = Date.now() + 60_000;
  // Nothing is newer than a mark of the future, but what may have come late.
  const calm = await user.connect();
  assert.deepEqual((await follow(calm, since)).recovered, true);
  await chat.project.api.call('sendMessage', { room: messaged, body: { text: 'hello', senderId: other } });
  await chat.project.api.call('removeConversationMember', { room: left, userId: me });
  await user.api.call('changeInboxEntry', { room: marked, body: { pinned: true } });
  const client = await user.connect();
  assert.equal((await follow(client, Date.now() - 1_000)).recovered, true);
  await eventually(() => latest(client, messaged)?.unreadCount === 1);
  await eventually(() => latest(client, left) === null);
  await eventually(() => latest(client, marked)?.pinned === true);
  await chat.project.api.call('deleteConversation', { room: erased });
  assert.equal((await follow(await user.connect(), Date.now())).recovered, false);
});

test('[INB-12] a token with a list of conversations follows only those; without chat:read none', async () => {
  const [me, other] = [someone(), someone()];
  const [{ id: inside }, { id: outside }] = [
    await chat.conversation([me, other]),
    await chat.conversation([me, other]),
  ];
  const narrow = await (await chat.user(me, { conversations: [inside] })).connect();
  await follow(narrow);
  await send(outside, other);
  await send(inside, other);
  await eventually(() => latest(narrow, inside)?.unreadCount === 1);
  assert.equal(latest(narrow, outside), undefined);
  const blind = await (await chat.user(me, { scopes: ['chat:send'] })).connect();
  assert.equal((await blind.ask({ type: 'inbox.subscribe' }))['svcCode'], 'SVC_SCOPE_MISSING');
});

test('[INB-13] typing is shown in followed inboxes, and not to who types', async () => {
  const [me, other] = [someone(), someone()];
  const { id: room } = await chat.conversation([me, other]);
  const [mine, theirs] = [await (await chat.user(me)).connect(), await (await chat.user(other)).connect()];
  await follow(mine);
  await follow(theirs);
  await theirs.ask({ type: 'typing', conversation: room, typing: true });
  const begun = await mine.take('inbox.typing');
  assert.deepEqual([begun['conversationId'], begun['userId'], begun['typing']], [room, other, true]);
  await theirs.ask({ type: 'typing', conversation: room, typing: false });
  assert.equal((await mine.take('inbox.typing'))['typing'], false);
  assert.ok(!theirs.frames.some(({ type }) => type === 'inbox.typing'));
});

test('[INB-14] what another process changes is told; what it stored and never announced is found in the store', async () => {
  const [me, other] = [someone(), someone()];
  const beside = await startService({ beside: service, env });
  const silent = await startService({
    beside: service,
    env,
    wrap: (adapters: Adapters) => ({ ...adapters, bus: { ...adapters.bus, publish: () => undefined } }),
  });
  try {
    const { id: room } = await chat.conversation([me, other]);
    const client = await (await chat.user(me)).connect();
    await follow(client);
    for (const [at, { as }] of [beside, silent].entries()) {
      const api = as(chat.project.apiKey);
      const { id } = await api.call('sendMessage', { room, body: { text: `${at}`, senderId: other } });
      await eventually(() => latest(client, room)?.lastMessage?.id === id, { withinMs: processWorkMs });
      await api.call('markRead', { messageId: id, body: { userId: me } });
      await eventually(() => latest(client, room)?.unreadCount === 0, { withinMs: processWorkMs });
    }
  } finally {
    await silent.stop();
    await beside.stop();
  }
});
