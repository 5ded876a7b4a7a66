import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { InboxEntry } from '@parley/contract';
import type { Api } from '@parley/server';
import { assertRefused, type ChatOf, createChatKit, refusal, subscribe } from '../../../../testkit/chat/chat.ts';
import type { TestService } from '../../../../testkit/kit/service.ts';
import { sharedService } from '../../../../testkit/kit/shared-service.ts';
import { sql } from '../../../core/sql.ts';

let service: TestService;
let chat: ChatOf;
let api: Api;
before(async () => {
  service = await sharedService();
  chat = await createChatKit(service);
  api = chat.project.api;
});

let named = 0;
/** Users of one test alone: an inbox is over all of a user's conversations. */
const someone = (): string => `inbox-user-${++named}`;

const send = async (room: string, senderId: string, text = 'hello'): Promise<string> =>
  (await api.call('sendMessage', { room, body: { text, senderId } })).id;

const idsOf = (entries: readonly InboxEntry[]): string[] => entries.map(({ conversation }) => conversation.id);

async function entryOf(user: Api, room: string, query = {}): Promise<InboxEntry> {
  const entries = await user.call('listInbox', { query });
  return entries.find(({ conversation }) => conversation.id === room) ?? assert.fail('not in the inbox');
}

/** As sending does it. */
const mention = (uuid: string, userId: string, messageId: string): Promise<number> =>
  service.adapters.db.execute(sql`
    insert into message_mentions (conversation_id, user_id, position)
    select ${uuid}::uuid, ${userId}, position from messages where id = ${messageId}`);

test('[INB-1] an inbox is by last activity, pinned ones first; pages of it leave nothing out', async () => {
  const [me, other] = [someone(), someone()];
  const rooms: string[] = [];
  for (let at = 0; at < 5; at++) rooms.push((await chat.conversation([me, other])).id);
  const [first = '', second = '', third = '', fourth = '', fifth = ''] = rooms;
  await chat.conversation([other]);
  const user = await chat.user(me);
  assert.deepEqual(idsOf(await user.api.call('listInbox', {})), [fifth, fourth, third, second, first]);
  await send(second, other);
  await send(first, other);
  await user.api.call('changeInboxEntry', { room: fourth, body: { pinned: true } });
  await user.api.call('changeInboxEntry', { room: third, body: { pinned: true } });
  const order = [third, fourth, first, second, fifth];
  assert.deepEqual(idsOf(await user.api.call('listInbox', {})), order);
  assert.deepEqual(idsOf(await user.api.call('listInbox', { query: { pinned: true } })), [third, fourth]);
  assert.deepEqual(idsOf(await user.api.call('listInbox', { query: { unread: true } })), [first, second]);
  for (const limit of [1, 2, 3]) assert.deepEqual(await walk(user.token, limit), order, `pages of ${limit}`);
  assert.deepEqual(idsOf(await api.call('listUserInbox', { userId: me })), order);
  const narrow = await chat.user(me, { conversations: [first, fourth] });
  assert.deepEqual(idsOf(await narrow.api.call('listInbox', {})), [fourth, first]);
  assert.deepEqual(await narrow.api.call('getInboxBadge', {}), {
    unreadConversations: 1,
    unreadMessages: 1,
    unreadMentions: 0,
  });
  await api.call('updateConversation', { room: first, body: { status: 'ARCHIVED' } });
  assert.deepEqual(idsOf(await user.api.call('listInbox', { query: { archived: true } })), [first]);
  await api.call('removeConversationMember', { room: fifth, userId: me });
  await api.call('deleteConversation', { room: third });
  assert.deepEqual(idsOf(await user.api.call('listInbox', {})), [fourth, second]);
  const blind = await chat.user(me, { scopes: ['chat:send'] });
  await assertRefused(blind.api.call('listInbox', {}), 403, 'SVC_SCOPE_MISSING');
});

async function walk(token: string, limit: number): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: string = cursor === '' ? '' : `&cursor=${cursor}`;
    const answer: Response = await fetch(`${service.url}/v1/chat/inbox?limit=${limit}${query}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    ids.push(...idsOf((await answer.json()) as InboxEntry[]));
    cursor = answer.headers.get('x-next-cursor');
  }
  return ids;
}

test('[INB-2] an entry has the last message, what is unread and mentioned, and who else is there', async () => {
  const [me, other] = [someone(), someone()];
  const faces = [other, ...Array.from({ length: 5 }, someone)];
  const { id: room, uuid } = await chat.conversation([me, ...faces]);
  const user = await chat.user(me);
  const empty = await entryOf(user.api, room);
  assert.deepEqual([empty.lastMessage, empty.lastActivityAt], [null, empty.conversation.createdAt]);
  await service.adapters.db.execute(sql`
    insert into chat_users (project_id, environment, user_id, name, avatar_url, created_at, updated_at)
    select project_id, environment, ${faces.at(-1)}, 'Grace', 'https://example.com/grace.png', now(), now()
    from conversations where id = ${uuid}`);
  const known = await entryOf(user.api, room);
  assert.equal(known.faces.length, 4);
  assert.ok(known.faces.every(({ userId }) => userId !== me));
  assert.deepEqual(
    known.faces.find(({ userId }) => userId === faces.at(-1)),
    { userId: faces.at(-1), name: 'Grace', avatarUrl: 'https://example.com/grace.png' },
  );

  const read = await send(room, other);
  await user.api.call('markRead', { messageId: read });
  const [named, everybody, gone] = [await send(room, other), await send(room, other), await send(room, other)];
  const long = await send(room, other, '🙂'.repeat(300));
  for (const [userId, messageId] of [
    [me, named],
    ['', named],
    ['', everybody],
    [me, gone],
    [me, read],
    [other, long],
  ] as const) {
    await mention(uuid, userId, messageId);
  }
  await api.call('deleteMessage', { messageId: gone });
  const entry = await entryOf(user.api, room);
  assert.deepEqual([entry.unreadCount, entry.unreadMentions], [3, 2]);
  assert.deepEqual([entry.lastReadMessageId, entry.lastReadSeq], [read, 1]);
  assert.equal(entry.lastMessage?.text, '🙂'.repeat(200));
  assert.equal(entry.lastMessage?.senderId, other);
  assert.equal(entry.conversation.unreadCount, 3);
  await api.call('deleteMessage', { messageId: long });
  const { lastMessage } = await entryOf(user.api, room);
  assert.deepEqual([lastMessage?.id, lastMessage?.deleted, lastMessage?.text], [long, true, null]);
  assert.deepEqual(await user.api.call('getInboxBadge', {}), {
    unreadConversations: 1,
    unreadMessages: 2,
    unreadMentions: 2,
  });
  await user.api.call('markRead', { messageId: everybody });
  assert.equal((await entryOf(user.api, room)).unreadMentions, 0);
  await user.api.call('markUnread', { room, body: { messageId: named } });
  assert.equal((await entryOf(user.api, room)).unreadMentions, 2);
  // One's own mention of everybody is none to oneself.
  const own = await user.api.call('sendMessage', { room, body: { text: 'all of you' } });
  await mention(uuid, '', own.id);
  await user.api.call('markUnread', { room, body: { messageId: own.id } });
  assert.equal((await entryOf(user.api, room)).unreadMentions, 0);
});

test('[INB-3] what is muted, pinned or hidden is so for oneself; a mute ends, and a new message shows what was hidden', async () => {
  const [me, other] = [someone(), someone()];
  const { id: room } = await chat.conversation([me, other]);
  const [user, witness] = [await chat.user(me), await chat.user(other)];
  const change = (body: object) => user.api.call('changeInboxEntry', { room, body });
  await send(room, other);
  const muted = await change({ muted: true });
  assert.deepEqual([muted.muted, muted.mutedUntil, muted.unreadCount], [true, null, 1]);
  assert.equal((await user.api.call('getInboxBadge', {})).unreadMessages, 0);
  assert.equal((await entryOf(witness.api, room)).muted, false);
  const until = new Date(Date.now() + 3_600_000).toISOString();
  assert.deepEqual((await change({ mutedUntil: until })).mutedUntil, until);
  await service.adapters.db.execute(sql`
    update conversation_members set muted_until = now() - interval '1 minute' where user_id = ${me}`);
  const over = await entryOf(user.api, room);
  assert.deepEqual([over.muted, over.mutedUntil], [false, null]);
  assert.equal((await user.api.call('getInboxBadge', {})).unreadMessages, 1);
  assert.equal((await refusal(change({ mutedUntil: '2001-01-01T00:00:00Z' }))).status, 400);
  assert.equal((await change({ muted: false })).muted, false);

  assert.equal((await change({ hidden: true })).hidden, true);
  assert.deepEqual(await user.api.call('listInbox', {}), []);
  assert.deepEqual(idsOf(await user.api.call('listInbox', { query: { hidden: true } })), [room]);
  assert.equal((await user.api.call('getInboxBadge', {})).unreadMessages, 0);
  await send(room, other);
  assert.equal((await entryOf(user.api, room)).hidden, false);
  assert.equal((await user.api.call('getInboxBadge', {})).unreadMessages, 2);
  await change({ hidden: true });
  assert.equal((await change({ hidden: false })).hidden, false);

  const pinned = await change({ pinned: true });
  assert.deepEqual((await change({ pinned: true })).pinnedAt, pinned.pinnedAt);
  assert.equal((await change({ pinned: false })).pinnedAt, null);
  await assertRefused(api.call('changeInboxEntry', { room, body: { muted: true } }), 400, 'SVC_USER_REQUIRED');
  const stranger = someone();
  const asStranger = { room, body: { muted: true, userId: stranger } };
  await assertRefused(api.call('changeInboxEntry', asStranger), 403, 'SVC_NOT_A_MEMBER');
  assert.equal((await api.call('changeInboxEntry', { room, body: { muted: true, userId: me } })).muted, true);
});

test('[INB-4] marked as unread, a message and those after it are unread, and none before it', async () => {
  const [me, other] = [someone(), someone()];
  const { id: room } = await chat.conversation([me, other]);
  const user = await chat.user(me);
  const ids: string[] = [];
  for (let at = 0; at < 5; at++) ids.push(await send(room, other));
  const markUnread = (messageId?: string) =>
    user.api.call('markUnread', { room, body: messageId ? { messageId } : {} });
  // It is unread already.
  assert.equal((await markUnread(ids[3])).unreadCount, 5);
  await user.api.call('markRead', { messageId: ids[4] ?? '' });
  const client = await user.connect();
  assert.equal((await subscribe(client, room))['unreadCount'], 0);
  const last = await markUnread();
  assert.deepEqual([last.unreadCount, last.lastReadMessageId, last.lastReadSeq], [1, ids[3], 4]);
  assert.equal((await markUnread(ids[1])).unreadCount, 4);
  assert.equal((await subscribe(client, room))['unreadCount'], 4);
  const state = await user.api.call('getReadState', { room });
  assert.deepEqual([state.lastReadMessageId, state.firstUnreadMessageId, state.unreadCount], [ids[0], ids[1], 4]);
  const all = await markUnread(ids[0]);
  assert.deepEqual([all.unreadCount, all.lastReadMessageId, all.lastReadSeq], [5, null, null]);
  assert.equal((await user.api.call('markRead', { messageId: ids[2] ?? '' })).unreadCount, 2);
  await api.call('deleteMessage', { messageId: ids[4] ?? '' });
  await user.api.call('markRead', { messageId: ids[3] ?? '' });
  assert.equal((await markUnread()).unreadCount, 1);
  await assertRefused(markUnread(ids[4]), 404, 'SVC_MESSAGE_NOT_FOUND');
  const { id: elsewhere } = await chat.conversation([me, other]);
  await assertRefused(markUnread(await send(elsewhere, other)), 404, 'SVC_MESSAGE_NOT_FOUND');
  const { id: silent } = await chat.conversation([me]);
  assert.equal((await user.api.call('markUnread', { room: silent, body: {} })).unreadCount, 0);
});

test('[INB-8] the badge of a cursor is of what follows the page, and says when a mute will end', async () => {
  const [me, other] = [someone(), someone()];
  const user = await chat.user(me);
  const rooms: string[] = [];
  for (let at = 0; at < 3; at++) rooms.push((await chat.conversation([me, other])).id);
  for (const [at, room] of rooms.entries()) for (let sent = 0; sent <= at; sent++) await send(room, other);
  const { headers } = await user.api.request('listInbox', { query: { limit: 1 } });
  const cursor = headers.get('x-next-cursor') ?? assert.fail('there are more');
  const rest = { unreadConversations: 2, unreadMessages: 3, unreadMentions: 0 };
  assert.deepEqual(await user.api.call('getInboxBadge', { query: { cursor } }), rest);
  assert.deepEqual(await api.call('getUserInboxBadge', { userId: me, query: { cursor } }), rest);
  const [sooner, later] = [3_600_000, 7_200_000].map((ms) => new Date(Date.now() + ms).toISOString());
  for (const [at, mutedUntil] of [later, sooner].entries())
    await user.api.call('changeInboxEntry', { room: rooms[at] ?? '', body: { mutedUntil: mutedUntil ?? null } });
  const none = { unreadConversations: 0, unreadMessages: 0, unreadMentions: 0 };
  assert.deepEqual(await user.api.call('getInboxBadge', { query: { cursor } }), { ...none, changesAt: sooner });
  await api.call('markRead', { messageId: await send(rooms[1] ?? '', other), body: { userId: me } });
  assert.equal((await user.api.call('getInboxBadge', {})).changesAt, later);
  const stranger = await chat.user(other);
  await assertRefused(stranger.api.call('getInboxBadge', { query: { cursor } }), 400, 'SVC_INVALID_CURSOR');
});
