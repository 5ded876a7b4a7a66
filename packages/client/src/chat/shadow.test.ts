import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { type ChatOf, createChatKit } from '../../../../apps/server/testkit/chat/chat.ts';
import { eventually } from '../../../../apps/server/testkit/kit/eventually.ts';
import type { TestService } from '../../../../apps/server/testkit/kit/service.ts';
import { sharedService } from '../../../../apps/server/testkit/kit/shared-service.ts';
import { Chat } from './index.ts';

let service: TestService;
let kit: ChatOf;
before(async () => {
  service = await sharedService();
  kit = await createChatKit(service);
});

test('[MOD-23] a client in the shadow shows what it sent in its place, does with it what it does with others, and shows it again after a reload', async () => {
  const { api } = kit.project;
  const { id: room } = await kit.conversation(['ann', 'eve']);
  const open = async () => {
    const chat = new Chat({ url: service.url, token: async () => (await kit.user('eve')).token });
    await chat.connect();
    return { chat, conversation: await chat.join(room) };
  };
  const { chat, conversation } = await open();
  const shown = () => conversation.messages.getSnapshot().map(({ text }) => text);
  const fromAnn = async (text: string) => {
    await api.call('sendMessage', { room, body: { text, senderId: 'ann' } });
    await eventually(() => assert.ok(shown().includes(text)));
  };
  await api.call('shadowInConversation', { room, userId: 'eve' });
  await conversation.send('e0');
  await fromAnn('a1');
  const sent = await conversation.send('e1');
  await conversation.send('e2');
  await fromAnn('a2');
  await conversation.send('e3');
  const wanted = ['e0', 'a1', 'e1', 'e2', 'a2', 'e3'];
  assert.deepEqual(shown(), wanted);
  await conversation.react(sent.id ?? '', '👍');
  await conversation.edit(sent.id ?? '', 'e1, edited');
  await conversation.markRead(sent.id ?? '');
  const view = conversation.messages.getSnapshot().find(({ id }) => id === sent.id);
  assert.deepEqual([view?.text, view?.delivery, view?.reactions[0]?.reacted], ['e1, edited', 'sent', true]);

  const again = await open();
  await again.conversation.history({ limit: 3 });
  const { nextCursor } = await again.conversation.history({ limit: 3 });
  await again.conversation.history({ before: nextCursor ?? '' });
  assert.deepEqual(
    again.conversation.messages.getSnapshot().map(({ text }) => text),
    wanted.with(2, 'e1, edited'),
  );
  await again.conversation.remove(sent.id ?? '');
  assert.equal((await conversation.history({ isDetached: true })).items.length, 5);
  for (const one of [chat, again.chat]) await one.disconnect();
});
