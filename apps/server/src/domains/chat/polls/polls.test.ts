import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Message, Poll, PollDraft } from '@parley/contract';
import {
  assertRefused,
  type ChatOf,
  changesReceived,
  createChatKit,
  subscribe,
} from '../../../../testkit/chat/chat.ts';
import { eventually } from '../../../../testkit/kit/eventually.ts';
import type { TestService } from '../../../../testkit/kit/service.ts';
import { sharedService } from '../../../../testkit/kit/shared-service.ts';
import { sql } from '../../../core/sql.ts';

let service: TestService;
let chat: ChatOf;
before(async () => {
  service = await sharedService();
  chat = await createChatKit(service);
});

const lunch: PollDraft = { question: 'Lunch?', options: ['Pizza', 'Soup', 'Salad'] };
const ask = (room: string, poll: Partial<PollDraft> = {}, senderId = 'alice'): Promise<Message> =>
  chat.project.api.call('sendMessage', { room, body: { poll: { ...lunch, ...poll }, senderId } });
const counts = (poll: Poll | null | undefined): number[] => poll?.options.map(({ votes }) => votes) ?? [];
const later = (ms = 3_600_000): string => new Date(Date.now() + ms).toISOString();
const eventsOf = (messageId: string, type: string): Promise<{ data: Record<string, unknown> }[]> =>
  service.adapters.db
    .query<{ data: string }>(sql`
      select data from events where type = ${type} and strpos(data, ${messageId}) > 0 order by created_at, id`)
    .then((rows) => rows.map(({ data }) => ({ data: JSON.parse(data) })));

test('[POLL-1] a message asks; its words are its text, so that search, previews and moderation see them', async () => {
  const { id: room } = await chat.conversation();
  const alice = await chat.user('alice');
  const send = (body: object) => alice.api.call('sendMessage', { room, body });
  const made = await send({ poll: { ...lunch, maxVotes: 2, closesAt: later() }, clientMessageId: 'once' });
  assert.deepEqual([made.type, made.text], ['text', 'Lunch?\nPizza\nSoup\nSalad']);
  assert.deepEqual(
    [made.poll?.maxVotes, made.poll?.anonymous, made.poll?.closedAt, made.poll?.voters],
    [2, false, null, 0],
  );
  assert.deepEqual(made.poll?.options[2], { id: 3, text: 'Salad', votes: 0 });
  assert.equal((await send({ poll: lunch, clientMessageId: 'once' })).id, made.id);
  const wrong = [
    { poll: lunch, text: 'x' },
    { poll: lunch, attachmentIds: ['att_1', 'att_2'] },
    { poll: { ...lunch, options: ['a', 'a'] } },
    { poll: { ...lunch, options: ['a'] } },
    { poll: { ...lunch, maxVotes: 4 } },
    { poll: { ...lunch, closesAt: later(-1000) } },
    { poll: { ...lunch, question: 'two\nlines' } },
  ];
  for (const body of wrong) await assertRefused(send(body), 400, 'SVC_VALIDATION_FAILED');
  await assertRefused(alice.api.call('editMessage', { messageId: made.id, body: { text: 'x' } }), 403, 'SVC_FORBIDDEN');
  await service.service.chat.sweep.search();
  const { results } = await alice.api.call('searchMessages', { query: { q: 'pizza', conversation: room } });
  assert.deepEqual(
    results.map(({ message }) => message.id),
    [made.id],
  );
});

test('[POLL-9] word lists and links hold for the words of a poll, line by line', async () => {
  const other = await createChatKit(service);
  const { api } = other.project;
  const wordLists = [
    { name: 'no', action: 'reject' as const, words: ['forbidden'] },
    { name: 'hide', action: 'mask' as const, words: ['soup'] },
  ];
  await api.call('setChatModeration', { body: { wordLists, links: 'forbidden' } });
  const { id: room } = await other.conversation();
  const alice = await other.user('alice');
  const send = (...options: string[]) =>
    alice.api.call('sendMessage', { room, body: { poll: { question: 'Soup?', options } } });
  const { poll, text } = await send('yes', 'no soup');
  assert.deepEqual([poll?.question, poll?.options[1]?.text, text], ['****?', 'no ****', '****?\nyes\nno ****']);
  for (const option of ['forbidden', 'https://example.com'])
    await assertRefused(send('yes', option), 422, 'SVC_MESSAGE_REJECTED');
});

test('[POLL-2] votes are cast, changed and taken back; the voter sees their own, others the counts, gap-free', async () => {
  const { id: room } = await chat.conversation();
  const [alice, bob] = [await chat.user('alice'), await chat.user('bob')];
  const { id: messageId, change: from } = await ask(room, { maxVotes: 2 });
  const client = await alice.connect();
  await subscribe(client, room);
  const cast = (...optionIds: number[]) => bob.api.call('castVote', { messageId, body: { optionIds } });
  assert.deepEqual(
    [counts(await cast(1, 1)), (await cast(3, 2)).ownVotes],
    [
      [1, 0, 0],
      [2, 3],
    ],
  );
  await cast(2, 3);
  const frames = [await client.take('message.updated'), await client.take('message.updated')];
  assert.deepEqual(changesReceived(frames, room), [from + 1, from + 2]);
  const shown = frames.map((frame) => frame['message'] as Message);
  assert.deepEqual(
    [shown.map(({ poll }) => counts(poll)), shown[1]?.edited],
    [
      [
        [1, 0, 0],
        [0, 1, 1],
      ],
      false,
    ],
  );
  assert.equal(JSON.stringify(shown).includes('ownVotes'), false);
  assert.deepEqual((await bob.api.call('getMessage', { messageId })).poll?.ownVotes, [2, 3]);
  assert.equal((await alice.api.call('listMessages', { room })).messages[0]?.poll?.ownVotes, undefined);
  const socket = await bob.connect();
  const ack = await socket.ask({ type: 'poll.vote', messageId, optionIds: [] });
  assert.deepEqual(counts((ack['data'] as { poll: Poll }).poll), [0, 0, 0]);
  await bob.api.call('retractVote', { messageId });
  const { changes } = await alice.api.call('listChanges', { room });
  assert.deepEqual(
    changes.map(({ change, type }) => [change, type]).slice(-3),
    [1, 2, 3].map((step) => [from + step, 'message.updated']),
  );
  for (const optionIds of [[4], [1, 2, 3]]) await assertRefused(cast(...optionIds), 400, 'SVC_VALIDATION_FAILED');
  const events = await eventsOf(messageId, 'poll.voted');
  assert.deepEqual(
    events.map(({ data }) => [data['userId'], data['optionIds'], data['counts'], data['voters']]),
    [
      ['bob', [1], [1, 0, 0], 1],
      ['bob', [2, 3], [0, 1, 1], 1],
      ['bob', [], [0, 0, 0], 0],
    ],
  );
  await client.close();
  await socket.close();
});

test('[POLL-3] who votes must be a member who is not muted, in a conversation that is not archived', async () => {
  const { id: room } = await chat.conversation();
  const [bob, eve] = [await chat.user('bob'), await chat.user('eve')];
  const { id: messageId } = await ask(room);
  const { id: plain } = await chat.project.api.call('sendMessage', {
    room,
    body: { text: 'no poll', senderId: 'bob' },
  });
  const body = { optionIds: [1] };
  await assertRefused(eve.api.call('castVote', { messageId, body }), 403, 'SVC_NOT_A_MEMBER');
  await assertRefused(bob.api.call('castVote', { messageId: plain, body }), 404, 'SVC_POLL_NOT_FOUND');
  await assertRefused(chat.project.api.call('castVote', { messageId, body }), 400, 'SVC_USER_REQUIRED');
  const narrow = await chat.user('bob', { scopes: ['chat:read'] });
  await assertRefused(narrow.api.call('castVote', { messageId, body }), 403, 'SVC_SCOPE_MISSING');
  await bob.api.call('castVote', { messageId, body });
  await chat.project.api.call('muteInConversation', { room, userId: 'bob', body: {} });
  await assertRefused(bob.api.call('castVote', { messageId, body: { optionIds: [2] } }), 403, 'SVC_CHAT_MUTED');
  assert.deepEqual(counts(await bob.api.call('retractVote', { messageId })), [0, 0, 0]);
  await chat.project.api.call('updateConversation', { room, body: { status: 'ARCHIVED' } });
  await assertRefused(
    chat.project.api.call('castVote', { messageId, body: { ...body, userId: 'bob' } }),
    409,
    'SVC_CONVERSATION_ARCHIVED',
  );
});

test('[POLL-4] counts are exact when many vote, change and retract at once: as in a model of the last answers', async () => {
  const { id: room } = await chat.conversation();
  const { id: messageId, change: from } = await ask(room, { maxVotes: 3 });
  const client = await (await chat.user('alice')).connect();
  await subscribe(client, room);
  const voters = Array.from({ length: 40 }, (_none, at) => `voter-${at}`);
  const model = new Map<string, number[]>();
  // Of one voter in turn, of all at once: the last one of each is known.
  await Promise.all(
    voters.map(async (userId, at) => {
      for (let turn = 0; turn < 5; turn++) {
        const optionIds = [1, 2, 3].filter((id) => ((at * 7 + turn * 5 + id * id) >> (id - 1)) % 2 === 0);
        if (optionIds.length > 0) await chat.project.api.call('castVote', { messageId, body: { optionIds, userId } });
        else await chat.project.api.call('retractVote', { messageId, query: { userId } });
        model.set(userId, optionIds);
      }
    }),
  );
  const expected = [1, 2, 3].map((id) => [...model.values()].filter((ids) => ids.includes(id)).length);
  const voting = [...model.values()].filter((ids) => ids.length > 0).length;
  const message = await chat.project.api.call('getMessage', { messageId });
  assert.deepEqual([counts(message.poll), message.poll?.voters], [expected, voting]);
  const { changes } = await chat.project.api.call('listChanges', { room });
  assert.deepEqual(
    changes.filter(({ change }) => change > from).map(({ change }) => change),
    Array.from({ length: message.change - from }, (_none, at) => from + at + 1),
  );
  await eventually(() => assert.equal(changesReceived(client.frames, room).at(-1), message.change));
  const listed: { userId: string; optionIds: number[] }[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const query = { limit: 7, ...(cursor === undefined ? {} : { cursor }) };
    const reply = await chat.project.api.request('listPollVotes', { messageId, query });
    listed.push(...reply.body);
    cursor = reply.headers.get('x-next-cursor');
  }
  const ofFirst = await chat.project.api.call('listPollVotes', { messageId, query: { optionId: 1, limit: 200 } });
  assert.equal(ofFirst.length, expected[0]);
  assert.deepEqual(
    new Map(listed.map(({ userId, optionIds }) => [userId, optionIds])),
    new Map([...model].filter(([, ids]) => ids.length > 0)),
  );
  await client.close();
});

test('[POLL-5] an anonymous poll tells nobody who voted: not in messages, frames, changes, events or lists', async () => {
  const { id: room } = await chat.conversation(['alice', 'secret-voter']);
  const { id: messageId } = await ask(room, { anonymous: true });
  const alice = await chat.user('alice');
  const client = await alice.connect();
  await subscribe(client, room);
  const voter = await chat.user('secret-voter');
  assert.deepEqual((await voter.api.call('castVote', { messageId, body: { optionIds: [2] } })).ownVotes, [2]);
  const frame = await client.take('message.updated');
  for (const { api } of [alice, chat.project])
    await assertRefused(api.call('listPollVotes', { messageId }), 403, 'SVC_FORBIDDEN');
  const { changes } = await chat.project.api.call('listChanges', { room });
  const [event] = await eventsOf(messageId, 'poll.voted');
  assert.deepEqual([event?.data['userId'], event?.data['optionIds'], event?.data['counts']], [null, null, [0, 1, 0]]);
  const told = JSON.stringify([frame, changes, event, await alice.api.call('getMessage', { messageId })]);
  assert.equal(told.includes('secret-voter'), false);
  await client.close();
});

test('[POLL-6] its author, a moderator or a server closes it; a vote after that, or after its time, is refused', async () => {
  const { id: room } = await chat.conversation(['alice', 'bob', { userId: 'mo', role: 'MODERATOR' }]);
  const [alice, bob, mo] = [await chat.user('alice'), await chat.user('bob'), await chat.user('mo')];
  const [first, second] = [await ask(room), await ask(room)];
  await bob.api.call('castVote', { messageId: first.id, body: { optionIds: [1] } });
  await assertRefused(bob.api.call('closePoll', { messageId: first.id }), 403, 'SVC_FORBIDDEN');
  const closed = await alice.api.call('closePoll', { messageId: first.id });
  assert.notEqual(closed.closedAt, null);
  assert.equal((await mo.api.call('closePoll', { messageId: first.id })).closedAt, closed.closedAt);
  await mo.api.call('closePoll', { messageId: second.id });
  for (const messageId of [first.id, second.id])
    await assertRefused(bob.api.call('castVote', { messageId, body: { optionIds: [2] } }), 409, 'SVC_POLL_CLOSED');
  await assertRefused(bob.api.call('retractVote', { messageId: first.id }), 409, 'SVC_POLL_CLOSED');
  const events = await eventsOf(first.id, 'poll.closed');
  assert.deepEqual(
    events.map(({ data }) => [data['closedBy'], data['counts'], data['voters']]),
    [['alice', [1, 0, 0], 1]],
  );
});

test('[POLL-7] its time closes it, once, however many processes look; and a vote after it is refused before anybody has looked', async () => {
  const { id: room } = await chat.conversation();
  const client = await (await chat.user('alice')).connect();
  await subscribe(client, room);
  const closesAt = later();
  const { id: messageId } = await ask(room, { closesAt });
  await client.take('message');
  const past = new Date(Date.now() - 1000).toISOString();
  // Its time has come, and no chore looks there: what the rules read is the poll itself.
  await service.adapters.db.execute(sql`
    update messages set poll = poll || jsonb_build_object('closesAt', ${past}::text) where id = ${messageId}`);
  await assertRefused(
    chat.project.api.call('castVote', { messageId, body: { optionIds: [1], userId: 'bob' } }),
    409,
    'SVC_POLL_CLOSED',
  );
  await service.adapters.db.execute(sql`update messages set poll_closes_at = ${past} where id = ${messageId}`);
  const { polls } = service.service.chat.sweep;
  await Promise.all([polls(), polls(), polls()]);
  const { poll } = (await client.take('message.updated'))['message'] as Message;
  assert.deepEqual([poll?.closedAt, poll?.closesAt], [past, past]);
  const events = await eventsOf(messageId, 'poll.closed');
  assert.deepEqual(
    events.map(({ data }) => [data['closedBy'], data['at']]),
    [[null, past]],
  );
  const { changes } = await chat.project.api.call('listChanges', { room });
  assert.equal(changes.length, 2);
  await client.close();
});

test('[POLL-8] a message that is deleted or retired takes its poll and the votes with it', async () => {
  const { id: room } = await chat.conversation();
  const [first, second] = [await ask(room), await ask(room)];
  const body = { optionIds: [1], userId: 'bob' };
  for (const { id: messageId } of [first, second]) await chat.project.api.call('castVote', { messageId, body });
  const deleted = await chat.project.api.call('deleteMessage', { messageId: first.id });
  assert.deepEqual([deleted.poll, deleted.text], [undefined, null]);
  await assertRefused(chat.project.api.call('castVote', { messageId: first.id, body }), 404, 'SVC_MESSAGE_NOT_FOUND');
  await chat.project.api.call('updateConversation', { room, body: { retentionDays: 7 } });
  await service.adapters.db.execute(sql`
    update messages set created_at = created_at - interval '8 days' where id = any(${[first.id, second.id]})`);
  await service.service.chat.sweep.retention();
  const left = await service.adapters.db.query(sql`
    select message_id from poll_votes where message_id = any(${[first.id, second.id]})`);
  assert.deepEqual(left, []);
});
