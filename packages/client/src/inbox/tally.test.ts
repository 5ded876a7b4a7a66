import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { InboxBadge, InboxEntry } from '@parley/contract/types.gen';
import fc from 'fast-check';
import { createEntries, placeOf } from './entries.ts';
import { createTally, type Tally } from './tally.ts';

const ROOMS = 3;

/** What happens at the server to one conversation, or to what is on its way to the client. */
type Step =
  | { does: 'send' | 'read' | 'delete' | 'mute' | 'hide' | 'pin' | 'leave' | 'retire' | 'mention'; room: number }
  | { does: 'tell'; room: number }
  | { does: 'ask' | 'count' | 'answer' | 'page' };

const rooms = fc.nat(ROOMS - 1);
const changes = ['send', 'read', 'delete', 'mute', 'hide', 'pin', 'leave', 'retire', 'mention'] as const;
type Change = (typeof changes)[number];
const step: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: fc.record({ does: fc.constantFrom(...changes), room: rooms }), weight: 5 },
  { arbitrary: fc.record({ does: fc.constant('tell' as const), room: rooms }), weight: 3 },
  { arbitrary: fc.record({ does: fc.constantFrom('ask' as const, 'count' as const, 'answer' as const) }), weight: 3 },
  { arbitrary: fc.record({ does: fc.constant('page' as const) }), weight: 1 },
);

interface Room {
  isIn: boolean;
  entry: InboxEntry;
  /** What the client was not told of. */
  isUntold: boolean;
  lastSeq: number;
}

const time = (at: number): string => new Date(at * 1_000).toISOString();

function roomAt(at: number): Room {
  const conversation = { id: `room-${at}`, uuid: `uuid-${at}`, status: 'ACTIVE', messageCount: 1 };
  const lastMessage = { id: `msg-${at}-1`, seq: 1 };
  const flags = { muted: false, mutedUntil: null, pinned: false, pinnedAt: null, hidden: false };
  const entry = {
    conversation,
    lastMessage,
    lastActivityAt: time(at),
    unreadCount: at % 2,
    unreadMentions: 0,
    ...flags,
  };
  // The fields that are looked at.
  return { isIn: true, entry: entry as unknown as InboxEntry, isUntold: false, lastSeq: 1 };
}

const none = { unreadConversations: 0, unreadMessages: 0, unreadMentions: 0 };

/** The service, as far as a badge goes. */
class Server {
  readonly rooms = Array.from({ length: ROOMS }, (_, at) => roomAt(at));
  #clock = 100;

  change(does: Change, at: number): void {
    const room = this.rooms[at] ?? assert.fail();
    if (does === 'leave') room.isIn = !room.isIn;
    else room.entry = this.#changed(does, room);
    room.isUntold = true;
  }

  #changed(does: Change, room: Room): InboxEntry {
    const { entry } = room;
    const now = time(++this.#clock);
    const { conversation, lastMessage, unreadCount, unreadMentions, muted, pinnedAt } = entry;
    const with_ = (messageCount: number, rest: object) =>
      ({ ...entry, conversation: { ...conversation, messageCount }, ...rest }) as InboxEntry;
    if (does === 'read') return { ...entry, unreadCount: 0, unreadMentions: 0 };
    if (does === 'mute') return { ...entry, muted: !muted };
    if (does === 'pin') return { ...entry, pinned: pinnedAt === null, pinnedAt: pinnedAt === null ? now : null };
    if (does === 'hide') return { ...entry, hidden: true };
    if (does === 'delete')
      return unreadCount === 0
        ? entry
        : with_(conversation.messageCount - 1, {
            unreadCount: unreadCount - 1,
            unreadMentions: Math.min(unreadMentions, unreadCount - 1),
          });
    // An answer goes with its root: what is left is an older message.
    if (does === 'retire')
      return conversation.messageCount < 2
        ? entry
        : with_(conversation.messageCount - 1, {
            lastActivityAt: time(1),
            lastMessage: { ...lastMessage, id: 'older', seq: 1 },
            unreadCount: Math.max(0, unreadCount - 1),
            unreadMentions: 0,
          });
    room.lastSeq++;
    return with_(conversation.messageCount + 1, {
      lastMessage: { ...lastMessage, id: `msg-${room.lastSeq}`, seq: room.lastSeq },
      lastActivityAt: now,
      unreadCount: unreadCount + 1,
      unreadMentions: unreadMentions + (does === 'mention' ? 1 : 0),
      hidden: false,
    });
  }

  /** Over what is behind a place. */
  badge(end: string): InboxBadge {
    const badge = { ...none };
    for (const { isIn, entry } of this.rooms) {
      if (!isIn || entry.hidden || entry.muted || entry.unreadCount === 0 || placeOf(entry) >= end) continue;
      badge.unreadConversations++;
      badge.unreadMessages += entry.unreadCount;
      badge.unreadMentions += entry.unreadMentions;
    }
    return badge;
  }

  page(before: string, limit: number): InboxEntry[] {
    return this.rooms
      .filter(({ isIn, entry }) => isIn && !entry.hidden && placeOf(entry) < before)
      .map(({ entry }) => entry)
      .sort((left, right) => (placeOf(left) < placeOf(right) ? 1 : -1))
      .slice(0, limit);
  }
}

/** The client, of which a question may be on its way while anything else happens. */
class Client {
  readonly server = new Server();
  readonly entries = createEntries((id, before, now) => {
    for (const tally of [this.tally, this.asked?.tally]) tally?.note(id, before, now);
  });
  tally: Tally | null = null;
  asked: { tally: Tally; end: string; answer: InboxBadge | null } | null = null;
  #end = '~';

  readPage(isFirst = false): void {
    const [page = [], more = []] = [this.server.page(this.#end, 1), this.server.page(this.#end, 2)];
    this.entries.beginRead();
    for (const [before, now] of this.entries.endRead(page, { isFirst, hasMore: more.length > 1 }))
      for (const tally of [this.tally, this.asked?.tally]) tally?.noteRead(before, now);
    this.#end = this.entries.reach();
  }

  tell(room: Room): void {
    if (!room.isUntold) return;
    room.isUntold = false;
    if (room.isIn) this.entries.put(room.entry);
    else this.entries.remove(room.entry.conversation.id);
  }

  ask(): void {
    const end = this.entries.reach();
    this.asked ??= { tally: createTally(end, this.entries.all()), end, answer: null };
  }

  count(): void {
    if (this.asked) this.asked.answer ??= this.server.badge(this.asked.end);
  }

  answer(): void {
    if (!this.asked?.answer) return;
    this.tally = this.asked.tally;
    this.tally.settle(this.asked.answer);
    this.asked = null;
  }

  perform(step: Step): void {
    if (step.does === 'tell') this.tell(this.server.rooms[step.room] ?? assert.fail());
    else if ('room' in step) this.server.change(step.does, step.room);
    else if (step.does === 'page') this.readPage();
    else this[step.does]();
  }

  /** Everything arrives; the rest is asked for while it is not exact. Gives how often. */
  settle(): number {
    let asked = 0;
    for (const room of this.server.rooms) this.tell(room);
    this.count();
    this.answer();
    while (!this.tally?.isExact()) {
      this.ask();
      this.count();
      this.answer();
      assert.ok(++asked <= 1, 'one question is enough once all is quiet');
    }
    return asked;
  }
}

test('[SDK-141] whatever comes in whatever order, a badge that says it is exact is so once all was told', () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: 4, maxLength: 16 }), (steps) => {
      const client = new Client();
      client.readPage(true);
      for (const one of steps) client.perform(one);
      client.settle();
      assert.deepEqual(client.tally?.sum(client.entries.get), client.server.badge('~'));
    }),
    { numRuns: 10_000, seed: 7 },
  );
});

test('[SDK-141] what is counted one by one needs no question, nor does anything where the rest has nothing', () => {
  const client = new Client();
  client.readPage(true);
  client.settle();
  const top = client.server.rooms.at(-1) ?? assert.fail();
  for (const does of ['send', 'read', 'mention', 'mute', 'delete', 'hide', 'send'] as const) {
    client.server.change(does, ROOMS - 1);
    client.tell(top);
    assert.equal(client.settle(), 0);
  }
  client.server.change('send', 0);
  assert.equal(client.settle(), 1);
  for (let room = 0; room < ROOMS; room++) client.server.change('read', room);
  assert.equal(client.settle(), 1);
  for (const does of ['send', 'pin', 'pin', 'retire', 'leave', 'leave'] as const)
    for (let room = 0; room < ROOMS; room++) {
      client.server.change(does, room);
      assert.equal(client.settle(), 0);
      assert.deepEqual(client.tally?.sum(client.entries.get), client.server.badge('~'));
    }
});

/** Each of them: what the server counts as part of the rest is counted one by one before and after. */
const falls: Readonly<Record<string, { first: Change[]; before: Change[]; after: (Change | 'page')[] }>> = {
  'unpinned and pinned': { first: ['send', 'pin'], before: ['pin'], after: ['pin'] },
  'unpinned and left': { first: ['send', 'pin'], before: ['pin'], after: ['leave'] },
  'unpinned, read with a page, and pinned': { first: ['send', 'pin'], before: ['pin'], after: ['page', 'pin'] },
  'retired and written to': { first: ['send', 'send', 'send'], before: ['retire'], after: ['send'] },
};
for (const [name, { first, before, after }] of Object.entries(falls))
  test(`[SDK-141] what falls behind while the rest is counted, and is told of later, counts once: ${name}`, () => {
    const client = new Client();
    const top = ROOMS - 1;
    for (const does of first) client.server.change(does, top);
    client.readPage(true);
    client.settle();
    client.ask();
    for (const does of before) client.server.change(does, top);
    client.count();
    for (const does of after) client.perform(does === 'page' ? { does } : { does, room: top });
    client.answer();
    client.settle();
    assert.notEqual(client.server.badge('~').unreadMessages, 0);
    assert.deepEqual(client.tally?.sum(client.entries.get), client.server.badge('~'));
  });
