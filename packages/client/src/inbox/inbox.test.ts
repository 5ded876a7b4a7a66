import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
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
  proxy.mend();
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
  const { id: room } = await kit.conversation(['dave', 'bob']);
  const [badge, change] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let badges = 0;
  throughFetch(t, async (fetch, method, url, options) => {
    const response = await fetch(url, options);
    if (String(url).endsWith('/v1/chat/inbox/badge') && badges++ === 0) await badge.promise;
    if (method === 'PATCH') await change.promise;
    return response;
  });
  const chat = await chatOf('dave');
  const inbox = createInbox(chat);
  const shown = () => inbox.state.getSnapshot();
  const unread = () => shown().entries.map(({ unreadCount, pinned }) => [unreadCount, pinned]);
  await eventually(() => assert.equal(badges, 1));
  const pinning = inbox.pin(room);
  await eventually(() => assert.deepEqual(unread(), [[0, true]]));
  await kit.project.api.call('sendMessage', { room, body: { text: 'x', senderId: 'bob' } });
  await eventually(() => assert.deepEqual(unread(), [[1, true]]));
  change.resolve();
  await pinning;
  assert.deepEqual(unread(), [[1, true]]);
  // Long enough for a second badge to be asked for, were the first not waited for.
  await pause(1_000);
  badge.resolve();
  await eventually(() => assert.equal(shown().badge?.unreadMessages, 1));
  inbox.close();
  await chat.disconnect();
});
