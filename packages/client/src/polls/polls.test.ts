import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { type ChatOf, createChatKit } from '../../../../apps/server/testkit/chat/chat.ts';
import { eventually } from '../../../../apps/server/testkit/kit/eventually.ts';
import type { TestService } from '../../../../apps/server/testkit/kit/service.ts';
import { sharedService } from '../../../../apps/server/testkit/kit/shared-service.ts';
import { Chat } from '../chat/index.ts';
import { createPolls } from './index.ts';

let service: TestService;
let kit: ChatOf;
before(async () => {
  service = await sharedService();
  kit = await createChatKit(service);
});

test('[POLL-11] the client asks, votes and closes; the messages of a joined conversation follow', async () => {
  const { id: room } = await kit.conversation(['alice', 'bob']);
  const chatOf = async (userId: string): Promise<Chat> => {
    const chat = new Chat({ url: service.url, token: async () => (await kit.user(userId)).token });
    await chat.connect();
    return chat;
  };
  const [alice, bob] = [await chatOf('alice'), await chatOf('bob')];
  const [asking, answering] = [await alice.join(room), await bob.join(room)];
  const { id } = await asking.send({ poll: { question: 'Lunch?', options: ['Pizza', 'Soup'] } });
  const messageId = id ?? '';
  const shown = await eventually(() => answering.messages.getSnapshot().at(-1)?.poll ?? assert.fail('no poll'));
  assert.equal(shown.question, 'Lunch?');
  const polls = createPolls(bob);
  assert.deepEqual((await polls.vote(messageId, [2])).ownVotes, [2]);
  await eventually(() => assert.equal(asking.messages.getSnapshot().at(-1)?.poll?.options[1]?.votes, 1));
  await eventually(() => {
    const message = answering.messages.getSnapshot().at(-1) ?? assert.fail();
    assert.deepEqual([message.poll?.voters, polls.of(message)?.ownVotes], [1, [2]]);
  });
  const { items } = await polls.votes(messageId, { limit: 5 });
  assert.deepEqual(
    items.map(({ userId, optionIds }) => [userId, optionIds]),
    [['bob', [2]]],
  );
  await polls.vote(messageId, []);
  const closed = await createPolls(alice).close(messageId);
  assert.deepEqual([closed.voters, closed.closedAt !== null], [0, true]);
  const passedOn = await answering.send({ forward: { messageId } });
  assert.deepEqual([passedOn.text, passedOn.forwardedFrom?.senderId], ['Lunch?\nPizza\nSoup', 'alice']);
  await Promise.all([alice.disconnect(), bob.disconnect()]);
});
