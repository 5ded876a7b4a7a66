import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ChatOf, createChatKit } from '../../../../apps/server/testkit/chat/chat.ts';
import { eventually } from '../../../../apps/server/testkit/kit/eventually.ts';
import { startService, type TestService } from '../../../../apps/server/testkit/kit/service.ts';
import { joinHeld } from '../chat/held-join.ts';
import { Chat } from '../chat/index.ts';
import { type ChatStore, type ChatStoreOptions, type ConversationEntry, createChatStore } from './index.ts';
import { mentionOf } from './mentions.ts';

let service: TestService;
let kit: ChatOf;
const ends: (() => void | Promise<void>)[] = [];

before(async () => {
  const many = '1000';
  const env = { CHAT_CONNECT_RATE_LIMIT: many, CHAT_SEND_RATE_LIMIT: many, CHAT_SUBSCRIBE_RATE_LIMIT: many };
  service = await startService({ env: { ...env, CHAT_MAX_ROOM_SUBSCRIPTIONS: '3' } });
  kit = await createChatKit(service);
});
after(async () => {
  for (const end of ends) await end();
  await service.stop();
});

let users = 0;
/** A user of their own in each test, so that no list has another's conversations. */
const newUser = (): string => `user-${++users}`;

async function chatOf(userId: string): Promise<Chat> {
  const chat = new Chat({ url: service.url, token: async () => (await kit.user(userId)).token });
  ends.push(() => chat.disconnect());
  await chat.connect();
  return chat;
}

function storeOf(chat: Chat, options: ChatStoreOptions = {}): ChatStore {
  const store = createChatStore(chat, { storage: null, ...options });
  ends.push(() => store.close());
  return store;
}

const say = async (room: string, senderId: string, text: string): Promise<string> =>
  (await kit.project.api.call('sendMessage', { room, body: { text, senderId } })).id;

function entryOf({ conversations }: ChatStore, ref: string): ConversationEntry {
  const found = conversations.getSnapshot().find((entry) => entry.conversationId === ref);
  return found ?? assert.fail(`no entry for ${ref}`);
}
const isReady = (store: ChatStore, count: number): Promise<void> =>
  eventually(() => {
    const entries = store.conversations.getSnapshot();
    assert.equal(entries.filter(({ isLive, lastMessage }) => isLive && lastMessage).length, count);
  });

function memoryStorage() {
  const kept = new Map<string, string>();
  return {
    kept,
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  };
}

test('[SDK-80] the list has every conversation of the user, the most recent first, and follows without a call', async () => {
  const [ada, bob] = [newUser(), newUser()];
  const [one, two] = [await kit.conversation([ada, bob]), await kit.conversation([ada, bob])];
  await say(one.id, bob, 'hello');
  await say(two.id, bob, 'first');
  const chat = await chatOf(ada);
  const store = storeOf(chat);
  await isReady(store, 2);
  const titles = () => store.conversations.getSnapshot().map(({ title, unread }) => [title, unread]);
  await eventually(() =>
    assert.deepEqual(titles(), [
      [two.name, 1],
      [one.name, 1],
    ]),
  );
  const before = entryOf(store, two.id);
  await say(one.id, bob, 'again');
  await eventually(() =>
    assert.deepEqual(titles(), [
      [one.name, 2],
      [two.name, 1],
    ]),
  );
  assert.equal(entryOf(store, one.id).lastMessage?.text, 'again');
  // What did not change is the same object.
  assert.equal(entryOf(store, two.id), before);
  const last = store.conversations.getSnapshot();
  await store.refresh();
  assert.equal(store.conversations.getSnapshot(), last);

  const three = await kit.conversation([ada]);
  await store.refresh();
  assert.equal(entryOf(store, three.id).title, three.name);
});

test('[SDK-134] unread messages that name the user after an @ are counted apart, until they are read', async () => {
  const [ada, bob] = [newUser(), newUser()];
  const { id } = await kit.conversation([ada, bob]);
  const store = storeOf(await chatOf(ada), { mentionedAs: [ada, 'Ada (L.)'] });
  for (const text of [`@${ada}0 no`, `to x@${ada}`, 'nobody', `hello @${ada.toUpperCase()}, you`, '(@Ada (L.)) too'])
    await say(id, bob, text);
  await store.refresh();
  const counts = (): unknown[] => [entryOf(store, id).unread, entryOf(store, id).mentions];
  await eventually(() => assert.deepEqual(counts(), [5, 2]));
  await store.markRead(id);
  assert.deepEqual(counts(), [0, 0]);
  assert.equal(mentionOf([''])('@ nobody'), false);
  const texts = ['@user-1.', '@user-1-', "@user-1's", '@user-1-2 is another', '@user-1.x', '@user-1@example.com'];
  assert.deepEqual(texts.map(mentionOf(['user-1'])), [true, true, true, false, false, false]);
});

test('[SDK-134] where a message says whom it mentions, that counts instead of its text', async () => {
  const [ada, bob] = [newUser(), newUser()];
  const { id } = await kit.conversation([ada, bob]);
  const store = storeOf(await chatOf(ada));
  for (const mentions of [{ users: [ada] }, { all: true }, { users: [bob] }])
    await kit.project.api.call('sendMessage', { room: id, body: { text: `@${ada}, look`, senderId: bob, mentions } });
  await store.refresh();
  await eventually(() => assert.deepEqual([entryOf(store, id).unread, entryOf(store, id).mentions], [3, 2]));
  const conv = await store.open(id);
  const sent = await conv.send({ text: 'look', mentions: { users: [bob] } });
  assert.deepEqual(sent.mentions, { users: [bob], here: false, all: false });
  await conv.edit(sent.id ?? '', { mentions: null });
  await eventually(() => assert.equal(conv.messages.getSnapshot().at(-1)?.mentions, null));
});

test('[SDK-80] names, uuids and titles of the application are taken, and what cannot be joined says why', async () => {
  const [ada, bob] = [newUser(), newUser()];
  const [mine, other] = [await kit.conversation([ada, bob]), await kit.conversation([bob])];
  await say(mine.id, bob, 'hello');
  const chat = await chatOf(ada);
  const sources = [{ ref: mine.name, title: 'Bob' }, { ref: other.name }];
  const store = storeOf(chat, { conversations: async () => sources });
  await isReady(store, 1);
  assert.equal(entryOf(store, mine.id).title, 'Bob');
  await eventually(() => {
    const [, refused] = store.conversations.getSnapshot();
    assert.deepEqual([refused?.conversationRef, refused?.error?.code], [other.name, 'SVC_NOT_A_MEMBER']);
  });
  const fixed = storeOf(await chatOf(ada), { conversations: [mine.uuid] });
  await isReady(fixed, 1);
  assert.deepEqual(
    fixed.conversations.getSnapshot().map(({ conversationRef, title }) => [conversationRef, title]),
    [[mine.uuid, mine.name]],
  );
});

test('[SDK-81] unread is what the server counts: messages, deletions, own messages and read marks of any device', async () => {
  const [ada, bob] = [newUser(), newUser()];
  const { id } = await kit.conversation([ada, bob]);
  // More than are loaded at first.
  for (let at = 0; at < 40; at++) await say(id, bob, `m${at}`);
  const chat = await chatOf(ada);
  const store = storeOf(chat);
  const { api } = await kit.user(ada);
  await isReady(store, 1);
  const unreadIs = (count: number) =>
    eventually(async () => {
      assert.equal(entryOf(store, id).unread, count);
      assert.equal((await api.call('getReadState', { room: id, query: {} })).unreadCount, count);
    });
  await unreadIs(40);
  const newest = await say(id, bob, 'm40');
  await unreadIs(41);
  await api.call('markRead', { messageId: newest, query: {} });
  await unreadIs(0);
  const gone = await say(id, bob, 'gone');
  await say(id, bob, 'stays');
  await unreadIs(2);
  await kit.project.api.call('deleteMessage', { messageId: gone, query: {} });
  await unreadIs(1);
  await say(id, bob, 'more');
  await unreadIs(2);
  await store.markRead(id);
  await unreadIs(0);
  await say(id, bob, 'question');
  await unreadIs(1);
  await store.send(id, 'answer');
  await unreadIs(0);

  await say(id, bob, 'before the tunnel');
  await unreadIs(1);
  await chat.disconnect();
  const missed = await say(id, bob, 'in the tunnel');
  await api.call('markRead', { messageId: missed, query: {} });
  await say(id, bob, 'after the mark');
  await chat.connect();
  await unreadIs(1);
});

test('[SDK-82] a draft is kept for its user, shown in the list, and removed by sending', async () => {
  const [ada, bob] = [newUser(), newUser()];
  const { id, name } = await kit.conversation([ada, bob]);
  const storage = memoryStorage();
  const store = storeOf(await chatOf(ada), { storage });
  await eventually(() => assert.equal(store.conversations.getSnapshot().length, 1));
  store.drafts.set(name, 'I was about to');
  assert.equal(entryOf(store, id).draft, 'I was about to');
  assert.equal(storeOf(await chatOf(bob), { storage }).drafts.get(id), '');

  const later = storeOf(await chatOf(ada), { storage });
  await eventually(() => assert.equal(entryOf(later, id).draft, 'I was about to'));
  const sending = later.send(id, 'done');
  await eventually(() => assert.equal(entryOf(later, id).lastMessage?.text, 'done'));
  await sending;
  assert.equal(later.drafts.get(id), '');
  assert.equal(storage.kept.size, 0);
});

test('[SDK-82] a storage that is full or forbidden costs no draft of this page', async () => {
  const ada = newUser();
  const fail = (): never => {
    throw new Error('QuotaExceededError');
  };
  const store = storeOf(await chatOf(ada), { storage: { getItem: fail, setItem: fail, removeItem: fail } });
  assert.equal(store.drafts.get('lobby'), '');
  store.drafts.set('lobby', 'text');
  assert.equal(store.drafts.get('lobby'), 'text');
});

test('[SDK-83] as many are joined as the server allows; open() joins any other and leaves the one that was not used', async () => {
  const [ada, bob] = [newUser(), newUser()];
  const rooms: string[] = [];
  for (let at = 0; at < 5; at++) {
    rooms.push((await kit.conversation([ada, bob])).id);
    await say(rooms[at] ?? '', bob, `in ${at}`);
  }
  const store = storeOf(await chatOf(ada));
  // The server of this test allows three: the most recent are joined.
  await isReady(store, 3);
  const live = () => rooms.filter((id) => entryOf(store, id).isLive).map((id) => rooms.indexOf(id));
  await eventually(() => assert.deepEqual(live(), [2, 3, 4]));
  assert.deepEqual([entryOf(store, rooms[0] ?? '').unread, entryOf(store, rooms[0] ?? '').lastMessage], [1, null]);
  await store.open(rooms[3] ?? '');
  await store.open(rooms[0] ?? '');
  await eventually(() => assert.deepEqual(live(), [0, 3, 4]));
  await say(rooms[1] ?? '', bob, 'unheard');
  await store.refresh();
  assert.equal(entryOf(store, rooms[1] ?? '').unread, 2);
});

test('[SDK-84] the list shows who is present and who types, without this user', async () => {
  const [ada, bob] = [newUser(), newUser()];
  const { id } = await kit.conversation([ada, bob]);
  const store = storeOf(await chatOf(ada));
  await eventually(() => assert.equal(entryOf(store, id).isLive, true));
  assert.equal(entryOf(store, id).isPresent, false);
  const conversation = await (await chatOf(bob)).join(id);
  await eventually(() => assert.deepEqual(entryOf(store, id).present, [bob]));
  conversation.setTyping();
  await eventually(() => assert.deepEqual(entryOf(store, id).typing, [bob]));
  await conversation.leave();
  await eventually(() => assert.equal(entryOf(store, id).isPresent, false));
});

test('[SDK-85] search finds words in loaded and older messages, changes nothing shown, and says what it did not read', async () => {
  const [ada, bob] = [newUser(), newUser()];
  const { id } = await kit.conversation([ada, bob]);
  await say(id, bob, 'Déjà vu in the harbour');
  for (let at = 0; at < 120; at++) await say(id, bob, `m${at}`);
  const deleted = await say(id, bob, 'harbour deleted');
  await kit.project.api.call('deleteMessage', { messageId: deleted, query: {} });
  await say(id, ada, 'The HARBOUR at night');
  const store = storeOf(await chatOf(ada));
  await isReady(store, 1);
  const shown = (await store.open(id)).messages.getSnapshot().length;
  const texts = (found: readonly { text: string | null }[]) => found.map(({ text }) => text);

  const all = await store.search(id, 'harbour');
  assert.deepEqual([texts(all), all.isComplete], [['The HARBOUR at night', 'Déjà vu in the harbour'], true]);
  assert.deepEqual(texts(await store.search(id, 'harbour deja')), ['Déjà vu in the harbour']);
  const first = await store.search(null, 'harbour');
  assert.deepEqual([texts(first), first.isComplete, first.searched], [['The HARBOUR at night'], false, 100]);
  assert.deepEqual([...(await store.search(id, ' '))], []);
  assert.equal((await store.open(id)).messages.getSnapshot().length, shown);
  await assert.rejects(store.search(id, 'harbour', { signal: AbortSignal.abort() }), { name: 'AbortError' });
});

test('[SDK-80] after close() nothing is joined and nothing is heard; a lost membership shows in the entry until it is there again', async () => {
  const [ada, bob] = [newUser(), newUser()];
  const { id } = await kit.conversation([ada, bob]);
  const chat = await chatOf(ada);
  const store = storeOf(chat, { conversations: [id] });
  await eventually(() => assert.equal(entryOf(store, id).isLive, true));
  await kit.project.api.call('removeConversationMember', { room: id, userId: ada });
  await eventually(() => assert.equal(entryOf(store, id).error?.code, 'SVC_NOT_A_MEMBER'));
  await kit.project.api.call('addConversationMember', { room: id, body: { userId: ada } });
  await store.refresh();
  await eventually(() => assert.deepEqual([entryOf(store, id).isLive, entryOf(store, id).error], [true, null]));
  store.close();
  let calls = 0;
  store.conversations.subscribe(() => calls++);
  await say((await kit.conversation([ada, bob])).id, bob, 'x');
  await store.refresh();
  assert.equal(calls, 0);
});

test('[SDK-40] [SDK-80] what a component holds stays joined when the store lets go of it, and is left with the last', async () => {
  const [ada, bob] = [newUser(), newUser()];
  const { id, name } = await kit.conversation([ada, bob]);
  const chat = await chatOf(ada);
  const isIn = async () => (await kit.project.api.call('listPresence', { room: id })).length > 0;
  const store = storeOf(chat, { conversations: [name] });
  await eventually(() => assert.equal(entryOf(store, id).isLive, true));
  // As `useConversation` does.
  const { conversation, release } = await joinHeld(chat, id);
  store.close();
  await say(id, bob, 'still here');
  await eventually(() => assert.equal(conversation.messages.getSnapshot().at(-1)?.text, 'still here'));
  const joining = joinHeld(chat, name);
  await new Promise(setImmediate);
  release();
  release();
  const late = await joining;
  await say(id, bob, 'asked for while the other left');
  await eventually(() =>
    assert.equal(late.conversation.messages.getSnapshot().at(-1)?.text, 'asked for while the other left'),
  );
  late.release();
  await eventually(async () => assert.equal(await isIn(), false));
});

test('[SDK-95] what the application joins by itself counts as joined, and no store leaves it', async () => {
  const [ada, bob] = [newUser(), newUser()];
  const [own = '', ...others] = await Promise.all(
    [0, 1, 2, 3].map(async () => (await kit.conversation([ada, bob])).id),
  );
  const chat = await chatOf(ada);
  const conversation = await chat.join(own);
  const store = storeOf(chat, { conversations: [own, ...others] });
  const live = () =>
    store.conversations.getSnapshot().flatMap(({ isLive, conversationId }) => (isLive ? conversationId : []));
  await eventually(() => assert.equal(live().length, 3));
  assert.ok(live().includes(own));
  assert.deepEqual([chat.joined.size, chat.joined.get(own)?.isShared], [3, false]);
  for (const id of others) {
    await store.open(id);
    assert.deepEqual([live().includes(id), live().includes(own), chat.joined.size], [true, true, 3]);
  }
  store.close();
  assert.deepEqual([...chat.joined.keys()], [own]);
  await say(own, bob, 'still here');
  await eventually(() => assert.equal(conversation.messages.getSnapshot().at(-1)?.text, 'still here'));
});

test('[SDK-95] to make room the store leaves nothing that a component holds', async () => {
  const [ada, bob] = [newUser(), newUser()];
  const ids = await Promise.all([0, 1, 2, 3].map(async () => (await kit.conversation([ada, bob])).id));
  const chat = await chatOf(ada);
  const store = storeOf(chat, { conversations: ids });
  for (const id of ids.slice(0, 3)) await store.open(id);
  const [first = '', second = '', , last = ''] = ids;
  const { release } = await joinHeld(chat, first);
  await store.open(last);
  assert.deepEqual([entryOf(store, first).isLive, entryOf(store, last).isLive], [true, true]);
  assert.ok(!chat.joined.has(second), 'the next one was left instead');
  release();
});
