import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { assertRefused, type ChatOf, createChatKit, subscribe } from '../../../../testkit/chat/chat.ts';
import { eventually } from '../../../../testkit/kit/eventually.ts';
import { startService, type TestService } from '../../../../testkit/kit/service.ts';
import { sharedService } from '../../../../testkit/kit/shared-service.ts';
import { sql } from '../../../core/sql.ts';

let service: TestService;
let chat: ChatOf;
before(async () => {
  service = await sharedService();
  chat = await createChatKit(service);
});

const eventsOf = async (userId: string): Promise<string[]> =>
  (
    await service.adapters.db.query<{ type: string }>(sql`
      select type from events where project_id = ${chat.project.id} and type like 'chat_user.%'
        and coalesce(data::json->'user'->>'userId', data::json->>'userId') = ${userId} order by created_at, id`)
  ).map(({ type }) => type);

test('[USR-1] PUT writes a user as a whole, PATCH what is given; one like before makes no event', async () => {
  const { api } = chat.project;
  const whole = { name: 'Ann', avatarUrl: 'https://pics.example/ann.png', role: 'doctor', metadata: { team: 1 } };
  const made = await api.call('putChatUser', { userId: 'ann', body: whole });
  assert.partialDeepStrictEqual(made, { userId: 'ann', ...whole });
  assert.deepEqual(await api.call('putChatUser', { userId: 'ann', body: whole }), made);
  const changed = await api.call('updateChatUser', { userId: 'ann', body: { name: 'Dr. Ann', role: null } });
  assert.partialDeepStrictEqual(changed, { ...whole, name: 'Dr. Ann', role: null, createdAt: made.createdAt });
  const bare = await api.call('putChatUser', { userId: 'ann', body: { name: 'Ann' } });
  assert.partialDeepStrictEqual(bare, { name: 'Ann', avatarUrl: null, role: null, metadata: {} });
  assert.deepEqual(await api.call('getChatUser', { userId: 'ann' }), bare);
  assert.equal((await eventsOf('ann')).length, 3);
  assert.equal((await api.call('updateChatUser', { userId: 'new', body: { name: 'New' } })).name, 'New');
});

test('[USR-1] names, addresses, roles and metadata are bounded', async () => {
  const { api } = chat.project;
  const bad = [
    { name: '' },
    { name: 'x'.repeat(201) },
    { name: 'two\nlines' },
    { avatarUrl: 'javascript:alert(1)' },
    { avatarUrl: 'ftp://pics.example/a' },
    { avatarUrl: 'https://' },
    { role: 'x'.repeat(65) },
  ];
  for (const body of bad)
    await assertRefused(api.call('putChatUser', { userId: 'bad', body }), 400, 'SVC_VALIDATION_FAILED');
  const metadata = { long: 'x'.repeat(5000) };
  await assertRefused(api.call('putChatUser', { userId: 'bad', body: { metadata } }), 400, 'SVC_METADATA_TOO_LARGE');
  await assertRefused(api.call('putChatUser', { userId: 'no spaces', body: {} }), 400, 'SVC_VALIDATION_FAILED');
});

test('[USR-2] up to 100 at a time, written together or not at all; listed by id in pages', async () => {
  const project = await service.newProject();
  const users = Array.from({ length: 100 }, (_, at) => ({
    userId: `u${String(at).padStart(3, '0')}`,
    name: `U ${at}`,
  }));
  const written = await project.api.call('putChatUsers', { body: { users: users.toReversed() } });
  assert.deepEqual(
    written.map(({ userId }) => userId).reverse(),
    users.map(({ userId }) => userId),
  );
  await assertRefused(
    project.api.call('putChatUsers', { body: { users: [...users, { userId: 'more' }] } }),
    400,
    'SVC_VALIDATION_FAILED',
  );
  const twice = [{ userId: 'twice' }, { userId: 'twice', name: 'Again' }];
  await assertRefused(project.api.call('putChatUsers', { body: { users: twice } }), 400, 'SVC_VALIDATION_FAILED');
  const seen: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const query = { limit: 40, ...(cursor === undefined ? {} : { cursor }) };
    const reply = await project.api.request('listChatUsers', { query });
    seen.push(...reply.body.map(({ userId }) => userId));
    cursor = reply.headers.get('x-next-cursor');
  }
  assert.deepEqual(
    seen,
    users.map(({ userId }) => userId),
  );
  const some = await project.api.call('listChatUsers', { query: { ids: 'u007,none,u003' } });
  assert.deepEqual(
    some.map(({ name }) => name),
    ['U 7', 'U 3'],
  );
});

test('[USR-3] a chat token reads itself and those it shares a conversation with; others do not exist for it', async () => {
  const { api } = chat.project;
  const { id: room } = await chat.conversation(['cem', 'dia', 'eli']);
  const { id: other } = await chat.conversation(['cem', 'fay']);
  await chat.conversation(['gus', 'fay']);
  for (const userId of ['dia', 'gus']) await api.call('putChatUser', { userId, body: { name: userId.toUpperCase() } });
  const cem = (await chat.user('cem')).api;
  assert.equal((await cem.call('getChatUser', { userId: 'dia' })).name, 'DIA');
  // Nobody wrote a record of these.
  assert.partialDeepStrictEqual(await cem.call('getChatUser', { userId: 'eli' }), {
    userId: 'eli',
    name: null,
    createdAt: null,
  });
  assert.equal((await cem.call('getChatUser', { userId: 'cem' })).userId, 'cem');
  for (const userId of ['gus', 'nobody'])
    await assertRefused(cem.call('getChatUser', { userId }), 404, 'SVC_USER_NOT_FOUND');
  const ids = async (client: typeof cem, names: string) =>
    (await client.call('listChatUsers', { query: { ids: names } })).map(({ userId }) => userId);
  assert.deepEqual(await ids(cem, 'gus,dia,nobody,fay,cem'), ['dia', 'fay', 'cem']);
  assert.deepEqual(
    (await cem.call('listChatUsers')).map(({ userId }) => userId),
    ['cem'],
  );
  await assertRefused(cem.call('putChatUser', { userId: 'cem', body: {} }), 403, 'SVC_WRONG_CREDENTIAL_TYPE');
  const narrow = (await chat.user('cem', { conversations: [room] })).api;
  assert.deepEqual(await ids(narrow, 'dia,fay'), ['dia']);
  await api.call('removeConversationMember', { room: other, userId: 'fay' });
  assert.deepEqual(await ids(cem, 'fay'), []);
  // A key sees anyone who has a record or is in a conversation.
  assert.deepEqual(await ids(api, 'gus,eli,nobody'), ['gus', 'eli']);
  await assertRefused(api.call('getChatUser', { userId: 'nobody' }), 404, 'SVC_USER_NOT_FOUND');
});

test('[USR-4] a change reaches those who subscribe to a conversation with the user, once each, on every process', async () => {
  const beside = await startService({ beside: service });
  try {
    const [one, two] = [await chat.conversation(['hal', 'ida', 'jan']), await chat.conversation(['hal', 'ida'])];
    const { id: apart } = await chat.conversation(['jan', 'kim']);
    const open = async (userId: string) => (await chat.user(userId)).connect();
    const [ida, jan, kim] = [await open('ida'), await open('jan'), await open('kim')];
    for (const { id } of [one, two]) await subscribe(ida, id);
    await subscribe(jan, one.id);
    await subscribe(kim, apart);
    const key = beside.as(chat.project.apiKey);
    await key.call('putChatUser', { userId: 'hal', body: { name: 'Hal' } });
    for (const client of [ida, jan]) {
      const { user } = await client.take('user.updated');
      assert.partialDeepStrictEqual(user, { userId: 'hal', name: 'Hal' });
    }
    await key.call('deleteChatUser', { userId: 'hal' });
    assert.partialDeepStrictEqual((await ida.take('user.updated'))['user'], { userId: 'hal', name: null });
    await eventually(async () => assert.deepEqual(await eventsOf('hal'), ['chat_user.updated', 'chat_user.deleted']));
    const heard = (client: typeof ida): number => client.frames.filter(({ type }) => type === 'user.updated').length;
    assert.deepEqual([heard(ida), heard(kim)], [2, 0]);
    for (const client of [ida, jan, kim]) client.close();
  } finally {
    await beside.stop();
  }
});

test('[USR-5] deleting removes the record alone', async () => {
  const { api } = chat.project;
  const { id: room } = await chat.conversation(['lea']);
  await api.call('putChatUser', { userId: 'lea', body: { name: 'Lea', metadata: { born: 1990 } } });
  assert.equal((await api.request('deleteChatUser', { userId: 'lea' })).status, 204);
  const nothing = { userId: 'lea', name: null, metadata: {}, createdAt: null };
  assert.partialDeepStrictEqual(await api.call('getChatUser', { userId: 'lea' }), nothing);
  await assertRefused(api.call('deleteChatUser', { userId: 'lea' }), 404, 'SVC_USER_NOT_FOUND');
  assert.equal((await api.call('listConversationMembers', { room })).length, 1);
});

test('[USR-6] records count against CHAT_MAX_USERS, exactly; a deleted one makes room', async () => {
  const bounded = await startService({ beside: service, env: { CHAT_MAX_USERS: '3' } });
  try {
    const { api } = await bounded.newProject();
    const put = (userId: string) => api.call('putChatUser', { userId, body: { name: userId } });
    const outcomes = await Promise.allSettled(['a', 'b', 'c', 'd', 'e', 'a'].map(put));
    const stored = await api.call('listChatUsers');
    assert.equal(stored.length, 3);
    const refused = outcomes.filter(({ status }) => status === 'rejected').length;
    assert.ok(refused >= 2 && refused <= 3, `${refused} were refused`);
    await assertRefused(put('more'), 403, 'SVC_QUOTA_EXCEEDED');
    const two = [{ userId: 'x' }, { userId: 'y' }];
    await api.call('deleteChatUser', { userId: stored[0]?.userId ?? '' });
    await assertRefused(api.call('putChatUsers', { body: { users: two } }), 403, 'SVC_QUOTA_EXCEEDED');
    assert.equal((await api.call('listChatUsers')).length, 2);
    await put('more');
  } finally {
    await bounded.stop();
  }
});
