import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { InboxEntry } from '@parley/contract';
import type { Api } from '@parley/server';
import { type ChatOf, createChatKit } from '../../../../testkit/chat/chat.ts';
import { eventually } from '../../../../testkit/kit/eventually.ts';
import type { TestService } from '../../../../testkit/kit/service.ts';
import { sharedService } from '../../../../testkit/kit/shared-service.ts';
import { sql } from '../../../core/sql.ts';
import { findChangedSince } from './live-store.ts';

let service: TestService;
let chat: ChatOf;
before(async () => {
  service = await sharedService();
  chat = await createChatKit(service);
});

const idsOf = (entries: readonly InboxEntry[]): string[] => entries.map(({ conversation }) => conversation.id);

const ofUser = (userId: string) => sql`project_id = ${chat.project.id} and user_id = ${userId}`;

async function countDormant(userId: string): Promise<number> {
  const rows = await service.adapters.db.query(sql`
    select from dormant_entries where ${ofUser(userId)} and not woken`);
  return rows.length;
}

/** All of it is long ago. */
const settle = (userId: string, { project } = chat): Promise<number> =>
  service.service.chat.settleInbox({ scope: { projectId: project.id, environment: 'DEVELOPMENT' }, userId }, 0, -1_000);

const send = (room: string, senderId = 'bob') =>
  chat.project.api.call('sendMessage', { room, body: { text: 'hello', senderId } });

/** Some at a time: on a busy machine the last of a hundred waits for a database connection until it is refused. */
async function conversations(count: number, members: string[]) {
  const made: Awaited<ReturnType<typeof chat.conversation>>[] = [];
  while (made.length < count) {
    const next = Array.from({ length: Math.min(8, count - made.length) }, () => chat.conversation(members));
    made.push(...(await Promise.all(next)));
  }
  return made;
}

async function walk(user: Api, limit: number): Promise<string[]> {
  const listed: string[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page: Awaited<ReturnType<typeof user.request<'listInbox'>>> = await user.request('listInbox', {
      query: { limit, ...(cursor && { cursor }) },
    });
    listed.push(...idsOf(page.body));
    cursor = page.headers.get('x-next-cursor');
  }
  return listed;
}

test('[INB-9] what is at rest in a large inbox goes dormant once somebody looks at it, and nobody sees a difference', async () => {
  const userId = 'collector';
  const { api } = await chat.user(userId);
  const [kept, total] = [20, 104];
  const rooms = await conversations(total, [userId, 'bob']);
  for (const { id } of rooms.slice(0, 3)) await send(id);
  await service.adapters.db.execute(sql`
    update conversations set created_at = created_at - interval '1 hour',
      last_message_at = last_message_at - interval '1 hour'
    where id = any(${rooms.slice(1).map(({ uuid }) => uuid)}::uuid[])`);
  const order = await walk(api, 100);
  // The first was written to a moment ago.
  await eventually(async () => assert.equal(await countDormant(userId), total - 1 - kept));
  for (const limit of [7, 100]) assert.deepEqual(await walk(api, limit), order);
  const ofGroups = await api.call('listInbox', { query: { type: 'GROUP', limit: 100 } });
  assert.deepEqual(idsOf(ofGroups), order.slice(0, 100));
  assert.deepEqual(idsOf(await api.call('listInbox', { query: { unread: true } })), order.slice(0, 3));
  const last = order.at(-1) ?? '';
  const narrow = await chat.user(userId, { conversations: [last] });
  assert.deepEqual(idsOf(await narrow.api.call('listInbox', {})), [last]);
});

test('[INB-9] a message, a read, a pin and a change of the conversation wake an entry, and the badge stays right', async () => {
  const userId = 'sleeper';
  const { api } = await chat.user(userId);
  const rooms: string[] = [];
  for (let at = 0; at < 5; at++) rooms.push((await chat.conversation([userId, 'bob'])).id);
  const [written = '', read = '', pinned = '', named = '', erased = ''] = rooms;
  const messages = new Map<string, string>();
  for (const room of rooms) messages.set(room, (await send(room)).id);
  const dormantAfter = async (change: () => Promise<unknown>): Promise<number> => {
    await settle(userId);
    const all = await countDormant(userId);
    await change();
    return all - (await countDormant(userId));
  };
  assert.equal(await dormantAfter(() => send(written)), 1);
  assert.deepEqual(idsOf(await api.call('listInbox', {}))[0], written);
  assert.equal(await dormantAfter(() => api.call('markRead', { messageId: messages.get(read) ?? '' })), 1);
  assert.equal(await dormantAfter(() => api.call('changeInboxEntry', { room: pinned, body: { pinned: true } })), 1);
  assert.equal(idsOf(await api.call('listInbox', {}))[0], pinned);
  const body = { name: 'another-name' };
  assert.equal(await dormantAfter(() => chat.project.api.call('updateConversation', { room: named, body })), 1);
  assert.equal(await dormantAfter(() => chat.project.api.call('deleteConversation', { room: erased })), 1);
  const badge = { unreadConversations: 3, unreadMessages: 4, unreadMentions: 0 };
  assert.deepEqual(await api.call('getInboxBadge', {}), badge);
  await service.service.chat.sweep.retention();
  const rows = await service.adapters.db.query(sql`
    select from dormant_entries where ${ofUser(userId)} and woken`);
  assert.deepEqual(rows, [], 'of the erased one');
  assert.deepEqual(await api.call('getInboxBadge', {}), badge);
});

test('[INB-9] [INB-11] what changed since is found among entries that went dormant again meanwhile', async () => {
  const userId = 'traveller';
  // In a project in which nothing was erased.
  const chat = await createChatKit(service);
  const { id: room } = await chat.conversation([userId, 'bob']);
  await chat.conversation([userId, 'bob']);
  assert.equal(await settle(userId, chat), 2);
  const since = new Date().toISOString();
  await chat.project.api.call('updateConversation', { room, body: { name: 'renamed' } });
  assert.equal(await settle(userId, chat), 1);
  const scope = { projectId: chat.project.id, environment: 'DEVELOPMENT' } as const;
  assert.deepEqual(await findChangedSince(service.adapters.db, scope, userId, since, 10), [room]);
});

test('[INB-9] a conversation of more than a hundred members stays awake', async () => {
  const userId = 'one-of-many';
  const { uuid } = await chat.conversation([userId, 'bob']);
  await service.adapters.db.execute(sql`update conversations set member_count = 101 where id = ${uuid}`);
  assert.equal(await settle(userId), 0);
  await service.adapters.db.execute(sql`update conversations set member_count = 100 where id = ${uuid}`);
  assert.equal(await settle(userId), 1);
});
