import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import { type ChatOf, createChatKit } from '../../../../apps/server/testkit/chat/chat.ts';
import { eventually } from '../../../../apps/server/testkit/kit/eventually.ts';
import { startService, type TestService } from '../../../../apps/server/testkit/kit/service.ts';
import { startTcpProxy } from '../../../../apps/server/testkit/peers/tcp-proxy.ts';
import { Chat } from '../chat/index.ts';
import { createInbox } from './index.ts';

const env = { CHAT_CONNECT_RATE_LIMIT: '1000', CHAT_SEND_RATE_LIMIT: '1000', CHAT_SUBSCRIBE_RATE_LIMIT: '1000' };
let service: TestService;
let kit: ChatOf;
before(async () => {
  service = await startService({ env });
  kit = await createChatKit(service);
});
after(() => service.stop());

test('[INB-30] the inbox of the client is that of the server: live, in pages, and after a lost connection', async () => {
  const { api } = kit.project;
  const rooms: string[] = [];
  for (let at = 0; at < 5; at++) rooms.push((await kit.conversation(['alice', 'bob'])).id);
  const send = (room: string, senderId = 'bob') => api.call('sendMessage', { room, body: { text: 'x', senderId } });
  const proxy = await startTcpProxy(service.url);
  const chat = new Chat({ url: proxy.url, token: async () => (await kit.user('alice')).token });
  await chat.connect();
  const inbox = createInbox(chat, { pageSize: 3, acknowledge: true });
  const shown = () => inbox.state.getSnapshot();
  const listed = () => shown().entries.map(({ conversation, unreadCount }) => [conversation.id, unreadCount]);
  const agrees = (count: number) =>
    eventually(async () => {
      const entries = (await api.call('listUserInbox', { userId: 'alice' })).slice(0, count);
      const expected = entries.map(({ conversation, unreadCount }) => [conversation.id, unreadCount]);
      return JSON.stringify(listed()) === JSON.stringify(expected);
    });
  await agrees(3);
  assert.equal(shown().hasMore, true);
  await send(rooms[3] ?? '');
  await agrees(3);
  await eventually(() => shown().badge?.unreadMessages === 1);
  await eventually(async () => {
    const receipts = await api.call('listReadReceipts', { room: rooms[3] ?? '' });
    return receipts.find(({ userId }) => userId === 'alice')?.lastDeliveredSeq === 1;
  });
  await inbox.loadMore();
  await agrees(5);
  assert.equal(shown().hasMore, false);

  proxy.cut();
  await send(rooms[0] ?? '');
  await api.call('changeInboxEntry', { room: rooms[1] ?? '', body: { pinned: true, userId: 'alice' } });
  proxy.restore();
  await agrees(5);
  await inbox.mute(rooms[0] ?? '');
  await inbox.hide(rooms[4] ?? '');
  await inbox.unpin(rooms[1] ?? '');
  await agrees(4);
  await eventually(() => shown().badge?.unreadMessages === 1);
  const { id: own } = await send(rooms[3] ?? '', 'alice');
  await eventually(() => shown().badge?.unreadMessages === 0);
  await inbox.markUnread(rooms[3] ?? '', own);
  await eventually(() => shown().badge?.unreadMessages === 1);
  inbox.close();
  await chat.disconnect();
  await proxy.close();
});

test('[INB-30] when the last page is empty, as what was left has moved up, all is loaded: what falls behind is shown and counted', async () => {
  const { api } = kit.project;
  const [userId, rooms] = ['gail', [] as string[]];
  for (let at = 0; at < 3; at++) rooms.push((await kit.conversation([userId, 'bob'])).id);
  const [pinned = '', left = ''] = rooms;
  await api.call('sendMessage', { room: pinned, body: { text: 'x', senderId: 'bob' } });
  for (const room of rooms.slice(1)) await api.call('sendMessage', { room, body: { text: 'x', senderId: userId } });
  await api.call('changeInboxEntry', { room: pinned, body: { pinned: true, userId } });
  const chat = await chatOf(userId);
  const inbox = createInbox(chat, { pageSize: 2 });
  const shown = () => inbox.state.getSnapshot();
  await eventually(() => shown().entries.length === 2 && shown().badge?.unreadMessages === 1);
  await api.call('sendMessage', { room: left, body: { text: 'x', senderId: userId } });
  await eventually(() => shown().entries.length === 3);
  await inbox.loadMore();
  assert.equal(shown().hasMore, false);
  await inbox.unpin(pinned);
  assert.deepEqual(
    shown().entries.map(({ conversation: { id } }) => id),
    [left, rooms[2], pinned],
  );
  await eventually(() => shown().badge?.unreadMessages === 1);
  inbox.close();
  await chat.disconnect();
});

type Fetch = typeof globalThis.fetch;

/** What the client asks for goes through this. */
function throughFetch(t: TestContext, ask: (fetch: Fetch, method: string, ...asked: Parameters<Fetch>) => unknown) {
  const { fetch } = globalThis;
  const asked: Fetch = async (url, options) => (await ask(fetch, options?.method ?? 'GET', url, options)) as Response;
  t.mock.method(globalThis, 'fetch', asked);
}

async function chatOf(userId: string): Promise<Chat> {
  const chat = new Chat({ url: service.url, token: async () => (await kit.user(userId)).token });
  await chat.connect();
  return chat;
}

test('[INB-30] where the first page could not be read, the next connection reads it', async (t) => {
  for (let at = 0; at < 3; at++) await kit.conversation(['carol', 'bob']);
  let reads = 0;
  throughFetch(t, (fetch, _, url, options) => {
    if (String(url).includes('/v1/chat/inbox?') && reads++ === 0) throw new TypeError('no network');
    return fetch(url, options);
  });
  const chat = await chatOf('carol');
  const inbox = createInbox(chat, { pageSize: 1 });
  await eventually(() => assert.equal(inbox.state.getSnapshot().error?.code, 'network'));
  await eventually(() => assert.equal(inbox.state.getSnapshot().badge?.unreadMessages, 0));
  await chat.disconnect();
  await chat.connect();
  await eventually(() => {
    const { entries, hasMore, error } = inbox.state.getSnapshot();
    assert.deepEqual([entries.length, hasMore, error], [1, true, null]);
  });
  inbox.close();
  await chat.disconnect();
});

test('[INB-30] an answer that the socket has overtaken takes nothing back: of an entry, and of the badge', async (t) => {
  const { id: behind } = await kit.conversation(['dave', 'bob']);
  const { id: room } = await kit.conversation(['dave', 'bob']);
  const send = (to: string) => kit.project.api.call('sendMessage', { room: to, body: { text: 'x', senderId: 'bob' } });
  await send(behind);
  await send(room);
  const [badge, change] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let badges = 0;
  throughFetch(t, async (fetch, method, url, options) => {
    const response = await fetch(url, options);
    if (String(url).includes('/v1/chat/inbox/badge') && badges++ === 0) await badge.promise;
    if (method === 'PATCH') await change.promise;
    return response;
  });
  const chat = await chatOf('dave');
  const inbox = createInbox(chat, { pageSize: 1 });
  const shown = () => inbox.state.getSnapshot();
  const unread = () => shown().entries.map(({ unreadCount, pinned }) => [unreadCount, pinned]);
  await eventually(() => assert.equal(badges, 1));
  const pinning = inbox.pin(room);
  await eventually(() => assert.deepEqual(unread(), [[1, true]]));
  await send(room);
  await eventually(() => assert.deepEqual(unread()[0], [2, true]));
  change.resolve();
  await pinning;
  assert.deepEqual(unread()[0], [2, true]);
  // This one the answer has counted as it was.
  await send(behind);
  await inbox.loadMore();
  await eventually(() => assert.deepEqual(unread()[1], [2, false]));
  assert.equal(shown().badge, null);
  badge.resolve();
  await eventually(() => assert.equal(shown().badge?.unreadMessages, 4));
  inbox.close();
  await chat.disconnect();
});

test('[INB-30] an answer takes nothing back that was read on another device meanwhile', async (t) => {
  const { id: room } = await kit.conversation(['erin', 'bob']);
  const { api } = kit.project;
  const { id: messageId } = await api.call('sendMessage', { room, body: { text: 'x', senderId: 'bob' } });
  const change = Promise.withResolvers<void>();
  throughFetch(t, async (fetch, method, url, options) => {
    const response = await fetch(url, options);
    if (method === 'PATCH') await change.promise;
    return response;
  });
  const chat = await chatOf('erin');
  const inbox = createInbox(chat);
  const shown = () => inbox.state.getSnapshot().entries.map(({ unreadCount, pinned }) => [unreadCount, pinned]);
  await eventually(() => assert.deepEqual(shown(), [[1, false]]));
  const pinning = inbox.pin(room);
  await eventually(() => assert.deepEqual(shown(), [[1, true]]));
  await api.call('markRead', { messageId, body: { userId: 'erin' } });
  await eventually(() => assert.deepEqual(shown(), [[0, true]]));
  change.resolve();
  await pinning;
  assert.deepEqual(shown(), [[0, true]]);
  assert.equal(inbox.state.getSnapshot().badge?.unreadMessages, 0);
  inbox.close();
  await chat.disconnect();
});
