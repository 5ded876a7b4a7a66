import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Conversation, Message } from '@parley/contract';
import { type Api, ApiError } from '@parley/server';
import fc from 'fast-check';
import { explain, type Logged, type Operation } from '../../../testkit/chat/linearizability.ts';
import {
  anything,
  CAST,
  ChatModel,
  type Command,
  type Expected,
  isOnConversation,
  NEWCOMER,
  shownOf,
  USERS,
  type User,
  writing,
} from '../../../testkit/chat/model.ts';
import { startService, type TestService } from '../../../testkit/kit/service.ts';

/** Random commands against a model of a few lines. `PARLEY_MODEL_RUNS` makes it longer, `PARLEY_MODEL_SEED` another. */
const RUNS = Number(process.env['PARLEY_MODEL_RUNS'] ?? 8);
const SEED = Number(process.env['PARLEY_MODEL_SEED'] ?? 11);

let service: TestService;
let server: Api;
const users = new Map<User, Api>();
let made = 0;

before(async () => {
  const wide = {
    CHAT_SEND_RATE_LIMIT: '100000',
    CHAT_REACT_RATE_LIMIT: '100000',
    CHAT_EDIT_RATE_LIMIT: '100000',
    CHAT_DELETE_RATE_LIMIT: '100000',
    RATE_LIMIT_WINDOW_SECONDS: '1',
  };
  service = await startService({ env: wide });
  server = (await service.newProject()).api;
  for (const userId of USERS)
    users.set(userId, service.as((await server.call('mintChatToken', { body: { userId } })).token));
});
after(() => service.stop());

const newConversation = (): Promise<Conversation> => {
  const members = Object.entries(CAST).map(([userId, role]) => ({ userId, role }));
  return server.call('createConversation', { body: { name: `model-${++made}`, members } });
};

/** Everything there is, oldest first, tombstones too. */
async function history(room: string): Promise<Message[]> {
  const messages: Message[] = [];
  for (let before: string | null | undefined; before !== null; ) {
    const query = { includeDeleted: true, limit: 7, ...(before === undefined ? {} : { before }) };
    const page = await server.call('listMessages', { room, query });
    messages.push(...page.messages);
    before = page.nextCursor;
  }
  return messages.reverse();
}

const outcomeOf = async (call: Promise<unknown>): Promise<Expected> => {
  try {
    await call;
    return 'ok';
  } catch (error) {
    if (error instanceof ApiError) return error.status as Expected;
    throw error;
  }
};

/** Does what the command says; `ids` are the messages' ids in the order the model has them. */
function perform(command: Command, room: string, ids: readonly string[]): Promise<unknown> {
  if (isOnConversation(command)) return performOnConversation(command.does, room);
  const api = users.get(command.by) as Api;
  if (command.does === 'send') {
    const { text, key, replyAt } = command;
    const replyTo = replyAt === null ? undefined : ids[replyAt % ids.length];
    const clientMessageId = key === null ? undefined : `${room}-${key}`;
    return api.call('sendMessage', {
      room,
      body: { text, ...(replyTo && { replyTo }), ...(clientMessageId && { clientMessageId }) },
    });
  }
  const messageId = ids[command.at % Math.max(ids.length, 1)] ?? 'msg_none';
  switch (command.does) {
    case 'edit':
      return api.call('editMessage', { messageId, body: { text: command.text } });
    case 'delete':
      return api.call('deleteMessage', { messageId });
    case 'react':
      return api.call('addReaction', { messageId, body: { emoji: command.emoji } });
    case 'unreact':
      return api.call('removeReaction', { messageId, emoji: command.emoji });
    case 'read':
      return api.call('markRead', { messageId });
  }
}

function performOnConversation(does: 'archive' | 'activate' | 'join' | 'leave', room: string): Promise<unknown> {
  if (does === 'join') return server.call('addConversationMember', { room, body: { userId: NEWCOMER } });
  if (does === 'leave') return server.call('removeConversationMember', { room, userId: NEWCOMER });
  return server.call('updateConversation', { room, body: { status: does === 'archive' ? 'ARCHIVED' : 'ACTIVE' } });
}

test('[MSG-30] one after the other, commands come to what the model says, and leave what it has', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anything, { minLength: 5, maxLength: 40 }), async (commands) => {
      const { id: room } = await newConversation();
      const model = new ChatModel();
      const ids: string[] = [];
      for (const command of commands) {
        const before = model.messages.length;
        const expected = model.apply(command);
        let answer: unknown;
        const outcome = await outcomeOf(perform(command, room, ids).then((given) => (answer = given)));
        assert.equal(outcome, expected, JSON.stringify(command));
        if (model.messages.length > before) ids.push((answer as Message).id);
      }
      assert.deepEqual((await history(room)).map(shownOf), model.shown());
      for (const userId of Object.keys(CAST) as User[]) {
        const { unreadCount } = await server.call('getReadState', { room, query: { userId } });
        assert.equal(unreadCount, model.unread(userId), `unread of ${userId}`);
      }
    }),
    { numRuns: RUNS, seed: SEED, endOnFailure: true },
  );
});

/** Every change there was, oldest first. */
async function changes(room: string): Promise<Logged[]> {
  const all: Logged[] = [];
  for (let since: string | undefined; ; ) {
    const page = await server.call('listChanges', { room, query: { limit: 9, ...(since && { since }) } });
    all.push(...page.changes.map((change) => ({ ...change })));
    if (page.complete) return all;
    since = page.nextCursor;
  }
}

/** Performs commands on the messages of `ids` and notes each as a operation. */
function startNoting(room: string, ids: readonly string[]) {
  const operations: Operation[] = [];
  let [moment, latest] = [0, 0];
  async function note(command: Command): Promise<Operation> {
    const [begun, received] = [++moment, latest];
    let answer: Partial<Message> | null = null;
    const outcome = await outcomeOf(perform(command, room, ids).then((given) => (answer = given as Message)));
    const { id, change } = ((answer as Message | null) ?? {}) as Partial<Message>;
    const messageId = id ?? ('at' in command ? (ids[command.at % ids.length] ?? '') : '');
    latest = Math.max(latest, change ?? 0);
    const operation = { command, messageId, outcome, begun, ended: ++moment, received, ...(change && { change }) };
    operations.push(operation);
    return operation;
  }
  return { operations, note };
}

/** Those that were there before all begin at once. */
const first = ['ada', 'ben', 'mo'] as const;
/** So that a command means the same message whenever it is done. */
const aimed = (command: Command): Command => {
  if ('at' in command) return { ...command, at: command.at % first.length };
  return 'replyAt' in command && command.replyAt !== null
    ? { ...command, replyAt: command.replyAt % first.length }
    : command;
};

test('[MSG-30] all at once, commands come to what the model says in the order of their changes, and leave what it has', async () => {
  const outcomes = new Set<string>();
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(writing, { minLength: 4, maxLength: 10 }), { minLength: 4, maxLength: 6 }),
      async (scripts) => {
        const { id: room } = await newConversation();
        const ids: string[] = [];
        const { operations, note } = startNoting(room, ids);
        for (const by of first)
          ids.push((await note({ does: 'send', by, text: 'x', key: null, replyAt: null })).messageId);
        await Promise.all(
          scripts.map(async (script) => {
            for (const command of script) await note(aimed(command));
          }),
        );
        const stored = await history(room);
        assert.deepEqual(stored.map(shownOf), explain(operations, await changes(room)).shown());
        assert.deepEqual(
          stored.map(({ seq }) => seq),
          stored.map((_, place) => place + 1),
        );
        for (const { command, outcome } of operations) outcomes.add(`${command.does} ${outcome}`);
      },
    ),
    { numRuns: RUNS, seed: SEED, endOnFailure: true },
  );
  for (const does of ['send', 'edit', 'delete', 'react', 'unreact'])
    for (const outcome of ['ok', 403]) assert.ok(outcomes.has(`${does} ${outcome}`), `no ${does} came to ${outcome}`);
});
