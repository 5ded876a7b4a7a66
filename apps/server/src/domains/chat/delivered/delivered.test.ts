import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { assertRefused, type ChatOf, createChatKit, subscribe } from '../../../../testkit/chat/chat.ts';
import { sharedService } from '../../../../testkit/kit/shared-service.ts';

let chat: ChatOf;
before(async () => {
  chat = await createChatKit(await sharedService());
});

test('[INB-20] a delivered mark moves forward only, never beyond the last message; what is read was delivered', async () => {
  const { api } = chat.project;
  const { id: room } = await chat.conversation();
  const ids: string[] = [];
  for (let at = 0; at < 4; at++)
    ids.push((await api.call('sendMessage', { room, body: { text: 'x', senderId: 'bob' } })).id);
  const [alice, bob] = [await chat.user('alice'), await chat.user('bob')];
  const receiptOf = async (name: string) =>
    (await api.call('listReadReceipts', { room })).find(({ userId }) => userId === name) ?? assert.fail('no receipt');
  assert.deepEqual([(await receiptOf('alice')).lastDeliveredSeq, (await receiptOf('bob')).lastDeliveredSeq], [null, 4]);

  const [sender, reader] = [await bob.connect(), await alice.connect()];
  await subscribe(sender, room);
  await reader.ask({
    type: 'delivered',
    conversations: [
      { ref: room, seq: 2 },
      { ref: 'nowhere', seq: 1 },
    ],
  });
  const { receipts, conversationId } = await sender.take('delivered');
  assert.deepEqual([conversationId, receipts], [room, [{ userId: 'alice', seq: 2 }]]);
  await Promise.all([1, 3, 2].map((seq) => reader.ask({ type: 'delivered', conversations: [{ ref: room, seq }] })));
  const reached = await receiptOf('alice');
  assert.deepEqual([reached.lastDeliveredSeq, reached.lastReadSeq], [3, null]);
  assert.ok(reached.lastDeliveredAt);
  const capped = await api.call('markDelivered', { room, body: { seq: 99, userId: 'alice' } });
  assert.equal(capped.lastDeliveredSeq, 4);

  const last = await api.call('sendMessage', { room, body: { text: 'x', senderId: 'bob' } });
  await alice.api.call('markRead', { messageId: last.id });
  const read = await receiptOf('alice');
  assert.deepEqual([read.lastDeliveredSeq, read.lastDeliveredAt], [5, read.lastReadAt]);
  await assertRefused(api.call('markDelivered', { room, body: { seq: 1 } }), 400, 'SVC_USER_REQUIRED');
  const stranger = { room, body: { seq: 1, userId: 'stranger' } };
  await assertRefused(api.call('markDelivered', stranger), 403, 'SVC_NOT_A_MEMBER');
  const mute = await (await chat.user('alice', { scopes: ['chat:read'] })).connect();
  const refused = await mute.ask({ type: 'delivered', conversations: [{ ref: room, seq: 1 }] });
  assert.equal(refused['svcCode'], 'SVC_SCOPE_MISSING');
});
