import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import type { Api } from '@parley/server';
import fc from 'fast-check';
import { type InboxStep, inboxStep } from '../../../../apps/server/testkit/chat/inbox-model.ts';
import { createInboxStage, type InboxStage, take } from '../../../../apps/server/testkit/chat/inbox-stage.ts';
import { eventually } from '../../../../apps/server/testkit/kit/eventually.ts';
import { isWhole } from '../../../../apps/server/testkit/kit/part.ts';
import { startService, type TestService } from '../../../../apps/server/testkit/kit/service.ts';
import { startTcpProxy } from '../../../../apps/server/testkit/peers/tcp-proxy.ts';
import { Chat } from '../chat/index.ts';
import { createInbox, type Inbox } from './index.ts';

/** `PARLEY_MODEL_RUNS` makes it longer, `PARLEY_MODEL_SEED` another. */
const RUNS = Number(process.env['PARLEY_MODEL_RUNS'] ?? (isWhole ? 4 : 2));
const SEED = Number(process.env['PARLEY_MODEL_SEED'] ?? 5);

let service: TestService;
before(async () => {
  service = await startService({ env: { RATE_LIMIT_WINDOW_SECONDS: '1', CHAT_CONNECT_RATE_LIMIT: '1000' } });
});
after(() => service.stop());

const me = 'ada';
const tokenOf = async (server: Api): Promise<string> =>
  (await server.call('mintChatToken', { body: { userId: me } })).token;

async function open(t: TestContext, { url, server, pageSize }: { url: string; server: Api; pageSize: number }) {
  const chat = new Chat({ url, token: () => tokenOf(server) });
  await chat.connect();
  const inbox = createInbox(chat, { pageSize });
  t.after(async () => {
    inbox.close();
    await chat.disconnect();
  });
  return { chat, inbox };
}

/** How often the client asks for the badge from now on; without an answer as long as `isLost` says so. */
function countQuestions(t: TestContext, isLost = (): boolean => false): () => number {
  const { fetch } = globalThis;
  let asked = 0;
  t.mock.method(globalThis, 'fetch', async (...[url, options]: Parameters<typeof fetch>) => {
    if (String(url).includes('/v1/chat/inbox/badge')) {
      asked++;
      if (isLost()) throw new TypeError('no network');
    }
    return fetch(url, options);
  });
  return () => asked;
}

const shows = (inbox: Inbox, expected: object, message?: string): Promise<void> =>
  eventually(() => assert.deepEqual(inbox.state.getSnapshot().badge, expected, message), { withinMs: 30_000 });

type Happening = InboxStep | 'away' | 'loadMore';
const happening: fc.Arbitrary<Happening> = fc.oneof(
  { arbitrary: inboxStep, weight: 14 },
  { arbitrary: fc.constantFrom('away' as const, 'loadMore' as const), weight: 1 },
);

/** Away for the time of a step. */
async function happen(
  stage: InboxStage,
  inbox: Inbox,
  what: Happening,
  whileAway: (work: () => Promise<void>) => Promise<void>,
) {
  if (what === 'loadMore') await inbox.loadMore();
  else if (what === 'away') await whileAway(() => take(stage, { does: 'send', room: 0, by: 'ben', mentions: me }));
  else await take(stage, what);
}

test('[SDK-141] whatever happens, and after a lost connection, the badge of a followed inbox is what a model counts', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(happening, { minLength: 20, maxLength: 50 }), async (happenings) => {
      const stage = await createInboxStage(service);
      const proxy = await startTcpProxy(service.url);
      const { inbox } = await open(t, { url: proxy.url, server: stage.server, pageSize: 1 });
      const whileAway = async (work: () => Promise<void>) => {
        proxy.cut();
        await work();
        proxy.restore();
      };
      for (const [at, what] of happenings.entries()) {
        await happen(stage, inbox, what, whileAway);
        if (at % 20 === 19) await shows(inbox, stage.model.badge(me), `after ${at + 1}`);
      }
      await shows(inbox, stage.model.badge(me));
      assert.deepEqual(await stage.users.get(me)?.call('getInboxBadge', {}), stage.model.badge(me));
      await proxy.close();
    }),
    { numRuns: RUNS, seed: SEED, endOnFailure: true },
  );
});

async function createRooms(count: number): Promise<{ server: Api; rooms: string[] }> {
  const server = (await service.newProject()).api;
  const rooms: string[] = [];
  for (let at = 0; at < count; at++)
    rooms.push((await server.call('createConversation', { body: { name: `room-${at}`, members: [me, 'ben'] } })).id);
  return { server, rooms };
}

const badgeOf = (unreadConversations: number, unreadMessages: number) => ({
  unreadConversations,
  unreadMessages,
  unreadMentions: 0,
});

const write = (server: Api, room = '') => server.call('sendMessage', { room, body: { text: 'x', senderId: 'ben' } });

test('[SDK-142] where all is loaded the server is never asked for the badge', async (t) => {
  const { server, rooms } = await createRooms(2);
  const questions = countQuestions(t);
  const { inbox } = await open(t, { url: service.url, server, pageSize: 3 });
  await shows(inbox, badgeOf(0, 0));
  const { id } = await write(server, rooms[0]);
  await shows(inbox, badgeOf(1, 1));
  const late = await server.call('createConversation', { body: { name: 'late', members: [me, 'ben'] } });
  await write(server, late.id);
  await shows(inbox, badgeOf(2, 2));
  await server.call('markRead', { messageId: id, body: { userId: me } });
  await shows(inbox, badgeOf(1, 1));
  await server.call('removeConversationMember', { room: late.id, userId: me });
  await shows(inbox, badgeOf(0, 0));
  assert.equal(questions(), 0);
});

test('[SDK-142] one question at the start is enough where the rest has nothing unread; of what had it is asked once', async (t) => {
  const { server, rooms } = await createRooms(4);
  const questions = countQuestions(t);
  const { inbox } = await open(t, { url: service.url, server, pageSize: 1 });
  await shows(inbox, badgeOf(0, 0));
  for (const [at, room] of rooms.entries()) {
    await write(server, room);
    await shows(inbox, badgeOf(at + 1, at + 1));
  }
  assert.equal(questions(), 1);

  const { inbox: second } = await open(t, { url: service.url, server, pageSize: 1 });
  await shows(second, badgeOf(4, 4));
  const before = questions();
  for (let sent = 1; sent <= 8; sent++) {
    await write(server, rooms[0]);
    await shows(second, badgeOf(4, 4 + sent));
  }
  // One more where a look into the store tells again of what was written before.
  assert.ok(questions() > before && questions() <= before + 2, `${questions() - before} questions`);
});

test('[SDK-142] a question without an answer is asked again, also by the next connection', async (t) => {
  const { server, rooms } = await createRooms(2);
  for (const room of rooms) await write(server, room);
  let isLost = true;
  const questions = countQuestions(t, () => isLost);
  const { inbox, chat } = await open(t, { url: service.url, server, pageSize: 1 });
  await eventually(() => assert.ok(questions() >= 2));
  assert.equal(inbox.state.getSnapshot().badge, null);
  await chat.disconnect();
  isLost = false;
  await chat.connect();
  await shows(inbox, badgeOf(2, 2));
});

test('[SDK-141] a mute that ends counts again at its time, loaded or not', async (t) => {
  const { server, rooms } = await createRooms(2);
  for (const room of rooms) await write(server, room);
  const body = { mutedUntil: new Date(Date.now() + 2_500).toISOString(), userId: me };
  for (const room of rooms) await server.call('changeInboxEntry', { room, body });
  const { inbox } = await open(t, { url: service.url, server, pageSize: 1 });
  // On a busy machine it may have ended before.
  await shows(inbox, badgeOf(2, 2));
  assert.deepEqual(
    inbox.state.getSnapshot().entries.map(({ muted, mutedUntil }) => [muted, mutedUntil]),
    [[false, null]],
  );
});
