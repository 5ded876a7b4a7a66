import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { allRoutes, type Message } from '@parley/contract';
import {
  assertRefused,
  type ChatOf,
  type ChatUser,
  chatAs,
  createChatKit,
  subscribe,
} from '../../../../testkit/chat/chat.ts';
import { places, say, uploaded, withEve } from '../../../../testkit/chat/shadow.ts';
import { createFakeClock } from '../../../../testkit/kit/fake-clock.ts';
import { startService, type TestService } from '../../../../testkit/kit/service.ts';

const clock = createFakeClock();
const env = { CHAT_SEND_RATE_LIMIT: '1000', CHAT_HISTORY_RATE_LIMIT: '1000' };
let service: TestService;
let second: TestService;
let chat: ChatOf;
before(async () => {
  service = await startService({ clock, env });
  second = await startService({ clock, env, beside: service });
  chat = await createChatKit(service);
});
after(async () => {
  await second.stop();
  await service.stop();
});

/** The answer of every route that a user may read with, byte for byte. */
async function viewOf({ token }: ChatUser, ids: Readonly<Record<string, string>>): Promise<Map<string, string>> {
  const view = new Map<string, string>();
  for (const [name, row] of Object.entries(allRoutes)) {
    const [method, path = ''] = row.at.split(' ');
    if (method !== 'GET' || !(row.by as readonly string[]).includes('chatToken')) continue;
    const wanted = [...path.matchAll(/\{(\w+)\}/g)].map(([, id = '']) => id);
    if (wanted.some((id) => !ids[id])) continue;
    const filled = path.replaceAll(/\{(\w+)\}/g, (_, id: string) => encodeURIComponent(ids[id] ?? ''));
    const query = name === 'searchMessages' ? '?q=spam' : '';
    const answer = await fetch(`${service.url}${filled}${query}`, { headers: { authorization: `Bearer ${token}` } });
    const body = name === 'getAttachmentDownload' ? '' : await answer.text();
    const traceless = body.replaceAll(/"(requestId|path)":"[^"]*"/g, '');
    view.set(name, `${answer.status} ${answer.headers.get('x-next-cursor')} ${traceless}`);
  }
  return view;
}

for (const [place, enter] of Object.entries(places)) {
  test(`[MOD-22] nobody else gets anything of it on any route or socket, and what follows has the next numbers (${place})`, async () => {
    const { room, ann, eve } = await withEve(chat);
    const root = await say(ann, room, 'first');
    const poll = await ann.api.call('sendMessage', {
      room,
      body: { poll: { question: 'Tea?', options: ['Yes', 'No'] } },
    });
    const earlier = await say(eve, room, 'before');
    await eve.api.call('markRead', { messageId: earlier.id });
    const sockets = [await ann.connect(), await chatAs(second, ann.token)];
    for (const socket of sockets) {
      await subscribe(socket, room, { presence: false });
      await socket.ask({ type: 'inbox.subscribe' });
    }
    const eves = await eve.connect();
    await subscribe(eves, room);
    const lift = await enter(chat, room);
    const file = await uploaded(eve, room);
    const ids = { room, conversation: room, messageId: root.id, userId: 'eve', attachmentId: file };
    await service.service.chat.sweep.search();
    for (const socket of sockets) await socket.ask({ type: 'history', conversation: room });
    const seen = sockets.map(({ frames }) => frames.length);
    const known = await viewOf(ann, ids);
    const asked = await viewOf(ann, { ...ids, messageId: poll.id });
    assert.ok(known.size > 15, [...known.keys()].join());

    const spam = await say(eve, room, 'spam', { replyTo: root.id, mentions: { users: ['ann'] } });
    await eve.api.call('sendMessage', { room, body: { attachmentId: file, text: 'spam with a file' } });
    await eves.ask({ type: 'message.send', conversation: room, text: 'spam by socket' });
    await eve.api.call('sendMessage', { room, body: { poll: { question: 'Spam?', options: ['Yes', 'No'] } } });
    await eve.api.call('sendMessage', { room, body: { forward: { messageId: root.id } } });
    await eve.api.call('editMessage', { messageId: spam.id, body: { text: 'more spam' } });
    await eve.api.call('addReaction', { messageId: spam.id, body: { emoji: '👍' } });
    await eve.api.call('addReaction', { messageId: root.id, body: { emoji: '👍' } });
    await eve.api.call('castVote', { messageId: poll.id, body: { optionIds: [1] } });
    await eve.api.call('markRead', { messageId: spam.id });
    for (const typing of [true, false]) await eves.ask({ type: 'typing', conversation: room, typing });
    await eves.ask({ type: 'presence', status: 'ONLINE', data: { say: 'spam' } });
    await service.service.chat.sweep.search();
    assert.deepEqual(await viewOf(ann, ids), known);
    assert.deepEqual(await viewOf(ann, { ...ids, messageId: poll.id }), asked);
    const other = await viewOf(ann, { ...ids, messageId: spam.id });
    const none = await viewOf(ann, { ...ids, messageId: `${spam.id.slice(0, -3)}aaa` });
    for (const name of ['getMessage', 'getThread', 'listPollVotes'])
      assert.equal(other.get(name), none.get(name), name);
    for (const call of [
      () => ann.api.call('getMessage', { messageId: spam.id }),
      () => ann.api.call('addReaction', { messageId: spam.id, body: { emoji: '👍' } }),
      () => ann.api.call('deleteMessage', { messageId: spam.id }),
      () => ann.api.call('editMessage', { messageId: spam.id, body: { text: 'x' } }),
      () => ann.api.call('reportMessage', { messageId: spam.id, body: { reason: 'spam' } }),
      () => ann.api.call('markRead', { messageId: spam.id }),
      () => ann.api.call('pinMessage', { messageId: spam.id }),
      () => ann.api.call('sendMessage', { room, body: { forward: { messageId: spam.id } } }),
    ])
      await assertRefused(call(), 404, 'SVC_MESSAGE_NOT_FOUND');
    await assertRefused(
      ann.api.call('sendMessage', { room, body: { text: 'x', replyTo: spam.id } }),
      400,
      'SVC_INVALID_REPLY_TARGET',
    );

    const next = await say(ann, room, 'next');
    assert.deepEqual([next.seq, next.change], [earlier.seq + 1, earlier.change + 1]);
    for (const [at, socket] of sockets.entries()) {
      await socket.take('message', (frame) => (frame['message'] as Message).id === next.id);
      const frames = socket.frames.slice(seen[at]).filter(({ type }) => !['heartbeat', 'inbox.changed'].includes(type));
      // That she is there is no word of hers.
      const words = frames.filter(({ type, data }) => type !== 'presence' || data !== undefined);
      assert.deepEqual(
        words.map(({ type }) => type),
        ['message'],
      );
      assert.ok(!JSON.stringify(socket.frames).includes('spam'));
    }
    for (const socket of [...sockets, eves]) await socket.close();
    await lift();
  });
}

test('[MOD-22] one that is imposed while messages are sent splits them: each is for all or for the sender, none for both', async () => {
  const { room, ann, eve } = await withEve(chat);
  const sends = Array.from({ length: 40 }, (_, at) =>
    say({ api: at % 2 ? eve.api : second.as(eve.token) }, room, `m${at}`, { clientMessageId: `m${at}` }),
  );
  const imposed = chat.project.api.call('shadowInConversation', { room, userId: 'eve' });
  const sent = await Promise.all(sends);
  await imposed;
  const ofAll = new Set(
    (await ann.api.call('listMessages', { room, query: { limit: 100 } })).messages.map(({ id }) => id),
  );
  const ofEve = (await eve.api.call('listMessages', { room, query: { limit: 100 } })).messages.map(({ id }) => id);
  const hidden = await chat.project.api.call('listShadowMessages', { room, query: { limit: 100 } });
  assert.equal(new Set(ofEve).size, 40);
  assert.deepEqual(new Set(sent.map(({ id }) => id)), new Set(ofEve));
  assert.equal(ofAll.size + hidden.length, 40);
  for (const { id } of hidden) assert.ok(!ofAll.has(id));
  const late = await say(eve, room, 'late');
  await assertRefused(ann.api.call('getMessage', { messageId: late.id }), 404, 'SVC_MESSAGE_NOT_FOUND');
});
