import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ChatOf, createChatKit } from '../../../../apps/server/testkit/chat/chat.ts';
import { eventually } from '../../../../apps/server/testkit/kit/eventually.ts';
import { startService, type TestService } from '../../../../apps/server/testkit/kit/service.ts';
import { startTcpProxy } from '../../../../apps/server/testkit/peers/tcp-proxy.ts';
import { createDrafts } from '../drafts/index.ts';
import { createBlocks, reportMessage } from '../moderation/index.ts';
import { createPins } from '../pins/index.ts';
import { createScheduled } from '../scheduled/index.ts';
import { createSearch, highlight } from '../search/index.ts';
import { Chat } from './index.ts';

let service: TestService;
let kit: ChatOf;
before(async () => {
  service = await startService({ env: { CHAT_CONNECT_RATE_LIMIT: '1000', CHAT_SEND_RATE_LIMIT: '1000' } });
  kit = await createChatKit(service);
});
after(() => service.stop());

async function chatOf(userId: string, url = service.url): Promise<Chat> {
  const chat = new Chat({ url, token: async () => (await kit.user(userId)).token });
  await chat.connect();
  return chat;
}

test('[SDK-137] a search box shows what was asked for last, in pages, with what matched', async () => {
  const { api } = kit.project;
  const { id: room } = await kit.conversation(['sea', 'bob']);
  for (let at = 1; at <= 5; at++)
    await api.call('sendMessage', { room, body: { text: `The harbour ${at} is open`, senderId: 'bob' } });
  await api.call('sendMessage', { room, body: { text: 'Nothing here', senderId: 'bob' } });
  const chat = await chatOf('sea');
  const search = createSearch(chat, { delayMs: 0, pageSize: 3 });
  const shown = () => search.state.getSnapshot();
  search.find('nothing');
  search.find('harb');
  search.find(' harbour ', { conversation: room, sort: 'newest' });
  assert.equal(shown().isLoading, true);
  await eventually(() =>
    assert.deepEqual([shown().query, shown().results.length, shown().isLoading], ['harbour', 3, false]),
  );
  assert.ok(shown().hasMore);
  await search.loadMore();
  assert.deepEqual(
    shown().results.map(({ message }) => message.text),
    [5, 4, 3, 2, 1].map((at) => `The harbour ${at} is open`),
  );
  const [first] = shown().results;
  assert.deepEqual(first && highlight(first), [
    { text: 'The ', isMatch: false },
    { text: 'harbour', isMatch: true },
    { text: ' 5 is open', isMatch: false },
  ]);
  search.find('harbour', { conversation: 'conv_nowhere' });
  await eventually(() => assert.equal(shown().error?.code, 'SVC_CONVERSATION_NOT_FOUND'));
  search.find('  ');
  assert.deepEqual([shown().results, shown().error, shown().isLoading], [[], null, false]);
  search.close();
  await chat.disconnect();
});

test('[SDK-138] drafts are the same on all devices: the last word wins, live and after a lost connection', async () => {
  const { id: room } = await kit.conversation(['dora', 'bob']);
  const proxy = await startTcpProxy(service.url);
  const [phone, laptop] = [await chatOf('dora', proxy.url), await chatOf('dora')];
  const [here, there] = [createDrafts(phone, { delayMs: 1 }), createDrafts(laptop, { delayMs: 1 })];
  const text = (drafts: typeof here): string | undefined => drafts.state.getSnapshot().texts.get(room);
  here.set(room, 'Hel');
  assert.equal(text(here), 'Hel', 'shown at once');
  here.set(room, 'Hello');
  await eventually(() => assert.equal(text(there), 'Hello'));
  await eventually(() => assert.equal(here.state.getSnapshot().isSaving, false));
  there.set(room, 'Hello you');
  await eventually(() => assert.equal(text(here), 'Hello you'));

  proxy.cut();
  there.set(room, 'Written while the phone was away');
  await there.flush();
  proxy.mend();
  await eventually(() => assert.equal(text(here), 'Written while the phone was away'), { withinMs: 30_000 });
  here.set(room, '');
  assert.equal(text(here), undefined);
  await here.flush();
  await eventually(() => assert.equal(text(there), undefined));
  assert.deepEqual(await kit.project.api.call('listDrafts', { query: { userId: 'dora' } }), []);
  for (const drafts of [here, there]) drafts.close();
  for (const chat of [phone, laptop]) await chat.disconnect();
  await proxy.close();
});

test('[SDK-139] blocks are the same on all devices, and a message is reported once', async () => {
  const { id: room } = await kit.conversation(['ida', 'eve']);
  const proxy = await startTcpProxy(service.url);
  const [phone, laptop] = [await chatOf('ida', proxy.url), await chatOf('ida')];
  const [here, there] = [createBlocks(phone), createBlocks(laptop)];
  await eventually(() => assert.deepEqual([...(here.state.getSnapshot().blocked ?? ['?'])], []));
  await there.block('eve');
  assert.ok(there.has('eve'));
  await eventually(() => assert.ok(here.has('eve')));
  proxy.cut();
  await there.unblock('eve');
  await there.block('mallory');
  proxy.mend();
  await eventually(() => assert.deepEqual([...(here.state.getSnapshot().blocked ?? [])], ['mallory']), {
    withinMs: 30_000,
  });
  const { id } = await kit.project.api.call('sendMessage', { room, body: { text: 'buy', senderId: 'eve' } });
  const report = await reportMessage(phone, id, { reason: 'spam', note: 'Again.' });
  assert.equal((await reportMessage(phone, id, { reason: 'spam' })).id, report.id);
  await assert.rejects(reportMessage(phone, 'msg_none', { reason: 'other' }), { code: 'SVC_MESSAGE_NOT_FOUND' });
  for (const blocks of [here, there]) blocks.close();
  for (const chat of [phone, laptop]) await chat.disconnect();
  await proxy.close();
});

test('[SDK-139] who was blocked while the list is on its way is blocked at once', async (t) => {
  const chat = await chatOf('hal');
  const list = Promise.withResolvers<void>();
  const { fetch } = globalThis;
  t.mock.method(globalThis, 'fetch', async (...[url, options]: Parameters<typeof fetch>) => {
    const response = await fetch(url, options);
    if (String(url).includes('/v1/chat/blocks?')) await list.promise;
    return response;
  });
  const blocks = createBlocks(chat);
  await blocks.block('eve');
  assert.deepEqual([blocks.has('eve'), blocks.state.getSnapshot().blocked], [true, null]);
  list.resolve();
  await eventually(() => assert.deepEqual([...(blocks.state.getSnapshot().blocked ?? [])], ['eve']));
  assert.ok(blocks.has('eve'));
  blocks.close();
  await chat.disconnect();
});

test('[SDK-140] pins follow their conversation; messages are scheduled, changed and cancelled', async () => {
  const { api } = kit.project;
  const { id: room } = await kit.conversation([{ userId: 'mod', role: 'MODERATOR' }, 'bob']);
  const [mod, bob] = [await chatOf('mod'), await chatOf('bob')];
  await bob.join(room);
  const [pins, seen] = [createPins(mod, room), createPins(bob, room)];
  const texts = () => seen.state.getSnapshot().pins.map(({ message }) => message.text);
  const { id: first } = await api.call('sendMessage', { room, body: { text: 'one', senderId: 'bob' } });
  const { id: second } = await api.call('sendMessage', { room, body: { text: 'two', senderId: 'bob' } });
  await pins.pin(first);
  await pins.pin(second);
  assert.equal(pins.state.getSnapshot().pins.length, 2);
  await eventually(() => assert.deepEqual(texts(), ['two', 'one']));
  await api.call('editMessage', { messageId: first, body: { text: 'ONE' } });
  await eventually(() => assert.deepEqual(texts(), ['two', 'ONE']));
  await pins.unpin(second);
  await eventually(() => assert.deepEqual(texts(), ['ONE']));
  await assert.rejects(seen.pin(second), { code: 'SVC_FORBIDDEN' });

  const scheduled = createScheduled(bob);
  const sendAt = new Date(Date.now() + 3_600_000);
  const made = await scheduled.create(room, { text: 'later', sendAt });
  const later = new Date(sendAt.getTime() + 60_000);
  const changed = await scheduled.update(made.id, { text: 'even later', sendAt: later });
  assert.deepEqual([changed.draft['text'], Date.parse(changed.sendAt)], ['even later', later.getTime()]);
  assert.deepEqual((await scheduled.list(room)).items, [changed]);
  await scheduled.cancel(made.id);
  assert.deepEqual((await scheduled.list(room)).items, []);
  for (const part of [pins, seen]) part.close();
  for (const chat of [mod, bob]) await chat.disconnect();
});
