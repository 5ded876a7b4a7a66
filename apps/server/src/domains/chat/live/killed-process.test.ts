import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ChatOf, createChatKit, subscribe } from '../../../../testkit/chat/chat.ts';
import { addWebhook } from '../../../../testkit/clients/webhooks.ts';
import { eventually } from '../../../../testkit/kit/eventually.ts';
import { startService, type TestService } from '../../../../testkit/kit/service.ts';
import { systemClock } from '../../../core/clock.ts';
import type { Db, Tx } from '../../../core/db.ts';
import type { Part } from '../../../core/part.ts';
import type { Adapters } from '../../../core/ports.ts';

/** Commits what it is asked to, and is killed before it announces or dispatches it. */
const killedAfterCommit = (adapters: Adapters): Adapters => {
  const dies = (tx: Tx): Tx => ({
    ...tx,
    query(statement) {
      if (/update events .* set dispatched_at/.test(statement.text)) throw new Error('killed');
      return tx.query(statement);
    },
  });
  const db: Db = { ...adapters.db, transaction: (work) => adapters.db.transaction((tx) => work(dies(tx))) };
  return { ...adapters, db, bus: { ...adapters.bus, publish: () => undefined } };
};

let alive: TestService;
let killed: TestService;
let chat: ChatOf;
before(async () => {
  // Of its own: what the killed process takes from the database nobody else is to miss.
  alive = await startService();
  // What it records is old enough at once to count as stranded.
  const clock = { ...systemClock, now: () => systemClock.now() - 10_000 };
  killed = await startService({ beside: alive, clock, wrap: killedAfterCommit });
  chat = await createChatKit(alive);
});
after(async () => {
  await killed.stop();
  await alive.stop();
});

test('[STO-3] subscribers of another process get every change that a killed process stored, in order', async () => {
  // Without an endpoint messages are stored as dispatched: then only catching up finds them.
  await addWebhook(chat.project, { url: `${alive.url}/none`, events: ['live_stream.started'] });
  const { id: room } = await chat.conversation(['alice', 'bob']);
  const client = await (await chat.user('alice')).connect();
  await subscribe(client, room, { presence: false });

  const api = killed.as(chat.project.apiKey);
  const { id: messageId } = await api.call('sendMessage', { room, body: { text: 'one', senderId: 'bob' } });
  await api.call('editMessage', { messageId, body: { text: 'two' } });
  await api.call('addReaction', { messageId, body: { emoji: '👍', userId: 'bob' } });
  await api.call('markRead', { messageId, body: { userId: 'alice' } });
  await api.call('addConversationMember', { room, body: { userId: 'carol' } });
  await api.call('removeConversationMember', { room, userId: 'carol' });
  await api.call('updateConversation', { room, body: { metadata: { topic: 'x' } } });
  await alive.service.dispatcher.sweep();

  const changes = ['message', 'message.updated', 'reaction.added', 'member.added', 'member.removed'];
  const expected = [...changes, 'conversation.updated'];
  const received = () => client.frames.filter(({ type }) => expected.includes(type)).map(({ type }) => type);
  await eventually(() => received().length >= expected.length);
  assert.deepEqual(received(), expected);
  assert.equal((await client.take('read'))['userId'], 'alice');

  await api.call('deleteConversation', { room });
  await alive.service.dispatcher.sweep();
  await client.take('unsubscribed');
  await client.close();
});

test('[STO-3] a process that stops takes events until all who record them have stopped', async () => {
  const { service, stop } = await startService({ beside: alive });
  const { chat: recorder, dispatcher, webhooks } = service;
  const order: string[] = [];
  for (const [name, part] of Object.entries<Part>({ webhooks, dispatcher, recorder })) {
    const own = part.stop;
    part.stop = async () => {
      order.push(name);
      await own?.();
    };
  }
  await stop();
  assert.deepEqual(order, ['recorder', 'dispatcher', 'webhooks']);
});
