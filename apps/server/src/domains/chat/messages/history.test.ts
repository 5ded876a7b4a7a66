import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { assertRefused, type ChatOf, createChatKit } from '../../../../testkit/chat/chat.ts';
import type { TestService } from '../../../../testkit/kit/service.ts';
import { sharedService } from '../../../../testkit/kit/shared-service.ts';

let service: TestService;
let chat: ChatOf;
let room: string;
const sent: string[] = [];
before(async () => {
  service = await sharedService();
  chat = await createChatKit(service);
  room = (await chat.conversation()).id;
  for (let at = 0; at < 23; at++) {
    const body = { text: `m${at}`, senderId: at % 3 === 0 ? 'alice' : 'bob' };
    sent.push((await chat.project.api.call('sendMessage', { room, body })).id);
  }
});

const page = (query: object = {}) => chat.project.api.call('listMessages', { room, query });
const idsOf = ({ messages }: { messages: { id: string }[] }) => messages.map(({ id }) => id);

test('[HIST-1] history is newest first; `before` walks back to the beginning without a hole or a repeat', async () => {
  const seen: string[] = [];
  for (let before: string | null | undefined; before !== null; ) {
    const got = await page({ limit: 5, ...(before ? { before } : {}) });
    seen.push(...idsOf(got));
    before = got.nextCursor;
  }
  assert.deepEqual(seen, [...sent].reverse());
});

test('[HIST-2] `after` gives what comes next, newest first, and ends with null when caught up', async () => {
  const start = (await page({ limit: 23 })).messages.at(-1);
  const first = await page({ limit: 1 });
  assert.equal(idsOf(first)[0], sent.at(-1));
  assert.ok(start);
  const oldest = await page({ limit: 22 });
  const seen: string[] = [];
  // The cursor of the oldest page stands before its last message.
  for (let after: string | null = oldest.nextCursor; after !== null; ) {
    const got: Awaited<ReturnType<typeof page>> = await page({ limit: 4, after });
    seen.push(...idsOf(got).reverse());
    after = got.nextCursor;
  }
  assert.deepEqual(seen, sent.slice(2));
});

test('[HIST-3] latestCursor starts the next catch-up, also in an empty conversation', async () => {
  const { id } = await chat.conversation();
  const read = (query: object = {}) => chat.project.api.call('listMessages', { room: id, query });
  const empty = await read();
  assert.deepEqual([empty.messages, empty.nextCursor, typeof empty.latestCursor], [[], null, 'string']);
  const { id: messageId } = await chat.project.api.call('sendMessage', { room: id, body: { text: 'new' } });
  const caughtUp = await read({ after: empty.latestCursor });
  assert.deepEqual([idsOf(caughtUp), caughtUp.nextCursor], [[messageId], null]);
  assert.deepEqual((await read({ after: caughtUp.latestCursor })).messages, []);
});

test('[HIST-4] filters by sender and thread; page size is 50 by default and at most the limit', async () => {
  const byAlice = await page({ senderId: 'alice', limit: 100 });
  assert.deepEqual(idsOf(byAlice), sent.filter((_, at) => at % 3 === 0).reverse());
  const body = { text: 'reply', replyTo: sent[0] ?? '' };
  const { id } = await chat.project.api.call('sendMessage', { room, body });
  assert.deepEqual(idsOf(await page({ threadRootId: sent[0] })), [id]);
  await chat.project.api.call('deleteMessage', { messageId: id });
  assert.deepEqual(idsOf(await page({ threadRootId: sent[0] })), []);
  for (const limit of [0, 101, 1.5, 'x']) await assertRefused(page({ limit }), 400, 'SVC_VALIDATION_FAILED');
  for (const includeDeleted of ['yes', '1'])
    await assertRefused(page({ includeDeleted }), 400, 'SVC_VALIDATION_FAILED');
});

test('[HIST-5] a cursor of another conversation, an altered or a made-up one is refused, never page one', async () => {
  const other = await chat.conversation();
  await chat.project.api.call('sendMessage', { room: other.id, body: { text: 'x' } });
  const foreign = (await chat.project.api.call('listMessages', { room: other.id })).latestCursor ?? '';
  const own = (await page()).latestCursor ?? '';
  const altered = `${own.slice(0, -2)}${own.endsWith('A') ? 'B' : 'A'}${own.slice(-1)}`;
  for (const cursor of [foreign, altered, 'nonsense', '!!!', `${own}=`, own.slice(1)]) {
    await assertRefused(page({ before: cursor }), 400, 'SVC_INVALID_CURSOR');
    await assertRefused(page({ after: cursor }), 400, 'SVC_INVALID_CURSOR');
    await assertRefused(
      chat.project.api.call('listChanges', { room, query: { since: cursor } }),
      400,
      'SVC_INVALID_CURSOR',
    );
  }
  await assertRefused(page({ before: own, after: own }), 400, 'SVC_VALIDATION_FAILED');
  await assertRefused(page({ before: 'x'.repeat(257) }), 400, 'SVC_VALIDATION_FAILED');
});

test('[CHG-1] changes are dense and in order over messages, edits, deletes, reactions, members and the conversation', async () => {
  const { id } = await chat.conversation();
  const { api } = chat.project;
  const { id: messageId } = await api.call('sendMessage', { room: id, body: { text: 'x', senderId: 'alice' } });
  await api.call('addReaction', { messageId, body: { emoji: '👍', userId: 'bob' } });
  await api.call('editMessage', { messageId, body: { text: 'y' } });
  await api.call('addConversationMember', { room: id, body: { userId: 'carol' } });
  await api.call('changeConversationMember', { room: id, userId: 'carol', body: { role: 'ADMIN' } });
  await api.call('removeReaction', { messageId, emoji: '👍', query: { userId: 'bob' } });
  await api.call('removeConversationMember', { room: id, userId: 'carol' });
  await api.call('updateConversation', { room: id, body: { metadata: { a: 1 } } });
  await api.call('deleteMessage', { messageId });
  const whole = await api.call('listChanges', { room: id });
  assert.deepEqual(
    whole.changes.map(({ change, type }) => [change, type]),
    [
      [1, 'message'],
      [2, 'reaction.added'],
      [3, 'message.updated'],
      [4, 'member.added'],
      [5, 'member.updated'],
      [6, 'reaction.removed'],
      [7, 'member.removed'],
      [8, 'conversation.updated'],
      [9, 'message.deleted'],
    ],
  );
  assert.deepEqual([whole.complete, whole.change], [true, 9]);

  const paged: unknown[] = [];
  for (let since = ''; ; ) {
    const got = await api.call('listChanges', { room: id, query: { limit: 2, ...(since ? { since } : {}) } });
    paged.push(...got.changes);
    since = got.nextCursor;
    if (got.complete) break;
  }
  assert.deepEqual(paged, whole.changes);
  assert.deepEqual((await api.call('listChanges', { room: id, query: { since: whole.nextCursor } })).changes, []);
});

test('[CHG-2] readers who page while sixteen write miss nothing and see nothing twice', async () => {
  const { id } = await chat.conversation();
  const { api } = chat.project;
  const [writers, each] = [16, 25];
  let isWriting = true;
  const writing = Promise.all(
    Array.from({ length: writers }, async (_, writer) => {
      for (let at = 0; at < each; at++) {
        await api.call('sendMessage', { room: id, body: { text: `${writer}/${at}`, senderId: `w${writer}` } });
      }
    }),
  ).finally(() => {
    isWriting = false;
  });
  const follow = async (limit: number): Promise<number[]> => {
    const seen: number[] = [];
    let after = (await api.call('listMessages', { room: id, query: { limit: 1, senderId: 'nobody' } })).latestCursor;
    for (let isLast = false; !isLast; ) {
      isLast = !isWriting;
      for (let cursor: string | null = after; cursor !== null; ) {
        const got: Awaited<ReturnType<typeof page>> = await api.call('listMessages', {
          room: id,
          query: { limit, after: cursor },
        });
        seen.push(...got.messages.map(({ seq }) => seq).reverse());
        after = got.nextCursor ?? got.latestCursor;
        cursor = got.nextCursor;
      }
    }
    return seen;
  };
  const [early, ...rest] = await Promise.all([follow(1), follow(7), follow(100), writing]);
  for (const seen of [early, ...rest.slice(0, 2)] as number[][]) {
    const start = (seen[0] ?? 1) - 1;
    assert.deepEqual(
      seen,
      Array.from({ length: writers * each - start }, (_, at) => start + at + 1),
    );
  }
});
