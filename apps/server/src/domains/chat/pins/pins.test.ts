import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { pinsMax } from '@parley/contract';
import { assertRefused, type ChatOf, createChatKit, subscribe } from '../../../../testkit/chat/chat.ts';
import type { TestService } from '../../../../testkit/kit/service.ts';
import { sharedService } from '../../../../testkit/kit/shared-service.ts';

let service: TestService;
let chat: ChatOf;
before(async () => {
  service = await sharedService();
  chat = await createChatKit(service);
});

const say = async (room: string, text = 'x'): Promise<string> =>
  (await chat.project.api.call('sendMessage', { room, body: { text, senderId: 'bob' } })).id;
const pinnedIn = async (room: string): Promise<string[]> =>
  (await chat.project.api.call('listPins', { room })).map(({ messageId }) => messageId);

test('[PINS-1] a moderator pins, in a direct conversation any member; pinning twice changes nothing', async () => {
  const { id: room } = await chat.conversation([{ userId: 'mo', role: 'MODERATOR' }, 'bob']);
  const [mo, bob] = [await chat.user('mo'), await chat.user('bob')];
  const [first, second] = [await say(room, 'first'), await say(room, 'second')];
  await assertRefused(bob.api.call('pinMessage', { messageId: first }), 403, 'SVC_FORBIDDEN');
  const pin = await mo.api.call('pinMessage', { messageId: first });
  assert.deepEqual([pin.pinnedBy, pin.message.text, pin.conversationId], ['mo', 'first', room]);
  await mo.api.call('pinMessage', { messageId: second });
  const again = await chat.project.api.call('pinMessage', { messageId: first });
  assert.deepEqual([again.pinnedBy, again.pinnedAt], ['mo', pin.pinnedAt]);
  assert.deepEqual(await pinnedIn(room), [second, first]);
  await assertRefused(bob.api.call('unpinMessage', { messageId: first }), 403, 'SVC_FORBIDDEN');
  await mo.api.call('unpinMessage', { messageId: first });
  await mo.api.call('unpinMessage', { messageId: first });
  assert.deepEqual(
    (await bob.api.call('listPins', { room })).map(({ messageId }) => messageId),
    [second],
  );
  const direct = await chat.project.api.call('openDirectConversation', { body: { userIds: ['bob', 'ann'] } });
  const messageId = await say(direct.id);
  assert.equal((await bob.api.call('pinMessage', { messageId })).pinnedBy, 'bob');
  await assertRefused((await chat.user('eve')).api.call('pinMessage', { messageId }), 403, 'SVC_NOT_A_MEMBER');
  await assertRefused(mo.api.call('listPins', { room: direct.id }), 403, 'SVC_NOT_A_MEMBER');
});

test('[PINS-2] subscribers and those who catch up get each pin as a numbered change; a deletion takes the pin', async () => {
  const { id: room } = await chat.conversation();
  const client = await (await chat.user('alice')).connect();
  const messageId = await say(room);
  await subscribe(client, room);
  await chat.project.api.call('pinMessage', { messageId, query: { userId: 'alice' } });
  const frame = await client.take('message.pinned');
  assert.deepEqual([frame['messageId'], frame['userId'], frame['change']], [messageId, 'alice', 2]);
  await chat.project.api.call('unpinMessage', { messageId });
  assert.equal((await client.take('message.unpinned'))['userId'], 'server');
  await chat.project.api.call('pinMessage', { messageId });
  await client.take('message.pinned');
  const { changes } = await chat.project.api.call('listChanges', { room });
  const { ts: _ts, ...shown } = frame;
  assert.deepEqual(
    changes.map(({ type }) => type),
    ['message', 'message.pinned', 'message.unpinned', 'message.pinned'],
  );
  assert.deepEqual({ ...changes[1] }, shown);
  await chat.project.api.call('deleteMessage', { messageId });
  assert.deepEqual(await pinnedIn(room), []);
  await assertRefused(chat.project.api.call('pinMessage', { messageId }), 404, 'SVC_MESSAGE_NOT_FOUND');
  await client.close();
});

test('[PINS-3] a conversation has 50 pins at most, also when they are set at once', async () => {
  const { id: room } = await chat.conversation();
  const ids = await Promise.all(Array.from({ length: pinsMax + 5 }, () => say(room)));
  const asked = await Promise.allSettled(ids.map((messageId) => chat.project.api.call('pinMessage', { messageId })));
  assert.equal(asked.filter(({ status }) => status === 'fulfilled').length, pinsMax);
  const left = ids[asked.findIndex(({ status }) => status === 'rejected')] ?? '';
  await assertRefused(chat.project.api.call('pinMessage', { messageId: left }), 409, 'SVC_PIN_LIMIT');
  assert.equal((await pinnedIn(room)).length, pinsMax);
});
