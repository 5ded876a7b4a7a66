/**
 * Inboxes are never off by one, at full size: two processes on PostgreSQL and Redis, one of which is killed with -9 again
 * and again while people write, read, mark and delete through both. In the end what each client holds is what the server
 * lists, and what is unread is what a count of the messages after the mark gives.
 *
 *   node tools/proof/inbox-kills.ts [kills]
 */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { Chat } from '@parley/client/chat';
import { createInbox, type InboxEntry } from '@parley/client/inbox';
import { type ChatFleet, startFleet } from '../../apps/server/testkit/chat/fleet.ts';
import { eventually } from '../../apps/server/testkit/kit/eventually.ts';
import { openTestDatabase } from '../../apps/server/testkit/kit/test-database.ts';

const kills = Number(process.argv[2] ?? 20);
const people = ['ada', 'ben', 'cy'];
const roomCount = 4;
const redisUrl = process.env['PARLEY_TEST_REDIS_URL'] ?? 'redis://127.0.0.1:6379';
const pick = <T>(items: readonly T[]): T => items[Math.floor(Math.random() * items.length)] as T;

const database = await openTestDatabase({
  url: process.env['PARLEY_TEST_DATABASE_URL'] ?? 'postgres://postgres@127.0.0.1:5432/test',
});
const env = {
  DATABASE_URL: database.url ?? '',
  REDIS_URL: redisUrl,
  REDIS_KEY_PREFIX: `inbox-kills-${process.pid}:`,
  CHAT_MANAGE_RATE_LIMIT: '1000000',
};
const fleet = await startFleet({ processes: 2, env, members: people });
let [steps, refused, isOver] = [0, 0, false];
try {
  const rooms = [fleet.room];
  while (rooms.length < roomCount) rooms.push((await fleet.again()).room);
  const ids = new Map(rooms.map((room) => [room, [] as string[]]));
  const inboxes = await Promise.all(
    people.flatMap((userId) => [0, 1].map(async (place) => ({ userId, inbox: await follow(fleet, place, userId) }))),
  );
  const writing = Promise.all(people.map((userId) => write(userId, ids)));
  for (let kill = 1; kill <= kills; kill++) {
    await sleep(300 + Math.random() * 700);
    await fleet.restart(1);
    console.log(`${kill} kills, ${steps} steps, ${refused} without an answer`);
  }
  isOver = true;
  await writing;
  for (const { userId, inbox } of inboxes) await agrees(userId, () => inbox.state.getSnapshot().entries);
  console.log(`${steps} steps over ${kills} kills: ${inboxes.length} inboxes are what the server has`);
  assert.ok(steps > kills);
} finally {
  isOver = true;
  await fleet.stop();
  await database.close();
}
process.exit(0);

async function follow(of: ChatFleet, place: number, userId: string) {
  const token = await of.tokenOf(userId);
  const chat = new Chat({ url: of.url(place), token: async () => token });
  await chat.connect();
  return createInbox(chat, { pageSize: 50 });
}

/** One step after the other, through either process; one without an answer may have been done. */
async function write(userId: string, ids: Map<string, string[]>): Promise<void> {
  while (!isOver) {
    const room = pick([...ids.keys()]);
    const known = ids.get(room) ?? [];
    const api = fleet.api(steps++ % 2);
    const messageId = pick(known);
    const kind = messageId === undefined ? 0 : Math.floor(Math.random() * 8);
    const step = async (): Promise<unknown> => {
      if (kind <= 3)
        return known.push((await api.call('sendMessage', { room, body: { text: 'x', senderId: userId } })).id);
      if (kind === 4) return api.call('markRead', { messageId, body: { userId } });
      if (kind === 5) return api.call('markUnread', { room, body: { messageId, userId } });
      if (kind === 6) return api.call('deleteMessage', { messageId });
      return api.call('changeInboxEntry', {
        room,
        body: { userId, pinned: Math.random() < 0.5, muted: Math.random() < 0.5 },
      });
    };
    await step().catch(() => void refused++);
    await sleep(20);
  }
}

type Shown = [room: string, unread: number, lastMessageId: string | null, isPinned: boolean, isMuted: boolean];
function shownOf({ conversation, unreadCount, lastMessage, pinned, muted }: InboxEntry): Shown {
  return [conversation.id, unreadCount, lastMessage?.id ?? null, pinned, muted];
}

async function agrees(userId: string, held: () => readonly InboxEntry[]): Promise<void> {
  const entries = await fleet.api(0).call('listUserInbox', { userId });
  for (const { conversation, lastReadSeq, unreadCount } of entries)
    assert.equal(unreadCount, await countAfter(conversation.id, lastReadSeq ?? 0), `unread of ${userId}`);
  const expected = JSON.stringify(entries.map(shownOf));
  await eventually(() => JSON.stringify(held().map(shownOf)) === expected, { withinMs: 60_000 });
}

async function countAfter(room: string, seq: number): Promise<number> {
  let [count, before] = [0, undefined as string | undefined];
  for (;;) {
    const query = { limit: 100, ...(before === undefined ? {} : { before }) };
    const { messages, nextCursor } = await fleet.api(0).call('listMessages', { room, query });
    count += messages.filter((message) => message.seq > seq).length;
    if (nextCursor === null) return count;
    before = nextCursor;
  }
}
