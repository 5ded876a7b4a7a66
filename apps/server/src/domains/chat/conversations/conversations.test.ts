import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { before, test } from 'node:test';
import { assertRefused, type ChatOf, createChatKit, refusal } from '../../../../testkit/chat/chat.ts';
import type { TestService } from '../../../../testkit/kit/service.ts';
import { sharedService } from '../../../../testkit/kit/shared-service.ts';

let service: TestService;
let chat: ChatOf;
before(async () => {
  service = await sharedService();
  chat = await createChatKit(service);
});

test('[CONV-1] a conversation is found by conv_ id, uuid and name; a name that looks like an id is refused', async () => {
  const { api } = chat.project;
  const made = await api.call('createConversation', { body: { name: 'by-name', type: 'CHANNEL' } });
  for (const room of [made.id, made.uuid, made.uuid.toUpperCase(), 'by-name']) {
    assert.equal((await api.call('getConversation', { room })).id, made.id);
  }
  for (const name of ['conv_x', 'room_x', randomUUID()]) {
    await assertRefused(api.call('createConversation', { body: { name } }), 400, 'SVC_VALIDATION_FAILED');
  }
  for (const room of ['conv_000000000000000000000000', randomUUID(), 'room_1', 'nobody', '%00', "'; drop table x"]) {
    const answer = await service.fetch(`/v1/chat/conversations/${encodeURIComponent(room)}`, {
      headers: { authorization: `Bearer ${chat.project.apiKey}` },
    });
    assert.ok(answer.status === 404 || answer.status === 400, `${room}: ${answer.status}`);
  }
});

test('[CONV-2] names are unique per project and environment, also under concurrent requests', async () => {
  const { api } = chat.project;
  const tries = await Promise.allSettled(
    Array.from({ length: 20 }, () => api.call('createConversation', { body: { name: 'only-one' } })),
  );
  assert.equal(tries.filter(({ status }) => status === 'fulfilled').length, 1);
  for (const one of tries) {
    if (one.status === 'rejected') assert.equal(one.reason.code, 'SVC_CONVERSATION_NAME_TAKEN');
  }
  const production = service.as(await chat.project.newKey('PRODUCTION'));
  await production.call('createConversation', { body: { name: 'only-one' } });
  const other = await createChatKit(service);
  await other.project.api.call('createConversation', { body: { name: 'only-one' } });
});

test('[CONV-3] another project and the other environment see nothing, and the answer is that of a missing one', async () => {
  const made = await chat.conversation();
  const other = await createChatKit(service);
  const production = service.as(await chat.project.newKey('PRODUCTION'));
  for (const stranger of [other.project.api, production]) {
    for (const room of [made.id, made.uuid, made.name]) {
      await assertRefused(stranger.call('getConversation', { room }), 404, 'SVC_CONVERSATION_NOT_FOUND');
      await assertRefused(
        stranger.call('sendMessage', { room, body: { text: 'x' } }),
        404,
        'SVC_CONVERSATION_NOT_FOUND',
      );
      await assertRefused(stranger.call('listMessages', { room }), 404, 'SVC_CONVERSATION_NOT_FOUND');
    }
  }
});

test('[CONV-4] members may be given as texts or records; the same user twice is one member', async () => {
  const made = await chat.project.api.call('createConversation', {
    body: { name: 'mixed', members: ['a@b.c', { userId: 'auth0|x', role: 'OWNER', metadata: { n: 1 } }, 'a@b.c'] },
  });
  assert.equal(made.memberCount, 2);
  const members = await chat.project.api.call('listConversationMembers', { room: made.id });
  assert.deepEqual(
    members.map(({ userId, role, active, metadata }) => ({ userId, role, active, metadata })),
    [
      { userId: 'auth0|x', role: 'OWNER', active: true, metadata: { n: 1 } },
      { userId: 'a@b.c', role: 'MEMBER', active: true, metadata: {} },
    ],
  );
  const tooMany = Array.from({ length: 1001 }, (_, at) => `u${at}`);
  await assertRefused(
    chat.project.api.call('createConversation', { body: { name: 'crowd', members: tooMany } }),
    400,
    'SVC_VALIDATION_FAILED',
  );
});

test('[CONV-5] metadata is capped in bytes and bounded in depth; bad input stores nothing', async () => {
  const { api } = chat.project;
  const create = (name: string, extra: object) => api.call('createConversation', { body: { name, ...extra } });
  const fat = { metadata: { x: 'é'.repeat(2_100) } };
  await assertRefused(create('fat', fat), 400, 'SVC_METADATA_TOO_LARGE');
  const { id: room } = await chat.conversation(['alice']);
  for (const call of [
    () => api.call('updateConversation', { room, body: fat }),
    () => api.call('addConversationMember', { room, body: { userId: 'bob', ...fat } }),
    () => api.call('changeConversationMember', { room, userId: 'alice', body: fat }),
  ])
    await assertRefused(call(), 400, 'SVC_METADATA_TOO_LARGE');
  let deep: object = {};
  for (let at = 0; at < 40; at++) deep = { deep };
  await assertRefused(create('deep', { metadata: deep }), 400, 'SVC_INVALID_JSON');
  for (const retentionDays of [0, 3651, 1.5, '7']) {
    await assertRefused(create('kept', { retentionDays }), 400, 'SVC_VALIDATION_FAILED');
  }
  for (const type of ['group', 'SECRET']) await assertRefused(create('typed', { type }), 400, 'SVC_VALIDATION_FAILED');
  for (const name of ['', 'a b', 'ü', 'x'.repeat(129)])
    await assertRefused(create(name, {}), 400, 'SVC_VALIDATION_FAILED');
  await assertRefused(create('in-a-room', { roomId: 'room_nowhere' }), 404, 'SVC_ROOM_NOT_FOUND');
  for (const room of ['fat', 'deep', 'kept', 'typed', 'in-a-room']) {
    await assertRefused(api.call('getConversation', { room }), 404, 'SVC_CONVERSATION_NOT_FOUND');
  }
});

test('[CONV-6] archiving is reversible and repeatable; DELETED cannot be set', async () => {
  const { api } = chat.project;
  const { id } = await chat.conversation();
  const update = (body: object) => api.call('updateConversation', { room: id, body });
  const archived = await update({ status: 'ARCHIVED' });
  assert.deepEqual([archived.status, typeof archived.archivedAt], ['ARCHIVED', 'string']);
  assert.equal((await update({ status: 'ARCHIVED' })).archivedAt, archived.archivedAt);
  await assertRefused(api.call('sendMessage', { room: id, body: { text: 'x' } }), 409, 'SVC_CONVERSATION_ARCHIVED');
  await assertRefused(
    api.call('addConversationMember', { room: id, body: { userId: 'new' } }),
    409,
    'SVC_CONVERSATION_ARCHIVED',
  );
  assert.deepEqual((await api.call('listMessages', { room: id })).messages, []);
  await api.call('removeConversationMember', { room: id, userId: 'bob' });
  const active = await update({ status: 'ACTIVE' });
  assert.deepEqual([active.status, active.archivedAt], ['ACTIVE', null]);
  await assertRefused(update({ status: 'DELETED' }), 400, 'SVC_VALIDATION_FAILED');
});

test('[CONV-7] PATCH renames, sets retention and replaces metadata; nothing to change changes nothing', async () => {
  const { api } = chat.project;
  const { id, updatedAt } = await chat.conversation();
  const update = (body: object) => api.call('updateConversation', { room: id, body });
  assert.equal((await update({})).updatedAt, updatedAt);
  const changed = await update({ name: 'renamed', retentionDays: 30, metadata: { a: 1 } });
  assert.deepEqual(
    [changed.name, changed.retentionDays, changed.effectiveRetentionDays, changed.metadata],
    ['renamed', 30, 30, { a: 1 }],
  );
  const cleared = await update({ retentionDays: null, metadata: null });
  assert.deepEqual([cleared.retentionDays, cleared.metadata], [null, {}]);
  const { changes } = await api.call('listChanges', { room: id });
  assert.deepEqual(
    changes.map(({ change, type }) => [change, type]),
    [
      [1, 'conversation.updated'],
      [2, 'conversation.updated'],
    ],
  );
  const other = await chat.conversation();
  await assertRefused(update({ name: other.name }), 409, 'SVC_CONVERSATION_NAME_TAKEN');
});

test('[CONV-8] an erased conversation is gone at once, its name is free and its content follows', async () => {
  const { api } = chat.project;
  const made = await chat.conversation();
  const { id: messageId } = await api.call('sendMessage', { room: made.id, body: { text: 'x', senderId: 'alice' } });
  assert.equal((await api.call('deleteConversation', { room: made.id })).status, 'DELETED');
  await assertRefused(api.call('getConversation', { room: made.id }), 404, 'SVC_CONVERSATION_NOT_FOUND');
  await assertRefused(api.call('getMessage', { messageId }), 404, 'SVC_MESSAGE_NOT_FOUND');
  await assertRefused(
    api.call('sendMessage', { room: made.id, body: { text: 'x' } }),
    404,
    'SVC_CONVERSATION_NOT_FOUND',
  );
  const again = await api.call('createConversation', { body: { name: made.name } });
  assert.notEqual(again.id, made.id);
  await service.service.chat.sweep.retention();
  const alice = await chat.user('alice');
  assert.ok(!(await alice.api.call('listConversations')).some(({ id }) => id === made.id));
});

test('[CONV-9] an API key lists all conversations, a token those its user belongs to; pages do not overlap', async () => {
  const own = await createChatKit(service);
  const made = [];
  for (let at = 0; at < 5; at++) made.push(await own.conversation(at % 2 ? ['zoe'] : ['zoe', 'yan']));
  const newestFirst = made.map(({ id }) => id).reverse();
  const all = await own.project.api.call('listConversations');
  assert.deepEqual(
    all.map(({ id }) => id),
    newestFirst,
  );
  const yan = await own.user('yan');
  assert.equal((await yan.api.call('listConversations')).length, 3);
  const some = await own.user('yan', { conversations: [made[0]?.name ?? ''] });
  assert.deepEqual(
    (await some.api.call('listConversations')).map(({ id }) => id),
    [made[0]?.id],
  );
  const seen: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const query = { limit: 2, ...(cursor === undefined ? {} : { cursor }) };
    const reply = await own.project.api.request('listUserConversations', { userId: 'zoe', query });
    seen.push(...reply.body.map(({ id }) => id));
    cursor = reply.headers.get('x-next-cursor');
  }
  assert.deepEqual(seen, newestFirst);
});

test('[CONV-10] by role: members read, admins rename, owners archive; a token creates nothing and sets no retention', async () => {
  const { id } = await chat.conversation([
    { userId: 'owner', role: 'OWNER' },
    { userId: 'admin', role: 'ADMIN' },
    { userId: 'moderator', role: 'MODERATOR' },
    'member',
  ]);
  const as = async (userId: string) => (await chat.user(userId)).api;
  const [owner, admin, moderator, member] = await Promise.all(['owner', 'admin', 'moderator', 'member'].map(as));
  assert.ok(owner && admin && moderator && member);
  for (const one of [moderator, member]) {
    await assertRefused(one.call('updateConversation', { room: id, body: { name: 'mine' } }), 403, 'SVC_FORBIDDEN');
  }
  assert.equal(
    (await admin.call('updateConversation', { room: id, body: { metadata: { by: 'admin' } } })).myRole,
    'ADMIN',
  );
  await assertRefused(
    admin.call('updateConversation', { room: id, body: { status: 'ARCHIVED' } }),
    403,
    'SVC_FORBIDDEN',
  );
  for (const one of [admin, owner]) {
    await assertRefused(
      one.call('updateConversation', { room: id, body: { name: 'short-lived', retentionDays: 1 } }),
      403,
      'SVC_FORBIDDEN',
    );
  }
  const { name, retentionDays } = await chat.project.api.call('getConversation', { room: id });
  assert.deepEqual([name === 'short-lived', retentionDays], [false, null]);
  assert.equal((await owner.call('updateConversation', { room: id, body: { status: 'ARCHIVED' } })).status, 'ARCHIVED');
  await assertRefused(owner.call('createConversation', { body: { name: 'by-token' } }), 403, 'SVC_SCOPE_MISSING');
  const stranger = await as('stranger');
  await assertRefused(stranger.call('getConversation', { room: id }), 403, 'SVC_NOT_A_MEMBER');
});

test('[CONV-11] a conversation attached to a room is found by the room, once a room; a closed room takes none', async () => {
  const { api } = chat.project;
  const room = await api.call('createRoom', { body: { name: 'meeting' } });
  const made = await api.call('createConversation', {
    body: { name: 'meeting-chat', roomId: room.id, members: ['alice'] },
  });
  assert.deepEqual([made.type, made.roomId], ['ROOM', room.id]);
  assert.equal((await api.call('getConversation', { room: room.id })).id, made.id);
  const sent = await (await chat.user('alice')).api.call('sendMessage', { room: room.id, body: { text: 'hi' } });
  assert.equal(sent.conversationId, made.id);
  assert.equal((await api.call('getRoom', { id: room.id })).conversationId, made.id);
  const second = await refusal(api.call('createConversation', { body: { name: 'another', roomId: room.id } }));
  assert.equal(second.status, 409);

  const closed = await api.call('createRoom', { body: { name: 'over' } });
  await api.call('closeRoom', { id: closed.id });
  await assertRefused(
    api.call('createConversation', { body: { name: 'late', roomId: closed.id } }),
    409,
    'SVC_ROOM_CLOSED',
  );
});
