import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { MentionsDraft } from '@parley/contract';
import { assertRefused, type ChatOf, createChatKit, refusal, subscribe } from '../../../../testkit/chat/chat.ts';
import { addWebhook, settle } from '../../../../testkit/clients/webhooks.ts';
import { eventually } from '../../../../testkit/kit/eventually.ts';
import type { TestService } from '../../../../testkit/kit/service.ts';
import { sharedService } from '../../../../testkit/kit/shared-service.ts';
import { startReceiver } from '../../../../testkit/peers/receiver.ts';
import { sql } from '../../../core/sql.ts';

let service: TestService;
let chat: ChatOf;
before(async () => {
  service = await sharedService();
  chat = await createChatKit(service);
});

const send = (room: string, mentions: MentionsDraft | null, senderId = 'ann') =>
  chat.project.api.call('sendMessage', { room, body: { text: 'look', senderId, mentions } });

/** Who has a row for the message; an empty name is everybody. */
const rowsOf = async (uuid: string, position?: number): Promise<string[]> =>
  (
    await service.adapters.db.query<{ userId: string; position: number }>(sql`
      select user_id as "userId", position from message_mentions where conversation_id = ${uuid} order by 1, 2`)
  )
    .filter((row) => position === undefined || row.position === position)
    .map(({ userId }) => userId);

const eventsOf = async (room: string): Promise<Record<string, unknown>[]> =>
  (
    await service.adapters.db.query<{ data: Record<string, unknown> }>(sql`
      select data::json as data from events
      where topic = ${`chat/${room}`} and type = 'message.mentioned' order by created_at, id`)
  ).map(({ data }) => data);

test('[MEN-1] a message says whom it mentions, each once; without mentions it is null', async () => {
  const { id: room, uuid } = await chat.conversation(['ann', 'ben', 'cem']);
  const message = await send(room, { users: ['ben', 'cem', 'ben'] });
  const mentions = { users: ['ben', 'cem'], here: false, all: false };
  assert.deepEqual(message.mentions, mentions);
  assert.deepEqual((await chat.project.api.call('getMessage', { messageId: message.id })).mentions, mentions);
  assert.deepEqual(await rowsOf(uuid, message.change), ['ben', 'cem']);
  for (const nobody of [null, {}, { users: [] }, { here: false }])
    assert.equal((await send(room, nobody)).mentions, null);
  const plain = await chat.project.api.call('sendMessage', { room, body: { text: 'plain' } });
  assert.equal(plain.mentions, null);
  assert.deepEqual(await rowsOf(uuid), ['ben', 'cem']);
  const tooMany = Array.from({ length: 51 }, (_, at) => `u${at}`);
  await assertRefused(send(room, { users: tooMany }), 400, 'SVC_VALIDATION_FAILED');
});

test('[MEN-1] sends with and without mentions in one batch keep their own', async () => {
  const { id: room, uuid } = await chat.conversation(['ann', 'ben', 'cem']);
  const sent = await Promise.all(
    Array.from({ length: 12 }, (_, at) => send(room, at % 3 === 0 ? { users: [at % 2 === 0 ? 'ben' : 'cem'] } : null)),
  );
  for (const [at, { mentions, change }] of sent.entries()) {
    const users = at % 3 === 0 ? [at % 2 === 0 ? 'ben' : 'cem'] : [];
    assert.deepEqual([mentions?.users ?? [], await rowsOf(uuid, change)], [users, users]);
  }
});

test('[MEN-2] who never was a member is refused by name; who was removed is left out, and the message is sent', async () => {
  const { api } = chat.project;
  const { id: room, uuid } = await chat.conversation(['ann', 'ben', 'cem']);
  const { status, code, body } = await refusal(send(room, { users: ['ben', 'eve', 'zoe'] }));
  assert.deepEqual([status, code], [400, 'SVC_VALIDATION_FAILED']);
  const details = body['details'] as { field: string; message: string }[];
  assert.deepEqual(
    details.map(({ field, message }) => [field, /: (\w+) /.exec(message)?.[1]]),
    [
      ['mentions.users', 'eve'],
      ['mentions.users', 'zoe'],
    ],
  );
  await api.call('removeConversationMember', { room, userId: 'ben' });
  assert.deepEqual((await send(room, { users: ['ben', 'cem'] })).mentions?.users, ['cem']);
  assert.equal((await send(room, { users: ['ben'] })).mentions, null);
  assert.deepEqual(await rowsOf(uuid), ['cem']);
  assert.equal((await eventsOf(room)).length, 1);
});

test('[MEN-3] here and all need a moderator, but in direct conversations; API keys always may', async () => {
  const { api } = chat.project;
  const { id: room, uuid } = await chat.conversation(['ann', { userId: 'mod', role: 'MODERATOR' }]);
  const as = async (userId: string) => (await chat.user(userId)).api;
  const [ann, mod] = [await as('ann'), await as('mod')];
  const say = (client: typeof ann, to: string, mentions: MentionsDraft) =>
    client.call('sendMessage', { room: to, body: { text: 'all', mentions } });
  for (const mentions of [{ all: true }, { here: true }]) {
    await assertRefused(say(ann, room, mentions), 403, 'SVC_FORBIDDEN');
  }
  const message = await say(mod, room, { all: true });
  assert.deepEqual(message.mentions, { users: [], here: false, all: true });
  assert.deepEqual(await rowsOf(uuid, message.change), ['']);
  const own = await ann.call('sendMessage', { room, body: { text: 'mine' } });
  await assertRefused(
    ann.call('editMessage', { messageId: own.id, body: { mentions: { all: true } } }),
    403,
    'SVC_FORBIDDEN',
  );
  assert.equal((await send(room, { all: true })).mentions?.all, true);
  const direct = await api.call('openDirectConversation', { body: { userIds: ['ann', 'mod'] } });
  assert.equal((await say(ann, direct.id, { all: true })).mentions?.all, true);
});

test('[MEN-4] here is who is present at that moment, but the sender', async () => {
  const { id: room, uuid } = await chat.conversation(['ann', 'ben', 'cem']);
  const ben = await (await chat.user('ben')).connect();
  const ann = await (await chat.user('ann')).connect();
  for (const client of [ann, ben]) await subscribe(client, room);
  await eventually(async () =>
    assert.equal((await chat.project.api.call('listPresence', { room })).length, 2, 'both are present'),
  );
  const message = await send(room, { here: true });
  assert.deepEqual(message.mentions, { users: [], here: true, all: false });
  assert.deepEqual(await rowsOf(uuid, message.change), ['ben']);
  const frame = await ben.take('message');
  assert.deepEqual((frame['message'] as typeof message).mentions, message.mentions);
  assert.partialDeepStrictEqual((await eventsOf(room))[0], { userIds: ['ben'], here: true, all: false });
  const read = await chat.project.api.call('getMessage', { messageId: message.id });
  assert.deepEqual(read.mentions, message.mentions);
  await chat.project.api.call('deleteMessage', { messageId: message.id });
  assert.deepEqual(await rowsOf(uuid), []);
  for (const client of [ann, ben]) client.close();
});

test('[MEN-5] an edit replaces mentions or leaves them; its event names those who are new', async () => {
  const { api } = chat.project;
  const { id: room, uuid } = await chat.conversation(['ann', 'ben', 'cem', 'dia']);
  const { id: messageId, change } = await send(room, { users: ['ben', 'cem'] });
  const edit = (body: object) => api.call('editMessage', { messageId, body });
  assert.deepEqual((await edit({ text: 'better' })).mentions?.users, ['ben', 'cem']);
  assert.deepEqual(await rowsOf(uuid, change), ['ben', 'cem']);
  assert.deepEqual((await edit({ mentions: { users: ['cem', 'dia'] } })).mentions?.users, ['cem', 'dia']);
  assert.deepEqual(await rowsOf(uuid, change), ['cem', 'dia']);
  await assertRefused(edit({ mentions: { users: ['eve'] } }), 400, 'SVC_VALIDATION_FAILED');
  assert.equal((await edit({ mentions: null })).mentions, null);
  assert.deepEqual(await rowsOf(uuid), []);
  assert.deepEqual(
    (await eventsOf(room)).map(({ userIds }) => userIds),
    [['ben', 'cem'], ['dia']],
  );
});

test('[MEN-6] mentions go with their message: deleted, retired or erased', async () => {
  const { api } = chat.project;
  const { id: room, uuid } = await chat.conversation(['ann', 'ben']);
  const deleted = await send(room, { users: ['ben'] });
  await send(room, { all: true, users: ['ben'] });
  await send(room, { users: ['ben'] });
  await api.call('deleteMessage', { messageId: deleted.id });
  const { messages } = await api.call('listMessages', { room, query: { includeDeleted: true } });
  assert.equal(messages.at(-1)?.mentions, null);
  assert.deepEqual(await rowsOf(uuid), ['', 'ben', 'ben']);
  await api.call('updateConversation', { room, body: { retentionDays: 7 } });
  await service.adapters.db.execute(sql`
    update messages set created_at = created_at - interval '8 days' where conversation_id = ${uuid} and seq < 3`);
  await service.service.chat.sweep.retention();
  assert.deepEqual(await rowsOf(uuid), ['ben']);
  await api.call('deleteConversation', { room });
  await service.service.chat.sweep.retention();
  assert.deepEqual(await rowsOf(uuid), []);
});

test('[MEN-7] message.mentioned is stored with the message and reaches an endpoint', async () => {
  const project = await service.newProject();
  const receiver = await startReceiver();
  try {
    await addWebhook(project, { url: receiver.url, events: ['message.mentioned'] });
    const { id: room } = await project.api.call('createConversation', {
      body: { name: 'told', members: ['ann', 'ben'] },
    });
    const body = { text: 'look', senderId: 'ann', mentions: { users: ['ben'] } };
    const { id: messageId, createdAt: at } = await project.api.call('sendMessage', { room, body });
    await settle(service);
    const [request] = await eventually(() => {
      assert.equal(receiver.requests.length, 1);
      return receiver.requests;
    });
    const { type, data } = JSON.parse(String(request?.body));
    assert.deepEqual(
      [type, data],
      [
        'message.mentioned',
        { conversationId: room, messageId, senderId: 'ann', userIds: ['ben'], here: false, all: false, at },
      ],
    );
  } finally {
    await receiver.close();
  }
});

test('[MEN-1] a socket sends and edits mentions as REST does', async () => {
  const { id: room } = await chat.conversation(['ann', 'ben']);
  const ann = await (await chat.user('ann')).connect();
  const mentions = { users: ['ben'] };
  const sent = await ann.ask({ type: 'message.send', conversation: room, text: 'hi', mentions });
  const { message } = sent['data'] as { message: { id: string; mentions: unknown } };
  assert.deepEqual(message.mentions, { users: ['ben'], here: false, all: false });
  const edited = await ann.ask({ type: 'message.edit', messageId: message.id, mentions: null });
  assert.equal((edited['data'] as { message: { mentions: unknown } }).message.mentions, null);
  const refused = await ann.ask({ type: 'message.send', conversation: room, text: 'hi', mentions: { users: ['eve'] } });
  assert.deepEqual([refused.type, refused['svcCode']], ['error', 'SVC_VALIDATION_FAILED']);
  ann.close();
});
