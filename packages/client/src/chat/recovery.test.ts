import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from '../../../../apps/server/src/core/sql.ts';
import { type ChatOf, createChatKit } from '../../../../apps/server/testkit/chat/chat.ts';
import { eventually } from '../../../../apps/server/testkit/kit/eventually.ts';
import { startService, type TestService } from '../../../../apps/server/testkit/kit/service.ts';
import { startTcpProxy, type TcpProxy } from '../../../../apps/server/testkit/peers/tcp-proxy.ts';
import { Chat, type Conversation } from './index.ts';

/** What a client has after its connection was lost, moved, renewed, or its history replaced. */
const env = { CHAT_CONNECT_RATE_LIMIT: '1000', CHAT_SEND_RATE_LIMIT: '1000', CHAT_SUBSCRIBE_RATE_LIMIT: '1000' };
let service: TestService;
let kit: ChatOf;
before(async () => {
  service = await startService({ env });
  kit = await createChatKit(service);
});
after(() => service.stop());

const patient = { withinMs: 60_000 };
const texts = ({ messages }: Conversation) => messages.getSnapshot().map(({ text }) => text);
const stored = async (room: string): Promise<(string | null)[]> => {
  const { messages } = await kit.project.api.call('listMessages', { room, query: { limit: 100 } });
  return messages.map(({ text }) => text).reverse();
};
const send = (room: string, text: string) => kit.project.api.call('sendMessage', { room, body: { text } });

/** Alice, connected by way of `proxy`. */
async function aliceBy(proxy: TcpProxy, token = async () => (await kit.user('alice')).token): Promise<Chat> {
  const chat = new Chat({ url: proxy.url, token });
  await chat.connect();
  return chat;
}

test('[SDK-10] a connection frozen, cut while it is made and moved: the list is what the server has, each emitted once', async () => {
  const other = await startService({ env, beside: service });
  const proxy = await startTcpProxy(service.url);
  const { id } = await kit.conversation();
  const chat = await aliceBy(proxy);
  const conversation = await chat.join(id);
  const received: (number | null)[] = [];
  conversation.on('message', ({ seq }) => received.push(seq));
  const losses: (() => Promise<void>)[] = [
    async () => {
      proxy.freezeOpenOnes();
      await send(id, 'while frozen');
      proxy.cut();
    },
    async () => {
      proxy.cut();
      proxy.restore();
      await new Promise((resolve) => setTimeout(resolve, 50));
      proxy.cut();
    },
    async () => {
      proxy.retarget(other.url);
      proxy.cut();
    },
  ];
  for (const [at, lose] of losses.entries()) {
    const { id: messageId } = await send(id, `before ${at}`);
    await lose();
    await Promise.all([send(id, `a${at}`), send(id, `b${at}`)]);
    await kit.project.api.call('editMessage', { messageId, body: { text: `edited ${at}` } });
    if (at % 2 === 0) await kit.project.api.call('addReaction', { messageId, body: { emoji: '👍', userId: 'bob' } });
    proxy.retarget(at % 2 === 0 ? other.url : service.url);
    proxy.restore();
    const now = await stored(id);
    await eventually(() => assert.deepEqual(texts(conversation), now), patient);
  }
  const count = (await stored(id)).length;
  await eventually(() =>
    assert.deepEqual(
      received,
      Array.from({ length: count }, (_, at) => at + 1),
    ),
  );
  await chat.disconnect();
  await proxy.close();
  await other.stop();
});

test('[SDK-19] a draining process moves its clients; nothing is missed on the way', async () => {
  const leaving = await startService({ env, beside: service });
  const proxy = await startTcpProxy(leaving.url);
  const { id } = await kit.conversation();
  const chat = await aliceBy(proxy);
  const conversation = await chat.join(id);
  await send(id, 'one');
  await eventually(() => assert.deepEqual(texts(conversation), ['one']));
  proxy.retarget(service.url);
  const stopping = leaving.stop();
  await send(id, 'two');
  await eventually(() => assert.deepEqual(texts(conversation), ['one', 'two']), patient);
  await stopping;
  await send(id, 'three');
  await eventually(() => assert.deepEqual(texts(conversation), ['one', 'two', 'three']), patient);
  assert.equal(chat.state.getSnapshot().connection, 'connected');
  await chat.disconnect();
  await proxy.close();
});

test('[SDK-19] a token about to end is renewed on the same connection', async () => {
  const proxy = await startTcpProxy(service.url);
  const { id } = await kit.conversation();
  let asked = 0;
  // A minute is what a token has left when its end is announced: the first one is announced at once.
  const chat = await aliceBy(
    proxy,
    async () => (await kit.user('alice', { ttlSeconds: ++asked === 1 ? 60 : 3600 })).token,
  );
  const states: string[] = [];
  chat.on('connectionStateChanged', (state) => states.push(state));
  const conversation = await chat.join(id);
  await eventually(() => assert.equal(asked, 2), patient);
  await send(id, 'still here');
  await eventually(() => assert.deepEqual(texts(conversation), ['still here']), patient);
  assert.deepEqual(states, []);
  await chat.disconnect();
  await proxy.close();
});

test('[SDK-19] a history of another epoch, restored from a backup, is loaded again', async () => {
  const proxy = await startTcpProxy(service.url);
  const { id } = await kit.conversation();
  const chat = await aliceBy(proxy);
  const conversation = await chat.join(id);
  for (const text of ['one', 'two', 'three', 'four', 'five']) await send(id, text);
  await eventually(() => assert.equal(texts(conversation).length, 5));

  // As after a restore: the last two are gone, and what comes now takes their numbers.
  proxy.cut();
  const { db } = service.adapters;
  const [row] = await db.query<{ uuid: string }>(sql`select id as uuid from conversations where public_id = ${id}`);
  await db.execute(sql`delete from messages where conversation_id = ${row?.uuid} and seq > 3`);
  await db.execute(sql`update conversations set epoch = 'restored', last_seq = 3, last_change = 3, last_position = 3,
    message_count = 3 where id = ${row?.uuid}`);
  const restored = await startService({ env, beside: service });
  for (const text of ['vier', 'fünf', 'sechs']) {
    await restored.as(kit.project.apiKey).call('sendMessage', { room: id, body: { text } });
  }
  proxy.retarget(restored.url);
  proxy.restore();
  await eventually(
    () => assert.deepEqual(texts(conversation), ['one', 'two', 'three', 'vier', 'fünf', 'sechs']),
    patient,
  );
  await chat.disconnect();
  await proxy.close();
  await restored.stop();
});
