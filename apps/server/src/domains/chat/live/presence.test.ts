import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { assertRefused, type ChatOf, createChatKit, subscribe } from '../../../../testkit/chat/chat.ts';
import { eventually } from '../../../../testkit/kit/eventually.ts';
import { startService, type TestService } from '../../../../testkit/kit/service.ts';
import { SharedStateUnavailable } from '../../../core/ports.ts';

let service: TestService;
let chat: ChatOf;
before(async () => {
  service = await startService({ env: { CHAT_CONNECT_RATE_LIMIT: '100000', CHAT_TYPING_TTL_SECONDS: '60' } });
  chat = await createChatKit(service);
});
after(() => service.stop());

test('[PRES-1] a user comes with the first connection and goes with the last; status is shown', async () => {
  const { id } = await chat.conversation();
  const watcher = await (await chat.user('bob')).connect();
  await subscribe(watcher, id, { presence: false });
  const alice = await chat.user('alice');
  const [one, two] = [await alice.connect(), await alice.connect()];
  await subscribe(one, id);
  assert.equal((await watcher.take('presence'))['event'], 'enter');
  await subscribe(two, id);
  const present = () => chat.project.api.call('listPresence', { room: id });
  await eventually(async () => (await present())[0]?.connections === 2);
  await one.ask({ type: 'presence', status: 'AWAY' });
  const update = await watcher.take('presence');
  assert.deepEqual([update['event'], update['status']], ['update', 'ONLINE']);
  assert.deepEqual(
    (await present()).map(({ userId, status }) => [userId, status]),
    [['alice', 'ONLINE']],
  );
  await one.close();
  await eventually(async () => (await present())[0]?.connections === 1);
  await two.close();
  const leave = await watcher.take('presence');
  assert.deepEqual([leave['userId'], leave['event'], leave['status']], ['alice', 'leave', 'OFFLINE']);
  assert.deepEqual(await present(), []);
  assert.equal(watcher.frames.filter(({ type }) => type === 'presence').length, 3);
  await watcher.close();
});

test('[PRES-1] presence events of a user with several tabs match the list', async () => {
  const { id } = await chat.conversation();
  const watcher = await (await chat.user('bob')).connect();
  await subscribe(watcher, id, { presence: false });
  const alice = await chat.user('alice');
  const nextEvent = async () => {
    const { event, status } = await watcher.take('presence');
    const [listed] = await chat.project.api.call('listPresence', { room: id });
    assert.equal(listed?.status ?? 'OFFLINE', status);
    return [event, status];
  };
  const [one, two] = [await alice.connect(), await alice.connect()];
  await subscribe(one, id);
  assert.deepEqual(await nextEvent(), ['enter', 'ONLINE']);
  await one.ask({ type: 'presence', status: 'AWAY' });
  assert.deepEqual(await nextEvent(), ['update', 'AWAY']);
  await subscribe(two, id);
  assert.deepEqual(await nextEvent(), ['update', 'ONLINE']);
  await two.close();
  assert.deepEqual(await nextEvent(), ['update', 'AWAY']);
  await one.close();
  assert.deepEqual(await nextEvent(), ['leave', 'OFFLINE']);
  assert.equal(watcher.frames.filter(({ type }) => type === 'presence').length, 5);
  await watcher.close();
});

test('[PRES-4] a subscription without presence, or a token without its scope, ends it', async () => {
  const { id } = await chat.conversation();
  const watcher = await (await chat.user('bob')).connect();
  await subscribe(watcher, id, { presence: false });
  const client = await (await chat.user('alice')).connect();
  const nextEvent = async () => (await watcher.take('presence'))['event'];
  const present = () => chat.project.api.call('listPresence', { room: id });

  await subscribe(client, id);
  assert.equal(await nextEvent(), 'enter');
  await subscribe(client, id, { presence: false });
  assert.equal(await nextEvent(), 'leave');
  assert.deepEqual(await present(), []);

  await subscribe(client, id);
  assert.equal(await nextEvent(), 'enter');
  const { token } = await chat.user('alice', { scopes: ['chat:read'] });
  assert.equal((await client.ask({ type: 'token.refresh', token })).type, 'ack');
  assert.equal(await nextEvent(), 'leave');
  assert.deepEqual(await present(), []);
  await chat.project.api.call('sendMessage', { room: id, body: { text: 'still received', senderId: 'bob' } });
  await client.take('message');
  await client.close();
  assert.equal(watcher.frames.filter(({ type }) => type === 'presence').length, 4, 'published once');
  await watcher.close();
});

test('[PRES-5] who is present and who types is listed by user id and in pages', async () => {
  const { id } = await chat.conversation(['cleo', 'alice', 'bob']);
  const clients = await Promise.all(['cleo', 'alice', 'bob'].map(async (name) => (await chat.user(name)).connect()));
  for (const client of clients) {
    await subscribe(client, id);
    await client.ask({ type: 'typing', conversation: id, typing: true });
  }
  await eventually(async () =>
    assert.equal((await chat.project.api.call('listPresence', { room: id })).length, clients.length),
  );
  for (const route of ['listPresence', 'listTyping'] as const) {
    const ask = (query: object) => chat.project.api.request(route, { room: id, query });
    const first = await ask({ limit: 2 });
    const cursor = first.headers.get('x-next-cursor') ?? assert.fail('no next page');
    const rest = await ask({ limit: 2, cursor });
    assert.deepEqual(
      [first, rest].map(({ body }) => body.map(({ userId }) => userId)),
      [['alice', 'bob'], ['cleo']],
    );
    assert.equal(rest.headers.get('x-next-cursor'), null);
    await assertRefused(ask({ cursor: `${cursor}x` }), 400, 'SVC_INVALID_CURSOR');
    await assertRefused(ask({ limit: 201 }), 400, 'SVC_VALIDATION_FAILED');
  }
  await Promise.all(clients.map((client) => client.close()));
});

test('[TYP-1] typing is sent to the others and listed until it ends', async () => {
  const { id } = await chat.conversation();
  const [alice, bob] = [await (await chat.user('alice')).connect(), await (await chat.user('bob')).connect()];
  await subscribe(alice, id);
  await subscribe(bob, id);
  await alice.ask({ type: 'typing', conversation: id, typing: true });
  const typing = await bob.take('typing');
  assert.deepEqual([typing['userId'], typing['typing']], ['alice', true]);
  const [listed] = await chat.project.api.call('listTyping', { room: id });
  await alice.ask({ type: 'typing', conversation: id, typing: true });
  const [repeated] = await chat.project.api.call('listTyping', { room: id });
  assert.deepEqual([listed?.userId, repeated?.startedAt], ['alice', listed?.startedAt]);
  await alice.ask({ type: 'typing', conversation: id, typing: false });
  assert.equal((await bob.take('typing', (frame) => frame['typing'] === false))['userId'], 'alice');
  assert.deepEqual(await chat.project.api.call('listTyping', { room: id }), []);
  assert.ok(!alice.frames.some(({ type }) => type === 'typing'));
  await Promise.all([alice.close(), bob.close()]);
});

test('[STA-2] without the shared store presence and typing are refused, on the socket as over REST', async () => {
  let isAway = false;
  const own = await startService({
    wrap: (adapters) => {
      const { expiringSets } = adapters;
      const unlessAway =
        <Args extends unknown[], Result>(work: (...args: Args) => Promise<Result>) =>
        async (...args: Args): Promise<Result> => {
          if (isAway) throw new SharedStateUnavailable();
          return work(...args);
        };
      const [touch, members] = [unlessAway(expiringSets.touch), unlessAway(expiringSets.members)];
      return { ...adapters, expiringSets: { ...expiringSets, touch, members } };
    },
  });
  const { conversation, user, project } = await createChatKit(own);
  const { id } = await conversation();
  const client = await (await user('alice')).connect();
  await subscribe(client, id);
  isAway = true;
  for (const frame of [
    { type: 'presence', status: 'AWAY' },
    { type: 'typing', conversation: id, typing: true },
  ]) {
    const answer = await client.ask(frame);
    assert.deepEqual([answer.type, answer['code']], ['error', 'SERVICE_UNAVAILABLE'], frame.type);
  }
  await assertRefused(project.api.call('listPresence', { room: id }), 503, 'SVC_SERVICE_UNAVAILABLE');
  isAway = false;
  assert.equal((await client.ask({ type: 'presence', status: 'AWAY' })).type, 'ack');
  await client.close();
  await own.stop();
});
