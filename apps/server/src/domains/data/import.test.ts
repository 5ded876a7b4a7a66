import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { DataJob, ImportLine } from '@parley/contract';
import { chatAs, subscribe } from '../../../testkit/chat/chat.ts';
import { eventually } from '../../../testkit/kit/eventually.ts';
import { failure } from '../../../testkit/kit/failure.ts';
import type { TestProject } from '../../../testkit/kit/people.ts';
import type { TestService } from '../../../testkit/kit/service.ts';
import { sharedService } from '../../../testkit/kit/shared-service.ts';
import { sql } from '../../core/sql.ts';

let service: TestService;
before(async () => {
  service = await sharedService();
});

const at = (minute: number): string => new Date(Date.UTC(2020, 0, 1, 0, minute)).toISOString();

async function upload({ api }: TestProject, lines: readonly (ImportLine | string | object)[]): Promise<DataJob> {
  const body = Buffer.from(lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n'));
  const { job, uploadUrl, headers } = await api.call('importConversations', { body: { size: body.length } });
  assert.deepEqual([job.kind, job.state], ['IMPORT', 'WAITING']);
  const put = await fetch(uploadUrl, { method: 'PUT', headers, body });
  assert.equal(put.status, 204, await put.text());
  return api.call('startImport', { jobId: job.id });
}

const ended = ({ api }: TestProject, { id }: DataJob): Promise<DataJob> =>
  eventually(
    async () => {
      const job = await api.call('getDataJob', { jobId: id });
      assert.ok(job.state === 'DONE' || job.state === 'FAILED', JSON.stringify(job));
      return job;
    },
    { withinMs: 30_000 },
  );

const imported = async (project: TestProject, lines: readonly object[]): Promise<DataJob> => {
  const job = await ended(project, await upload(project, lines));
  assert.deepEqual([job.state, job.error], ['DONE', null]);
  return job;
};

const conversation = {
  kind: 'conversation',
  externalId: 'C1',
  name: 'general',
  createdAt: at(0),
  members: ['ann', { userId: 'bob', role: 'ADMIN' }],
};
const message = (n: number, more: object = {}) => ({
  kind: 'message',
  conversation: 'C1',
  externalId: `M${n}`,
  senderId: n % 2 === 0 ? 'ann' : 'bob',
  text: `message ${n}`,
  createdAt: at(n),
  ...more,
});
const history = [
  conversation,
  { kind: 'member', conversation: 'C1', userId: 'cyd', joinedAt: at(1) },
  message(1),
  message(2, { replyTo: 'M1' }),
  message(3, { replyTo: 'M2', editedAt: at(4) }),
  message(4, { deletedAt: at(5) }),
  message(5, { text: null, type: 'custom', metadata: { poll: 1 } }),
  message(6, { senderId: null, type: 'system' }),
  { kind: 'reaction', conversation: 'C1', message: 'M1', userId: 'ann', emoji: '👍', createdAt: at(2) },
  { kind: 'reaction', conversation: 'C1', message: 'M1', userId: 'cyd', emoji: '👍' },
  { kind: 'read', conversation: 'C1', message: 'M3', userId: 'cyd', at: at(6) },
];

/** Everything that can be seen of a conversation, and its counters. */
async function stateOf({ api, id }: TestProject) {
  const room = 'general';
  const { messages } = await api.call('listMessages', { room, query: { includeDeleted: true } });
  const { messageCount, memberCount, lastMessageAt, createdAt, status } = await api.call('getConversation', { room });
  const unread: Record<string, number> = {};
  for (const userId of ['ann', 'bob', 'cyd'])
    unread[userId] = (await api.call('getReadState', { room, query: { userId } })).unreadCount;
  const [row] = await service.adapters.db.query(sql`
    select last_seq as seq, last_change as change, last_position as position, reaction_count as reactions
    from conversations where project_id = ${id} and name = ${room}`);
  return { messages: messages.reverse(), messageCount, memberCount, lastMessageAt, createdAt, status, unread, row };
}

test('[DATA-7] a history comes with its times, order, threads, reactions and read marks, and is chatted in at once', async () => {
  const project = await service.newProject();
  const { api } = project;
  const job = await imported(project, history);
  assert.equal(job.progress, history.length);
  const state = await stateOf(project);
  assert.deepEqual(
    state.messages.map(({ seq, text, createdAt, replyCount, edited, deleted, reactions }) => ({
      seq,
      text,
      createdAt,
      replyCount,
      edited,
      deleted,
      reactions: reactions.map(({ emoji, count }) => `${emoji}${count}`).join(),
    })),
    [
      { text: 'message 1', replyCount: 2, reactions: '👍2' },
      { text: 'message 2' },
      { text: 'message 3', edited: true },
      { text: null, deleted: true },
      { text: null },
      { text: 'message 6' },
    ].map((shown, index) => ({
      seq: index + 1,
      createdAt: at(index + 1),
      replyCount: 0,
      edited: false,
      deleted: false,
      reactions: '',
      ...shown,
    })),
  );
  assert.deepEqual(
    state.messages.map(({ clientMessageId }) => clientMessageId),
    ['M1', 'M2', 'M3', 'M4', 'M5', 'M6'],
    'each is known by its original id',
  );
  const [root, , second] = state.messages;
  assert.equal(second?.threadRootId, root?.id);
  const { messages: _all, ...counts } = state;
  assert.deepEqual(counts, {
    messageCount: 5,
    memberCount: 3,
    lastMessageAt: at(6),
    createdAt: at(0),
    status: 'ACTIVE',
    unread: { ann: 2, bob: 1, cyd: 2 },
    row: { seq: 6, change: 6, position: 6, reactions: 2 },
  });

  const { token } = await api.call('mintChatToken', { body: { userId: 'ann' } });
  const ann = await chatAs(service, token);
  assert.equal((await subscribe(ann, 'general'))['unreadCount'], 2);
  const next = await api.call('sendMessage', {
    room: 'general',
    body: { text: 'now', senderId: 'bob', replyTo: root?.id },
  });
  assert.deepEqual([next.seq, next.threadRootId], [7, root?.id]);
  await ann.take('message', (frame) => (frame['message'] as { id: string }).id === next.id);
  await ann.close();

  const events = await service.adapters.db.query<{ type: string }>(sql`
    select type from events where project_id = ${project.id} order by created_at, id`);
  assert.deepEqual(
    events.map(({ type }) => type),
    ['data_job.done', 'message.created'],
  );
});

test('[DATA-8] an import that is repeated adds nothing, and one that goes on adds what is new', async () => {
  const project = await service.newProject();
  await imported(project, history);
  const before = await stateOf(project);
  await imported(project, history);
  assert.deepEqual(await stateOf(project), before);

  const { token } = await project.api.call('mintChatToken', { body: { userId: 'ann' } });
  const ann = await chatAs(service, token);
  await subscribe(ann, 'general');
  await imported(project, [...history, message(7), message(8)]);
  // Who has it open hears of it.
  for (const text of ['message 7', 'message 8'])
    await ann.take('message', (frame) => (frame['message'] as { text: string }).text === text);
  await ann.close();
  const after = await stateOf(project);
  assert.deepEqual([after.messageCount, after.row?.['seq'], after.unread['cyd']], [7, 8, 4]);
  // A send with the id of an imported message is taken for its repeat.
  const again = { text: 'again', senderId: 'ann', clientMessageId: 'M8' };
  assert.equal((await project.api.call('sendMessage', { room: 'general', body: again })).text, 'message 8');
  // An id that a client has used meanwhile for a message of its own stays with that one.
  const own = { text: 'live', senderId: 'bob', clientMessageId: 'M9' };
  const { createdAt } = await project.api.call('sendMessage', { room: 'general', body: own });
  // As a killed process leaves it: claimed, its time over.
  const job = await upload(project, [...history, message(7), message(8), message(9, { createdAt })]);
  await service.adapters.db.execute(sql`
    update data_jobs set state = 'RUNNING', claimed_until = now() - interval '1 second', attempts = attempts + 1
    where id = ${job.id} and state <> 'DONE'`);
  assert.equal((await ended(project, job)).state, 'DONE');
  const { messageCount, messages } = await stateOf(project);
  assert.equal(messageCount, 9);
  assert.deepEqual(
    messages.slice(-2).map(({ text, clientMessageId }) => [text, clientMessageId]),
    [
      ['live', 'M9'],
      ['message 9', null],
    ],
  );
});

test('[SEA-7] what an import brought is found once its terms are written, and until then the answer says so', async () => {
  const project = await service.newProject();
  const find = async () => {
    const { results, complete } = await project.api.call('searchMessages', { query: { q: 'message', sort: 'newest' } });
    return [results.map(({ message: { text } }) => text), complete];
  };
  const waiting = async (): Promise<unknown> =>
    service.adapters.db.query(sql`select from search_pending p join conversations c on c.id = p.conversation_id
      where c.project_id = ${project.id}`);
  const found = ['message 6', 'message 3', 'message 2', 'message 1'];
  await imported(project, history);
  // Searches of every project read what waits there.
  assert.deepEqual(await waiting(), []);
  /** The chore may have taken it, and not be through. */
  const indexed = (texts: readonly string[]) =>
    eventually(async () => {
      await service.service.chat.sweep.search();
      assert.deepEqual(await find(), [texts, true]);
    });
  await indexed(found);
  await imported(project, [...history, message(7)]);
  await indexed(['message 7', ...found]);
});

test('[DATA-9] a mistake is named by its line and writes nothing; what cannot be in order is refused', async () => {
  const project = await service.newProject();
  const { api } = project;
  const failed = async (lines: readonly (string | object)[]): Promise<string | null> => {
    const job = await ended(project, await upload(project, lines));
    assert.equal(job.state, 'FAILED');
    return job.error;
  };
  for (const [line, problem] of [
    ['{', /^Line 2: .*JSON/],
    [{ kind: 'poll' }, /^Line 2: kind must be one of conversation, member/],
    [{ kind: 'message', conversation: 'C1' }, /^Line 2: externalId is required/],
    [message(1, { createdAt: '2999-01-01T00:00:00.000Z' }), /^Line 2: createdAt must be/],
    [message(1, { text: 'x'.repeat(4_001) }), /^Line 2: /],
    [message(1, { text: 'x'.repeat(300_000) }), /^Line 2: it has more than 262144 bytes/],
    [message(1, { text: null }), /^Line 2: A message of type text needs text/],
    [message(1, { surprise: 1 }), /^Line 2: surprise is not a known field/],
    [{ ...conversation, externalId: 'C2', name: 'conv_x' }, /^Line 2: /],
  ] as const)
    assert.match((await failed([conversation, line])) ?? '', problem);
  await assert.rejects(api.call('getConversation', { room: 'general' }), failure('SVC_CONVERSATION_NOT_FOUND'));

  assert.match((await failed([message(1)])) ?? '', /^Line 1: its conversation has no line before it/);
  assert.match((await failed([conversation, message(2), message(1)])) ?? '', /^Line 3: it is older than/);
  assert.match((await failed([conversation, message(1, { replyTo: 'M9' })])) ?? '', /^Line 2: what it answers/);
  assert.match(
    (await failed([conversation, { kind: 'read', conversation: 'C1', message: 'M9', userId: 'ann' }])) ?? '',
    /^Line 2: its member or its message/,
  );
  assert.match((await failed([{ ...conversation, externalId: 'C2' }])) ?? '', /^Line 1: there is another conversation/);
  await assert.rejects(
    api.call('importConversations', { body: { size: 2 ** 40 } }),
    failure('SVC_ATTACHMENT_TOO_LARGE'),
  );
  const { job } = await api.call('importConversations', { body: { size: 5 } });
  await assert.rejects(api.call('startImport', { jobId: job.id }), failure('SVC_ATTACHMENT_NOT_UPLOADED'));
});
