import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Conversation, Message } from '@parley/contract';
import { type Api, ApiError } from '@parley/server';
import fc from 'fast-check';
import {
  anything,
  CAST,
  ChatModel,
  type Command,
  type Expected,
  isOnConversation,
  NEWCOMER,
  type Shown,
  shownOf,
  USERS,
  type User,
  writing,
} from '../../../testkit/chat-model.ts';
import { startService, type TestService } from '../../../testkit/service.ts';

/** Random commands against a model of a few lines. `PARLEY_MODEL_RUNS` makes it longer, `PARLEY_MODEL_SEED` another. */
const RUNS = Number(process.env['PARLEY_MODEL_RUNS'] ?? 20);
const SEED = Number(process.env['PARLEY_MODEL_SEED'] ?? 11);

let service: TestService;
let server: Api;
const users = new Map<User, Api>();
let made = 0;

before(async () => {
  const wide = { CHAT_SEND_RATE_LIMIT: '100000', CHAT_REACT_RATE_LIMIT: '100000', RATE_LIMIT_WINDOW_SECONDS: '1' };
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
async function changes(room: string): Promise<Record<string, unknown>[]> {
  const all: Record<string, unknown>[] = [];
  for (let since: string | undefined; ; ) {
    const page = await server.call('listChanges', { room, query: { limit: 9, ...(since && { since }) } });
    all.push(...page.changes);
    if (page.complete) return all;
    since = page.nextCursor;
  }
}

/** Plays the log of changes; each must be possible where it stands. */
function replay(log: readonly Record<string, unknown>[]): Shown[] {
  const shown = new Map<string, Shown & { who: Set<string> }>();
  log.forEach((change, place) => {
    assert.equal(change['change'], place + 1, 'changes are numbered without a gap');
    const { type, message, messageId, emoji, userId } = change as { type: string; message?: Message } & Record<
      string,
      string
    >;
    const known = shown.get(message?.id ?? messageId ?? '');
    // Its message is as it is now (CHG-1): whether it was deleted by then, the log itself says.
    if (type === 'message' && message) {
      assert.equal(known, undefined, 'a message comes once');
      shown.set(message.id, { ...shownOf(message), deleted: false, who: new Set() });
    } else if (type.startsWith('message.') && message) {
      assert.ok(known && !known.deleted, `${type} of a message that is not there`);
      known.deleted = type === 'message.deleted';
      if (known.deleted) known.who.clear();
    } else if (type.startsWith('reaction.')) {
      const pair = `${emoji}${userId}`;
      assert.ok(known && !known.deleted && known.who.has(pair) === (type === 'reaction.removed'), `${type} of ${pair}`);
      if (type === 'reaction.added') known.who.add(pair);
      else known.who.delete(pair);
    }
  });
  return [...shown.values()].map(({ who, ...rest }) => ({ ...rest, replies: 0, reactions: [...who].sort() }));
}

const flatten = (one: Shown): Shown => ({
  ...one,
  replies: 0,
  reactions: one.reactions
    .flatMap((summary) => {
      const [, emoji = '', names = ''] = /^(\P{L}+)(.*)$/u.exec(summary) ?? [];
      return names.split(',').map((name) => `${emoji}${name}`);
    })
    .sort(),
});

test('[MSG-30] all at once, commands leave what their log of changes says, in an order that could have been', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(writing, { minLength: 4, maxLength: 10 }), { minLength: 4, maxLength: 6 }),
      async (scripts) => {
        const { id: room } = await newConversation();
        const ids: string[] = [];
        for (const by of ['ada', 'ben', 'mo'] as const)
          ids.push(
            ((await perform({ does: 'send', by, text: 'x', key: null, replyAt: null }, room, ids)) as Message).id,
          );
        const done = new Map<string, number>();
        const sent = new Set(ids);
        await Promise.all(
          scripts.map(async (script) => {
            for (const command of script) {
              let answer: unknown;
              const outcome = await outcomeOf(perform(command, room, ids).then((given) => (answer = given)));
              if (outcome !== 'ok') continue;
              done.set(command.does, (done.get(command.does) ?? 0) + 1);
              if (command.does === 'send') sent.add((answer as Message).id);
            }
          }),
        );
        const log = await changes(room);
        const stored = await history(room);
        assert.deepEqual(
          replay(log),
          stored.map((message) => flatten(shownOf(message))),
        );
        assert.deepEqual(
          new Set(stored.map(({ id }) => id)),
          sent,
          'what was acknowledged, and nothing else, is there',
        );
        assert.deepEqual(
          stored.map(({ seq }) => seq),
          stored.map((_, place) => place + 1),
        );
        const edits = log.filter(({ type }) => type === 'message.updated').length;
        assert.equal(edits, done.get('edit') ?? 0, 'every acknowledged edit is a change, and no other is');
      },
    ),
    { numRuns: Math.ceil(RUNS / 3), seed: SEED, endOnFailure: true },
  );
});
