import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
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
import { createPart } from './part.ts';

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

/** Answers to what matches are held back, each until it is released. */
function holdAnswers(t: TestContext, wanted: (method: string, url: string) => boolean): (() => void)[] {
  const held: (() => void)[] = [];
  const { fetch } = globalThis;
  t.mock.method(globalThis, 'fetch', async (...[url, options]: Parameters<typeof fetch>) => {
    const response = await fetch(url, options);
    if (wanted(options?.method ?? 'GET', String(url))) await new Promise<void>((resolve) => held.push(resolve));
    return response;
  });
  return held;
}

async function reconnect(chat: Chat): Promise<void> {
  await chat.disconnect();
  await chat.connect();
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
  proxy.restore();
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
  proxy.restore();
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

test('[SDK-139] who was blocked while the list is on its way is blocked at once, whatever connections come in between', async (t) => {
  const chat = await chatOf('hal');
  const held = holdAnswers(t, (_, url) => url.includes('/v1/chat/blocks?'));
  const blocks = createBlocks(chat);
  const listed = () => [...(blocks.state.getSnapshot().blocked ?? ['unknown'])];
  await eventually(() => assert.equal(held.length, 1));
  await blocks.block('eve');
  assert.deepEqual([blocks.has('eve'), listed()], [true, ['unknown']]);
  await reconnect(chat);
  assert.ok(blocks.has('eve'));
  await eventually(() => assert.equal(held.length, 2));
  await blocks.block('mallory');
  held[0]?.();
  await blocks.unblock('eve');
  held[1]?.();
  await eventually(() => assert.deepEqual(listed(), ['mallory']));
  blocks.close();
  await chat.disconnect();
});

test('[SDK-139] who is blocked without a connection is blocked', async () => {
  const chat = new Chat({ url: service.url, token: async () => (await kit.user('una')).token });
  const blocks = createBlocks(chat);
  await blocks.block('eve');
  assert.ok(blocks.has('eve'));
  blocks.close();
});

test('[SDK-138] drafts: a list that a later connection has overtaken, and answers that frames have overtaken, change nothing', async (t) => {
  const { id: room } = await kit.conversation(['dan', 'bob']);
  const { api } = await kit.user('dan');
  const chat = await chatOf('dan');
  const lists = holdAnswers(t, (_, url) => url.includes('/v1/chat/drafts?'));
  const drafts = createDrafts(chat, { delayMs: 1 });
  const text = (): string | undefined => drafts.state.getSnapshot().texts.get(room);
  await eventually(() => assert.equal(lists.length, 1));
  await reconnect(chat);
  await eventually(() => assert.equal(lists.length, 2));
  lists[0]?.();
  await api.call('setDraft', { room, body: { text: 'elsewhere' } });
  await eventually(() => assert.equal(text(), 'elsewhere'));
  lists[1]?.();
  await eventually(() => assert.equal(drafts.state.getSnapshot().error, null));

  const heard: (string | undefined)[] = [];
  const part = createPart(chat, () => {});
  part.onFrame((frame) => frame.type === 'draft.updated' && heard.push(frame.draft?.text));
  const saved = () => eventually(() => assert.equal(drafts.state.getSnapshot().isSaving, false));
  const answers = holdAnswers(t, (method, url) => method !== 'GET' && url.endsWith('/draft'));
  drafts.set(room, 'mine');
  await eventually(() => assert.deepEqual([heard, answers.length], [['mine'], 1]));
  await api.call('deleteDraft', { room });
  await eventually(() => assert.deepEqual(heard, ['mine', undefined]));
  answers[0]?.();
  await saved();
  assert.equal(text(), undefined, 'sent from another device, and gone');

  drafts.set(room, 'again');
  await eventually(() => assert.equal(answers.length, 2));
  answers[1]?.();
  await saved();
  drafts.set(room, '');
  await eventually(() => assert.deepEqual([heard.at(-1), answers.length], [undefined, 3]));
  await api.call('setDraft', { room, body: { text: 'after that' } });
  await eventually(() => assert.equal(heard.at(-1), 'after that'));
  answers[2]?.();
  await saved();
  assert.equal(text(), 'after that');
  for (const one of [drafts, part]) one.close();
  await chat.disconnect();
});

test('[SDK-140] who pins has the pin in the list, also while it was being read', async (t) => {
  const { api } = kit.project;
  const { id: room } = await kit.conversation([{ userId: 'mona', role: 'MODERATOR' }]);
  const { id } = await api.call('sendMessage', { room, body: { text: 'one', senderId: 'mona' } });
  const chat = await chatOf('mona');
  const lists = holdAnswers(t, (_, url) => url.endsWith('/pins'));
  const pins = createPins(chat, room);
  await eventually(() => assert.equal(lists.length, 1));
  const pinning = pins.pin(id);
  await eventually(async () => assert.equal((await api.call('listPins', { room })).length, 1));
  lists[0]?.();
  await eventually(() => assert.equal(lists.length, 2));
  lists[1]?.();
  await pinning;
  assert.equal(pins.state.getSnapshot().pins.length, 1);
  pins.close();
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

test('[SDK-147] files, polls and forwards are scheduled, and are in the message that is sent', async () => {
  const { api } = kit.project;
  const { id: room } = await kit.conversation(['pia', 'quin']);
  const pia = await chatOf('pia');
  const here = await pia.join(room);
  const files = await Promise.all(
    ['one', 'two'].map((text) => here.upload(new Blob([text], { type: 'text/plain' }), { filename: `${text}.txt` })),
  );
  const { id: messageId } = await api.call('sendMessage', { room, body: { text: 'look', senderId: 'quin' } });
  const scheduled = createScheduled(pia);
  // Long enough for a busy machine to schedule all of them before the first is due.
  const soon = new Date(Date.now() + 4_000);
  const later = new Date(Date.now() + 3_600_000);
  const attachmentIds = files.map(({ attachmentId }) => attachmentId);
  await scheduled.create(room, { attachmentIds, sendAt: soon });
  await scheduled.create(room, { poll: { question: 'Lunch?', options: ['Pizza', 'Soup'] }, sendAt: soon });
  const passed = await scheduled.create(room, { forward: { messageId }, sendAt: later });
  await scheduled.update(passed.id, { metadata: { from: 'pia' }, sendAt: soon });
  await eventually(async () => {
    await service.service.chat.sweep.scheduled();
    const { messages } = await api.call('listMessages', { room, query: { limit: 10 } });
    const own = messages.filter(({ senderId }) => senderId === 'pia');
    assert.deepEqual(
      own
        .map(({ attachments, poll, forwardedFrom, text }) => [
          attachments?.map(({ filename }) => filename) ?? [],
          poll?.question ?? null,
          forwardedFrom?.senderId ?? null,
          text,
        ])
        .sort(),
      [
        [[], 'Lunch?', null, 'Lunch?\nPizza\nSoup'],
        [[], null, 'quin', 'look'],
        [['one.txt', 'two.txt'], null, null, null],
      ].sort(),
    );
  });
  assert.deepEqual((await scheduled.list(room)).items, []);
  // By what the user may read when it is scheduled.
  const { id: closed } = await kit.conversation(['quin']);
  const hidden = await api.call('sendMessage', { room: closed, body: { text: 'secret', senderId: 'quin' } });
  const forward = { messageId: hidden.id };
  await assert.rejects(scheduled.create(room, { forward, sendAt: later }), { code: 'SVC_NOT_A_MEMBER' });
  await pia.disconnect();
});
