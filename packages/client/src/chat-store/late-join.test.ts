import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settle } from '../../testkit/fake-world.ts';
import type { Chat, Conversation } from '../chat/index.ts';
import { SvcError } from '../errors.ts';
import { createStore } from '../store.ts';
import { createChatStore } from './index.ts';

/** A chat whose joins are answered by the test. */
function slowChat() {
  const asked: PromiseWithResolvers<Conversation>[] = [];
  let left = 0;
  const conversation = {
    id: 'conv_1',
    messages: createStore([]),
    typing: createStore([]),
    on: () => () => {},
    presence: async () => [],
    readState: async () => ({ lastReadSeq: 0, unreadCount: 0 }),
    history: async () => [],
    leave: async () => void left++,
  } as unknown as Conversation;
  // What a store uses of it.
  const chat = {
    state: createStore({ connection: 'connected', userId: 'ada', queued: 0 }),
    conversations: async () => ({ items: [], nextCursor: null }),
    joined: new Map(),
    join() {
      const one = Promise.withResolvers<Conversation>();
      asked.push(one);
      return one.promise;
    },
  } as unknown as Chat;
  return { chat, asked, answer: () => asked.at(-1)?.resolve(conversation), left: () => left };
}

const still = { setTimer: () => () => {} };

test('[SDK-80] a join that is answered after close() is left again', async () => {
  const { chat, asked, answer, left } = slowChat();
  const store = createChatStore(chat, { conversations: ['lobby'], storage: null }, still);
  await settle();
  assert.equal(asked.length, 1);
  store.close();
  answer();
  await settle();
  assert.equal(left(), 1);
});

test('[SDK-80] a conversation that is opened again after a refusal is not dropped before the answer', async () => {
  const { chat, asked, answer, left } = slowChat();
  let listed = [{ ref: 'lobby' }];
  const store = createChatStore(chat, { conversations: async () => listed, storage: null }, still);
  await settle();
  asked[0]?.reject(new SvcError({ code: 'SVC_NOT_A_MEMBER', message: 'no' }));
  await settle();
  assert.equal(store.conversations.getSnapshot()[0]?.error?.code, 'SVC_NOT_A_MEMBER');
  listed = [];
  const opening = store.open('lobby');
  const refreshing = store.refresh();
  await settle();
  answer();
  await Promise.all([opening, refreshing]);
  assert.deepEqual([store.conversations.getSnapshot()[0]?.isLive, left()], [true, 0]);
  store.close();
  assert.equal(left(), 1);
});
