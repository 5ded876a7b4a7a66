import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { InboxEntry, Message, MessagePage } from '@parley/contract';
import { assertRefused, type ChatOf, createChatKit, refusal } from '../../../../testkit/chat/chat.ts';
import { places, say, textsOf, uploaded, withEve } from '../../../../testkit/chat/shadow.ts';
import { eventually } from '../../../../testkit/kit/eventually.ts';
import { createFakeClock } from '../../../../testkit/kit/fake-clock.ts';
import { startService, type TestService } from '../../../../testkit/kit/service.ts';
import { sql } from '../../../core/sql.ts';

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

const inMs = (ms: number): string => new Date(clock.now() + ms).toISOString();
test('[MOD-21] API keys and moderators put users into the shadow and lift it; it ends by itself, and only they are told', async () => {
  const { api } = chat.project;
  const { room, ann, eve, mod } = await withEve(chat);
  const until = inMs(60_000);
  const made = await mod.api.call('shadowInConversation', { room, userId: 'eve', body: { until, reason: 'spam' } });
  assert.deepEqual(
    [made.kind, made.userId, made.conversationId, made.until, made.reason, made.imposedBy],
    ['SHADOW', 'eve', room, until, 'spam', 'mod'],
  );
  assert.deepEqual(await mod.api.call('listConversationShadows', { room }), [made]);
  assert.deepEqual(await api.call('listConversationMutes', { room }), []);
  for (const user of [ann, eve]) {
    await assertRefused(user.api.call('listConversationShadows', { room }), 403, 'SVC_FORBIDDEN');
    await assertRefused(user.api.call('listShadowMessages', { room }), 403, 'SVC_FORBIDDEN');
    await assertRefused(user.api.call('shadowInConversation', { room, userId: 'mod' }), 403, 'SVC_FORBIDDEN');
  }
  await assertRefused(mod.api.call('shadowInConversation', { room, userId: 'mod' }), 403, 'SVC_FORBIDDEN');
  await assertRefused(api.call('shadowInConversation', { room, userId: 'zoe' }), 404, 'SVC_MEMBER_NOT_FOUND');
  await say(eve, room, 'hidden');
  clock.jump(60_000);
  assert.deepEqual(await api.call('listConversationShadows', { room }), []);
  await say(eve, room, 'seen');
  assert.deepEqual(textsOf((await ann.api.call('listMessages', { room })).messages), ['seen']);

  await api.call('shadowInChat', { userId: 'eve', body: { reason: 'everywhere' } });
  assert.deepEqual(
    (await api.call('listChatShadows')).map(({ userId, conversationId }) => [userId, conversationId]),
    [['eve', null]],
  );
  for (const [at, process] of [service, second].entries()) {
    await eventually(async () => {
      await say({ api: process.as(eve.token) }, room, `everywhere ${at}`);
      const [last] = await api.call('listShadowMessages', { room });
      assert.equal(last?.text, `everywhere ${at}`);
    });
  }
  await api.call('unshadowInChat', { userId: 'eve' });
  await eventually(async () => assert.equal((await say(eve, room, 'back')).seq > 1, true));
  const types = await service.adapters.db.query<{ type: string; topic: string | null }>(sql`
    select type, topic from events where type like 'user.%shadowed' and data::jsonb->'sanction'->>'userId' = 'eve'
      and project_id = ${chat.project.id} order by created_at, type`);
  assert.deepEqual(new Set(types.map(({ type }) => type)), new Set(['user.shadowed', 'user.unshadowed']));
  // Subscribers of the conversation get events of its topic.
  assert.ok(types.every(({ topic }) => topic === null));
});

test('[MOD-21] a moderator in the shadow finds neither themselves nor their messages in the lists of moderators', async () => {
  const { api } = chat.project;
  const { room, eve, mod, put } = await withEve(chat);
  await put();
  await api.call('shadowInConversation', { room, userId: 'mod' });
  await say(eve, room, 'of eve');
  await say(mod, room, 'of mod');
  const usersOf = (shadows: readonly { userId: string }[]) => shadows.map(({ userId }) => userId).sort();
  assert.deepEqual(usersOf(await mod.api.call('listConversationShadows', { room })), ['eve']);
  assert.deepEqual(textsOf(await mod.api.call('listShadowMessages', { room })), ['of eve']);
  assert.deepEqual(usersOf(await api.call('listConversationShadows', { room })), ['eve', 'mod']);
  assert.deepEqual(textsOf(await api.call('listShadowMessages', { room })), ['of mod', 'of eve']);
});

test('[MOD-23] the sender sees it where it was sent: in every page of the history, its thread and the inbox, none twice and none lost', async () => {
  const { room, ann, eve, put } = await withEve(chat);
  await put();
  await say(eve, room, 'e0');
  for (let at = 1; at <= 7; at++) {
    await say(ann, room, `a${at}`);
    for (let own = 0; own < at % 3; own++) await say(eve, room, `e${at}.${own}`);
  }
  const whole = [
    'e0',
    'a1',
    'e1.0',
    'a2',
    'e2.0',
    'e2.1',
    'a3',
    'a4',
    'e4.0',
    'a5',
    'e5.0',
    'e5.1',
    'a6',
    'a7',
    'e7.0',
  ];
  const newestFirst = whole.toReversed();
  const all = await eve.api.call('listMessages', { room });
  assert.deepEqual(textsOf(all.messages), newestFirst);
  assert.deepEqual(
    textsOf((await ann.api.call('listMessages', { room })).messages),
    newestFirst.filter((text) => text.startsWith('a')),
  );
  assert.deepEqual(
    all.messages.map(({ seq }) => seq),
    [7, 7, 6, 5, 5, 5, 4, 4, 3, 2, 2, 2, 1, 1, 0],
  );
  // The clock of this test stands still: among equal numbers the times tell the order.
  for (const [at, { seq, createdAt }] of all.messages.entries()) {
    const later = all.messages[at - 1];
    assert.ok(later?.seq !== seq || later.createdAt > createdAt);
  }
  for (const limit of [1, 2, 3, 5, 15]) {
    const back: (string | null)[] = [];
    for (let before: string | null | undefined; before !== null; ) {
      const query = { limit, ...(before ? { before } : {}) };
      const page: MessagePage = await eve.api.call('listMessages', { room, query });
      back.push(...textsOf(page.messages));
      before = page.nextCursor;
    }
    assert.deepEqual(back, newestFirst, `back by ${limit}`);
    const forth: (string | null)[] = [];
    const first = await eve.api.call('listMessages', { room, query: { limit: 14 } });
    assert.ok(first.nextCursor);
    let cursor: string | null = first.nextCursor;
    while (cursor) {
      const page: MessagePage = await eve.api.call('listMessages', { room, query: { limit, after: cursor } });
      forth.push(...textsOf(page.messages).toReversed());
      cursor = page.nextCursor;
    }
    assert.deepEqual(forth, whole.slice(2), `forth by ${limit}`);
  }
  const socket = await eve.connect();
  const paged = await socket.ask({ type: 'history', conversation: room, limit: 4 });
  assert.deepEqual(textsOf((paged['data'] as { messages: Message[] }).messages), newestFirst.slice(0, 4));
  await socket.close();

  const live = await eve.connect();
  await live.ask({ type: 'inbox.subscribe' });
  await eve.api.call('changeInboxEntry', { room, body: { pinned: true } });
  const changed = await live.take('inbox.changed', ({ entry }) => (entry as InboxEntry).pinned);
  assert.equal((changed['entry'] as InboxEntry).lastMessage?.text, 'e7.0');
  await live.close();
  const [inbox] = (await eve.api.call('listInbox')).filter(({ conversation }) => conversation.id === room);
  assert.equal(inbox?.lastMessage?.text, 'e7.0');
  const { messages: none } = await eve.api.call('listMessages', { room, query: { after: all.latestCursor ?? '' } });
  assert.deepEqual(none, []);
  await say(eve, room, 'e7.1');
  const { messages: later } = await eve.api.call('listMessages', { room, query: { after: all.latestCursor ?? '' } });
  assert.deepEqual(textsOf(later), ['e7.1']);
  await say(ann, room, 'a8');
  const [theirs] = (await eve.api.call('listInbox')).filter(({ conversation }) => conversation.id === room);
  assert.equal(theirs?.lastMessage?.text, 'a8');
});

test('[MOD-24] the sender edits, deletes, reacts to, reads up to and answers it; a lifted shadow publishes nothing', async () => {
  const { api } = chat.project;
  const { room, ann, eve, put } = await withEve(chat);
  const root = await say(ann, room, 'root');
  await put();
  const sent = await say(eve, room, 'answer', { replyTo: root.id, clientMessageId: 'c1' });
  assert.deepEqual([sent.seq, sent.threadRootId, sent.senderId], [root.seq, root.id, 'eve']);
  assert.deepEqual(await eve.api.call('getMessage', { messageId: sent.id }), sent);
  assert.equal((await say(eve, room, 'other words', { clientMessageId: 'c1' })).id, sent.id);
  const edited = await eve.api.call('editMessage', {
    messageId: sent.id,
    body: { text: 'better', metadata: { a: 1 } },
  });
  assert.deepEqual([edited.text, edited.edited, edited.metadata], ['better', true, { a: 1 }]);
  assert.deepEqual(await eve.api.call('addReaction', { messageId: sent.id, body: { emoji: '👍' } }), [
    { emoji: '👍', count: 1, userIds: ['eve'], reacted: true },
  ]);
  assert.equal((await eve.api.call('getMessage', { messageId: sent.id })).reactions[0]?.reacted, true);
  await eve.api.call('removeReaction', { messageId: sent.id, emoji: '👍' });
  const { lastReadMessageId } = await eve.api.call('markRead', { messageId: sent.id });
  assert.equal(lastReadMessageId, root.id);
  const answer = await say(eve, room, 'and more', { replyTo: sent.id });
  assert.equal(answer.threadRootId, root.id);
  for (const messageId of [root.id, sent.id, answer.id])
    assert.deepEqual(textsOf(await eve.api.call('getThread', { messageId })), ['root', 'better', 'and more']);
  assert.deepEqual(textsOf(await ann.api.call('getThread', { messageId: root.id })), ['root']);
  const page = await eve.api.request('getThread', { messageId: root.id, query: { limit: 2 } });
  assert.deepEqual(textsOf(page.body), ['root', 'better']);

  await api.call('unshadowInConversation', { room, userId: 'eve' });
  assert.equal((await say(eve, room, 'again', { clientMessageId: 'c1' })).id, sent.id);
  const hidden = await say(eve, room, 'answers what others have not', { replyTo: sent.id });
  const free = await say(eve, room, 'free');
  assert.deepEqual([free.seq, hidden.seq], [root.seq + 1, root.seq]);
  assert.deepEqual(textsOf((await ann.api.call('listMessages', { room })).messages), ['free', 'root']);
  assert.deepEqual(textsOf((await eve.api.call('listMessages', { room })).messages), [
    'free',
    'answers what others have not',
    'and more',
    'better',
    'root',
  ]);
  const gone = await eve.api.call('deleteMessage', { messageId: sent.id });
  assert.deepEqual([gone.deleted, gone.text, gone.deletedBy], [true, null, 'eve']);
  await assertRefused(eve.api.call('getMessage', { messageId: sent.id }), 404, 'SVC_MESSAGE_NOT_FOUND');
  await assertRefused(
    eve.api.call('castVote', { messageId: sent.id, body: { optionIds: [1] } }),
    404,
    'SVC_MESSAGE_NOT_FOUND',
  );
});

test('[MOD-25] votes in a poll of the shadow are answered to its author as in any poll, and to nobody else', async () => {
  const { room, ann, eve, mod, put } = await withEve(chat);
  await put();
  const poll = { question: 'Spam?', options: ['Yes', 'No'], closesAt: inMs(600_000) };
  const { id: messageId } = await eve.api.call('sendMessage', { room, body: { poll } });
  const voted = await eve.api.call('castVote', { messageId, body: { optionIds: [2] } });
  assert.deepEqual([voted.options.map(({ votes }) => votes), voted.voters, voted.ownVotes], [[0, 1], 1, [2]]);
  assert.equal((await eve.api.call('retractVote', { messageId })).voters, 0);
  const vote = (user: typeof eve, optionIds: number[], id = messageId) =>
    user.api.call('castVote', { messageId: id, body: { optionIds } });
  await assertRefused(vote(eve, [3]), 400, 'SVC_VALIDATION_FAILED');
  await assertRefused(vote(eve, [1], (await say(eve, room, 'no poll')).id), 404, 'SVC_POLL_NOT_FOUND');
  for (const other of [ann, mod]) await assertRefused(vote(other, [1]), 404, 'SVC_MESSAGE_NOT_FOUND');
  assert.equal((await chat.project.api.call('getMessage', { messageId })).poll?.voters, 0);
  clock.jump(600_000);
  await assertRefused(vote(await chat.user('eve'), [1]), 409, 'SVC_POLL_CLOSED');
});

for (const [place, enter] of Object.entries(places)) {
  test(`[MOD-25] no other way leads out: scheduled messages, forwards, edits of what was said before, reactions, votes (${place})`, async () => {
    const { api } = chat.project;
    const { room, ann, eve } = await withEve(chat);
    const said = await say(eve, room, 'harmless');
    const theirs = await say(ann, room, 'hello');
    const poll = await ann.api.call('sendMessage', {
      room,
      body: { poll: { question: 'Tea?', options: ['Yes', 'No'] } },
    });
    await eve.api.call('scheduleMessage', { room, body: { text: 'spam later', sendAt: inMs(60_000) } });
    const lift = await enter(chat, room);
    clock.jump(61_000);
    await service.service.chat.sweep.scheduled();
    await eve.api.call('sendMessage', { room, body: { forward: { messageId: theirs.id } } });
    const refused = await refusal(eve.api.call('editMessage', { messageId: said.id, body: { text: 'spam' } }));
    assert.deepEqual([refused.status, refused.code], [403, 'SVC_FORBIDDEN']);
    assert.ok(!/shadow/i.test(JSON.stringify(refused.body)));
    const reactions = await eve.api.call('addReaction', { messageId: theirs.id, body: { emoji: 'spam' } });
    assert.deepEqual(reactions, [{ emoji: 'spam', count: 1, userIds: ['eve'], reacted: true }]);
    await eve.api.call('removeReaction', { messageId: theirs.id, emoji: 'spam' });
    const voted = await eve.api.call('castVote', { messageId: poll.id, body: { optionIds: [1] } });
    assert.deepEqual([voted.voters, voted.ownVotes], [1, [1]]);
    assert.equal((await ann.api.call('getMessage', { messageId: poll.id })).poll?.voters, 0);
    assert.deepEqual((await ann.api.call('getMessage', { messageId: theirs.id })).reactions, []);
    assert.equal((await ann.api.call('listMessages', { room })).messages.length, 3);
    assert.deepEqual(textsOf(await api.call('listShadowMessages', { room })), ['hello', 'spam later']);
    // What is hers she may take back.
    await eve.api.call('deleteMessage', { messageId: said.id });
    await lift();
  });
}

test('[MOD-26] moderators and servers see what was sent in the shadow, and its files; webhooks get message.shadowed', async () => {
  const { api } = chat.project;
  const { room, ann, eve, mod, put } = await withEve(chat);
  await put();
  const attachmentId = await uploaded(eve, room);
  const sent: Message[] = [];
  for (let at = 0; at < 5; at++) sent.push(await say(eve, room, `spam ${at}`, at === 4 ? { attachmentId } : {}));
  for (const reader of [api, mod.api]) {
    const first = await reader.request('listShadowMessages', { room, query: { limit: 2 } });
    assert.deepEqual(textsOf(first.body), ['spam 4', 'spam 3']);
    const cursor = first.headers.get('x-next-cursor') ?? assert.fail('no cursor');
    assert.deepEqual(textsOf(await reader.call('listShadowMessages', { room, query: { cursor } })), [
      'spam 2',
      'spam 1',
      'spam 0',
    ]);
    assert.equal((await reader.call('getMessage', { messageId: sent[4]?.id ?? '' })).text, 'spam 4');
    await reader.call('getAttachmentDownload', { attachmentId });
  }
  await eve.api.call('getAttachmentDownload', { attachmentId });
  await assertRefused(ann.api.call('getAttachmentDownload', { attachmentId }), 404, 'SVC_ATTACHMENT_NOT_FOUND');
  await mod.api.call('deleteMessage', { messageId: sent[0]?.id ?? '' });
  assert.equal((await mod.api.call('listShadowMessages', { room })).length, 4);
  const events = await service.adapters.db.query<{ type: string; topic: string | null }>(sql`
    select type, topic from events
    where project_id = ${chat.project.id} and data::jsonb->>'conversationId' = ${room}
      and type in ('message.created', 'message.shadowed', 'message.deleted') order by created_at, id`);
  assert.deepEqual(new Set(events.map(({ type }) => type)), new Set(['message.shadowed']));
  assert.equal(events.length, 5);
  // Subscribers of the conversation get events of its topic.
  assert.ok(events.every(({ topic }) => topic === null));
});

test('[MOD-25] slow mode, mutes, bans, word lists and what a message refers to are asked of a user in the shadow too', async () => {
  const { api } = chat.project;
  const { room, eve, put } = await withEve(chat);
  await put();
  const flagged = { name: 'watch', action: 'flag' as const, words: ['watched'] };
  const never = { name: 'never', action: 'reject' as const, words: ['forbidden'] };
  const masked = { name: 'rude', action: 'mask' as const, words: ['darn'] };
  await api.call('setChatModeration', { body: { wordLists: [flagged, never, masked] } });
  await eventually(() => assertRefused(say(eve, room, 'a forbidden word'), 422, 'SVC_MESSAGE_REJECTED'));
  const rude = await say(eve, room, 'darn it');
  assert.equal(rude.text, '**** it');
  assert.equal((await eve.api.call('editMessage', { messageId: rude.id, body: { text: 'oh darn' } })).text, 'oh ****');
  const watched = await say(eve, room, 'a watched word');
  const report = (await api.call('listChatReports')).find(({ messageId }) => messageId === watched.id);
  assert.equal(report?.source, 'WORD_LIST');
  await api.call('resolveChatReport', { reportId: report?.id ?? '', body: { action: 'delete_message' } });
  await assertRefused(eve.api.call('getMessage', { messageId: watched.id }), 404, 'SVC_MESSAGE_NOT_FOUND');
  await api.call('setChatModeration', { body: { wordLists: [] } });

  await assertRefused(say(eve, room, 'x', { replyTo: watched.id }), 400, 'SVC_INVALID_REPLY_TARGET');
  await assertRefused(say(eve, room, 'x', { mentions: { users: ['nobody'] } }), 400, 'SVC_VALIDATION_FAILED');
  await assertRefused(
    say(eve, room, 'x', { attachmentId: 'att_000000000000000000000000' }),
    404,
    'SVC_ATTACHMENT_NOT_FOUND',
  );
  await api.call('updateConversation', { room, body: { slowModeSeconds: 30 } });
  clock.jump(31_000);
  await say(eve, room, 'slow');
  await assertRefused(say(eve, room, 'too soon'), 429, 'SVC_SLOW_MODE');
  await api.call('updateConversation', { room, body: { slowModeSeconds: 0 } });
  await api.call('muteInConversation', { room, userId: 'eve' });
  await assertRefused(say(eve, room, 'muted'), 403, 'SVC_CHAT_MUTED');
  await assertRefused(
    eve.api.call('editMessage', { messageId: rude.id, body: { text: 'muted' } }),
    403,
    'SVC_CHAT_MUTED',
  );
  await api.call('banFromConversation', { room, userId: 'eve' });
  await assertRefused(eve.api.call('getMessage', { messageId: rude.id }), 403, 'SVC_CHAT_BANNED');
});

test('[MOD-24] a retry by its key of a message whose answer was lost gives it again', async () => {
  const { api } = chat.project;
  const { room, eve, put } = await withEve(chat);
  await put();
  const send = () => eve.api.call('sendMessage', { room, body: { text: 'once' } }, { idempotencyKey: 'once' });
  const { id } = await send();
  await service.adapters.db.execute(sql`
    update idempotency_keys set status = null, answer = null, locked_until = ${inMs(-1)}`);
  assert.equal((await send()).id, id);
  assert.equal((await api.call('listShadowMessages', { room })).length, 1);
});
