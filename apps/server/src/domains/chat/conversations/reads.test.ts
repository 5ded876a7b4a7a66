import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { assertRefused, type ChatOf, createChatKit, subscribe } from '../../../../testkit/chat/chat.ts';
import { openSocket } from '../../../../testkit/clients/socket-client.ts';
import { startService, type TestService } from '../../../../testkit/kit/service.ts';
import { sharedService } from '../../../../testkit/kit/shared-service.ts';

let service: TestService;
let chat: ChatOf;
before(async () => {
  service = await sharedService();
  chat = await createChatKit(service);
});

async function filled(count: number): Promise<{ room: string; ids: string[] }> {
  const { id: room } = await chat.conversation();
  const ids: string[] = [];
  for (let at = 0; at < count; at++) {
    ids.push((await chat.project.api.call('sendMessage', { room, body: { text: `m${at}`, senderId: 'bob' } })).id);
  }
  return { room, ids };
}

test('[READ-1] unread is exact: what was deleted does not count, what one sends oneself is read', async () => {
  const { room, ids } = await filled(5);
  const alice = await chat.user('alice');
  const state = () => alice.api.call('getReadState', { room });
  assert.deepEqual(await state(), {
    userId: 'alice',
    lastReadMessageId: null,
    lastReadSeq: null,
    lastReadAt: null,
    unreadCount: 5,
    firstUnreadMessageId: ids[0],
  });
  await chat.project.api.call('deleteMessage', { messageId: ids[0] ?? '' });
  await chat.project.api.call('deleteMessage', { messageId: ids[3] ?? '' });
  const before = await state();
  assert.deepEqual([before.unreadCount, before.firstUnreadMessageId], [3, ids[1]]);
  const marked = await alice.api.call('markRead', { messageId: ids[1] ?? '' });
  assert.deepEqual([marked.unreadCount, marked.lastReadSeq, marked.firstUnreadMessageId], [2, 2, ids[2]]);
  const own = await alice.api.call('sendMessage', { room, body: { text: 'mine' } });
  const after = await state();
  assert.deepEqual([after.unreadCount, after.lastReadMessageId, after.firstUnreadMessageId], [0, own.id, null]);
  assert.equal((await alice.api.call('getConversation', { room })).unreadCount, 0);
});

test('[READ-2] a mark never moves back, however many are set at once', async () => {
  const { room, ids } = await filled(12);
  const alice = await chat.user('alice');
  await Promise.all([...ids].map((messageId) => alice.api.call('markRead', { messageId })));
  assert.equal((await alice.api.call('getReadState', { room })).lastReadMessageId, ids.at(-1));
  const back = await alice.api.call('markRead', { messageId: ids[2] ?? '' });
  assert.deepEqual([back.lastReadMessageId, back.unreadCount], [ids.at(-1), 0]);
});

test('[READ-3] an API key names the user; receipts list every active member', async () => {
  const { room, ids } = await filled(2);
  const { api } = chat.project;
  const messageId = ids[0] ?? '';
  await assertRefused(api.call('markRead', { messageId }), 400, 'SVC_USER_REQUIRED');
  await assertRefused(api.call('getReadState', { room }), 400, 'SVC_USER_REQUIRED');
  await assertRefused(api.call('markRead', { messageId, body: { userId: 'stranger' } }), 403, 'SVC_NOT_A_MEMBER');
  await api.call('markRead', { messageId, body: { userId: 'alice' } });
  await api.call('markRead', { messageId, query: { userId: 'alice' } });
  const receipts = await api.call('listReadReceipts', { room });
  assert.deepEqual(
    receipts.map(({ userId, lastReadMessageId, lastReadSeq }) => [userId, lastReadMessageId, lastReadSeq]),
    [
      ['alice', ids[0], 1],
      ['bob', ids[1], 2],
    ],
  );
});

test('[READ-4] marking a message of another conversation follows that conversation, not the URL', async () => {
  const { ids } = await filled(1);
  const stranger = await chat.user('stranger');
  await assertRefused(stranger.api.call('markRead', { messageId: ids[0] ?? '' }), 403, 'SVC_NOT_A_MEMBER');
  const other = await createChatKit(service);
  await assertRefused(
    other.project.api.call('markRead', { messageId: ids[0] ?? '', body: { userId: 'alice' } }),
    404,
    'SVC_MESSAGE_NOT_FOUND',
  );
});

test('[READ-5] a mark whose message between processes was lost is made good after the gap', async () => {
  const { room, ids } = await filled(3);
  let isLost = false;
  const gaps: (() => void)[] = [];
  const beside = await startService({
    beside: service,
    wrap: (adapters) => {
      const { bus } = adapters;
      return {
        ...adapters,
        bus: {
          ...bus,
          subscribe: (topic, listener) => bus.subscribe(topic, (message) => !isLost && listener(message)),
          onGap(listener) {
            gaps.push(listener);
            return bus.onGap(listener);
          },
        },
      };
    },
  });
  const { token, api } = await chat.user('alice');
  const client = await openSocket(`${beside.url}/v1/chat/ws?token=${token}`);
  assert.equal((await subscribe(client, room))['unreadCount'], 3);
  isLost = true;
  await api.call('markRead', { messageId: ids[1] ?? '' });
  for (const tellGap of gaps) tellGap();
  assert.equal((await subscribe(client, room))['unreadCount'], 1);
  await client.close();
  await beside.stop();
});
