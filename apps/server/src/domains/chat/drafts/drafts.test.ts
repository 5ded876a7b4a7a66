import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { assertRefused, type ChatOf, createChatKit } from '../../../../testkit/chat/chat.ts';
import type { TestService } from '../../../../testkit/kit/service.ts';
import { sharedService } from '../../../../testkit/kit/shared-service.ts';

let service: TestService;
let chat: ChatOf;
before(async () => {
  service = await sharedService();
  chat = await createChatKit(service);
});

test("[DRAFT-1] a draft is its user's own: one a conversation, the last write wins, gone with its deletion", async () => {
  const { id: room } = await chat.conversation();
  const [alice, bob] = [await chat.user('alice'), await chat.user('bob')];
  await assertRefused(alice.api.call('getDraft', { room }), 404, 'SVC_DRAFT_NOT_FOUND');
  const first = await alice.api.call('setDraft', { room, body: { text: 'Hel' } });
  const writes = await Promise.all(
    ['a', 'b', 'c'].map((text) => alice.api.call('setDraft', { room, body: { text, metadata: { n: 1 } } })),
  );
  const last = writes.toSorted((one, other) => other.revision - one.revision)[0];
  assert.ok(new Set(writes.map(({ revision }) => revision)).size === 3 && (last?.revision ?? 0) > first.revision);
  assert.deepEqual(await alice.api.call('getDraft', { room }), last);
  await assertRefused(bob.api.call('getDraft', { room }), 404, 'SVC_DRAFT_NOT_FOUND');
  assert.deepEqual(await bob.api.call('listDrafts'), []);
  assert.equal((await chat.project.api.call('getDraft', { room, query: { userId: 'alice' } })).userId, 'alice');
  await assertRefused(chat.project.api.call('getDraft', { room }), 400, 'SVC_USER_REQUIRED');
  await alice.api.call('deleteDraft', { room });
  await alice.api.call('deleteDraft', { room });
  assert.deepEqual(await alice.api.call('listDrafts'), []);
});

test("[DRAFT-2] the user's other devices get each change, and nobody else does", async () => {
  const { id: room } = await chat.conversation();
  const [alice, bob] = [await chat.user('alice'), await chat.user('bob')];
  const [phone, laptop, other] = [await alice.connect(), await alice.connect(), await bob.connect()];
  const { revision } = await alice.api.call('setDraft', { room, body: { text: 'Hello' } });
  for (const device of [phone, laptop]) {
    const frame = await device.take('draft.updated');
    const draft = frame['draft'] as { text: string; revision: number };
    assert.deepEqual([frame['conversationId'], draft.text, draft.revision], [room, 'Hello', revision]);
  }
  await alice.api.call('deleteDraft', { room });
  assert.equal((await laptop.take('draft.updated'))['draft'], null);
  await bob.api.call('setDraft', { room, body: { text: 'mine' } });
  const heard = await other.take('draft.updated');
  assert.equal(heard['userId'], 'bob', 'the first that bob hears is his own');
  for (const client of [phone, laptop, other]) await client.close();
});

test('[DRAFT-3] drafts are listed last written first, in pages; who left a conversation has none there', async () => {
  const mine = await chat.user('dora');
  const rooms: string[] = [];
  for (let at = 0; at < 3; at++) {
    const { id: room } = await chat.conversation(['dora']);
    await mine.api.call('setDraft', { room, body: { text: `draft ${at}` } });
    rooms.unshift(room);
  }
  const seen: string[] = [];
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const query: object = { limit: 2, ...(cursor ? { cursor } : {}) };
    const { body, headers } = await mine.api.request('listDrafts', { query });
    seen.push(...body.map(({ conversationId }: { conversationId: string }) => conversationId));
    cursor = headers.get('x-next-cursor') ?? undefined;
  }
  assert.deepEqual(seen, rooms);
  const [room = ''] = rooms;
  await chat.project.api.call('removeConversationMember', { room, userId: 'dora' });
  assert.equal((await mine.api.call('listDrafts')).length, 2);
  await assertRefused(mine.api.call('setDraft', { room, body: { text: 'x' } }), 403, 'SVC_NOT_A_MEMBER');
  const left = rooms[1] ?? '';
  await assertRefused(
    mine.api.call('setDraft', { room: left, body: { text: 'x'.repeat(4001) } }),
    400,
    'SVC_TEXT_TOO_LONG',
  );
});
