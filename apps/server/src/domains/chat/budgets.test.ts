import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { chatClientFrames, commonClientFrames, readLimits } from '@parley/contract';
import type { Api } from '@parley/server';
import { type ChatOf, createChatKit, refusal } from '../../../testkit/chat/chat.ts';
import type { ServerFrame, SocketClient } from '../../../testkit/clients/socket-client.ts';
import { startService, type TestService } from '../../../testkit/kit/service.ts';

/** Uses of each budget in a window: few, so that the test finds the end of every one. */
const allowed = 4;
const budgets = [
  'CHAT_EDIT_RATE_LIMIT',
  'CHAT_DELETE_RATE_LIMIT',
  'CHAT_READ_RATE_LIMIT',
  'CHAT_PRESENCE_RATE_LIMIT',
  'CHAT_HISTORY_RATE_LIMIT',
  'CHAT_UNSUBSCRIBE_RATE_LIMIT',
  'CHAT_MANAGE_RATE_LIMIT',
  'CHAT_TOKEN_RATE_LIMIT',
] as const;
const env = {
  ...Object.fromEntries(budgets.map((name) => [name, String(allowed)])),
  CHAT_SEND_RATE_LIMIT: '1000',
  // Hardly one begins while a test counts.
  RATE_LIMIT_WINDOW_SECONDS: '3600',
};

let one: TestService;
let two: TestService;
let chat: ChatOf;
before(async () => {
  one = await startService({ env });
  two = await startService({ env, beside: one });
  chat = await createChatKit(one);
});
after(async () => {
  await two.stop();
  await one.stop();
});

interface Person {
  userId: string;
  room: string;
  token: string;
  /** At either process. */
  apis: [Api, Api];
  socket: SocketClient;
  newMessage(): Promise<string>;
}

let people = 0;

/** A user with a conversation of their own. */
async function newPerson(): Promise<Person> {
  const userId = `person-${++people}`;
  const { id: room } = await chat.conversation([{ userId, role: 'ADMIN' }]);
  const { token, api, connect } = await chat.user(userId);
  const body = { text: 'x', senderId: userId };
  return {
    userId,
    room,
    token,
    apis: [api, two.as(token)],
    socket: await connect(),
    newMessage: async () => (await chat.project.api.call('sendMessage', { room, body })).id,
  };
}

/** How a use of the budget ended: done, or the code of the refusal. */
type Use = (person: Person, at: number) => Promise<string>;

const overSocket =
  (frame: (person: Person, at: number) => Promise<Record<string, unknown>>, type: string): Use =>
  async (person, at) =>
    outcomeOf(await person.socket.ask({ ...(await frame(person, at)), type }));

function outcomeOf(answer: ServerFrame): string {
  if (answer.type === 'ack') return 'done';
  if (answer['code'] === 'RATE_LIMITED') assert.ok(Number(answer['retryAfterSeconds']) >= 1);
  return String(answer['code']);
}

const overRest =
  (call: (api: Api, person: Person, at: number) => Promise<unknown>): Use =>
  async (person, at) => {
    const working = call(person.apis[at % 2 === 0 ? 0 : 1] as Api, person, at);
    if (await working.then(() => true).catch(() => false)) return 'done';
    const { status, code, body } = await refusal(working);
    if (status === 429) assert.ok(Number(body['retryAfterSeconds']) >= 1);
    return code.slice('SVC_'.length);
  };

/** Every way to spend a budget. */
const uses: Readonly<Record<(typeof budgets)[number], Use[]>> = {
  CHAT_EDIT_RATE_LIMIT: [
    overSocket(async ({ newMessage }) => ({ messageId: await newMessage(), text: 'y' }), 'message.edit'),
    overRest(async (api, { newMessage }) =>
      api.call('editMessage', { messageId: await newMessage(), body: { text: 'y' } }),
    ),
  ],
  CHAT_DELETE_RATE_LIMIT: [
    overSocket(async ({ newMessage }) => ({ messageId: await newMessage() }), 'message.delete'),
    overRest(async (api, { newMessage }) => api.call('deleteMessage', { messageId: await newMessage(), query: {} })),
  ],
  CHAT_READ_RATE_LIMIT: [
    overSocket(async ({ newMessage }) => ({ messageId: await newMessage() }), 'read'),
    overRest(async (api, { newMessage }) =>
      api.call('markRead', { messageId: await newMessage(), body: {}, query: {} }),
    ),
  ],
  CHAT_PRESENCE_RATE_LIMIT: [overSocket(async (_, at) => ({ status: at % 2 ? 'AWAY' : 'ONLINE' }), 'presence')],
  CHAT_HISTORY_RATE_LIMIT: [
    overSocket(async ({ room }) => ({ conversation: room }), 'history'),
    overSocket(async ({ room }) => ({ conversation: room, since: 0 }), 'changes'),
    overRest((api, { room }) => api.call('listMessages', { room, query: {} })),
    overRest((api, { room }) => api.call('listChanges', { room, query: {} })),
    overRest((api, { room }) => api.call('listConversationMembers', { room, query: {} })),
    overRest((api, { room }) => api.call('listReadReceipts', { room, query: {} })),
    overRest((api, { room }) => api.call('listPresence', { room, query: {} })),
    overRest((api, { room }) => api.call('listTyping', { room, query: {} })),
    overRest((api, { room }) => api.call('getReadState', { room, query: {} })),
    overRest((api, { room }) => api.call('getConversation', { room })),
    overRest((api) => api.call('listConversations', { query: {} })),
    overRest(async (api, { newMessage }) => api.call('getMessage', { messageId: await newMessage() })),
    overRest(async (api, { newMessage }) => api.call('getThread', { messageId: await newMessage(), query: {} })),
  ],
  CHAT_UNSUBSCRIBE_RATE_LIMIT: [overSocket(async ({ room }) => ({ conversations: [room] }), 'unsubscribe')],
  CHAT_MANAGE_RATE_LIMIT: [
    overRest((api, { room }, at) => api.call('updateConversation', { room, body: { metadata: { at } } })),
    overRest((api, { room }, at) => api.call('addConversationMember', { room, body: { userId: `guest-${at}` } })),
  ],
  CHAT_TOKEN_RATE_LIMIT: [overSocket(async ({ token }) => ({ token }), 'token.refresh')],
};

for (const name of budgets) {
  test(`[MSG-19] ${name} is one budget a window and user, over every door and process`, async () => {
    const doors = uses[name];
    const [busy, calm] = [await newPerson(), await newPerson()];
    const ended: string[] = [];
    for (let at = 0; at < allowed; at++) ended.push((await doors[at % doors.length]?.(busy, at)) ?? '');
    assert.deepEqual(
      ended,
      Array.from({ length: allowed }, () => 'done'),
    );
    for (const [at, door] of doors.entries()) assert.equal(await door(busy, at), 'RATE_LIMITED', `door ${at}`);
    assert.equal(await doors[0]?.(calm, 0), 'done', 'another user has a budget of their own');
    for (const { socket } of [busy, calm]) await socket.close();
  });
}

test('[MSG-19] an API key has none of these budgets', async () => {
  const { room } = await newPerson();
  const { api } = chat.project;
  const { id: messageId } = await api.call('sendMessage', { room, body: { text: 'x' } });
  for (let at = 0; at <= allowed; at++) {
    await api.call('editMessage', { messageId, body: { text: `${at}` } });
    await api.call('listMessages', { room, query: {} });
  }
});

test('[MSG-19] every frame of the chat socket has a budget, 60 for edits; only a ping is counted by connection', () => {
  const free = Object.entries(chatClientFrames).filter(([, row]) => !('budget' in row));
  assert.deepEqual(free, []);
  assert.deepEqual(Object.keys(commonClientFrames), ['ping']);
  assert.equal(readLimits({}).limits.CHAT_EDIT_RATE_LIMIT, 60);
});
