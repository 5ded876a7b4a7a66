import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ChatOf, chatAs, createChatKit } from '../../../../testkit/chat/chat.ts';
import { eventually } from '../../../../testkit/kit/eventually.ts';
import { createHeardTopics } from '../../../../testkit/kit/heard-topics.ts';
import { startService, type TestService } from '../../../../testkit/kit/service.ts';

/** Two processes, and what each of them hears. */
const [near, far] = [createHeardTopics(), createHeardTopics()];
let service: TestService;
let beside: TestService;
let chat: ChatOf;
before(async () => {
  service = await startService({ wrap: near.wrap });
  beside = await startService({ beside: service, wrap: far.wrap });
  chat = await createChatKit(service);
});
after(async () => {
  await beside.stop();
  await service.stop();
});

test("[STA-26] a process hears a user's drafts while a device of theirs is connected to it, over one topic", async () => {
  const { id: room } = await chat.conversation();
  const [alice, bob] = [await chat.user('alice'), await chat.user('bob')];
  assert.deepEqual([near.topics('drafts/'), far.topics('drafts/')], [[], []]);
  const [phone, laptop] = [await alice.connect(), await alice.connect()];
  const other = await chatAs(beside, bob.token);
  assert.deepEqual([near.topics('drafts/').length, far.topics('drafts/').length], [1, 1], 'however many devices');
  const write = (text: string) => alice.api.call('setDraft', { room, body: { text } });

  for (const text of ['a', 'ab', 'abc']) await write(text);
  await bob.api.call('setDraft', { room, body: { text: 'mine' } });
  const heard = await other.take('draft.updated');
  assert.equal(heard['userId'], 'bob', "the first that bob's process is told of");
  assert.deepEqual([near.count('drafts/'), far.count('drafts/')], [3, 1], "alice's here, bob's there");

  // Of a device that comes to the other process later.
  const tablet = await chatAs(beside, alice.token);
  await eventually(async () => {
    await write('abcd');
    assert.ok(tablet.frames.some(({ type }) => type === 'draft.updated'));
  });
  for (const device of [phone, laptop]) await device.close();
  await eventually(() => assert.deepEqual(near.topics('drafts/'), []));
  const before = near.count('drafts/');
  await write('abcde');
  assert.equal(near.count('drafts/'), before, 'nobody of hers is here any more');
  for (const device of [tablet, other]) await device.close();
  await eventually(() => assert.deepEqual(far.topics('drafts/'), []));
});

test('[STA-26] a device that comes while another of its user leaves is told', async () => {
  const { id: room } = await chat.conversation();
  const alice = await chat.user('alice');
  for (let round = 0; round < 5; round++) {
    const former = await alice.connect();
    const [next] = await Promise.all([alice.connect(), former.close()]);
    await alice.api.call('setDraft', { room, body: { text: `round ${round}` } });
    const frame = await next.take('draft.updated');
    assert.equal((frame['draft'] as { text: string }).text, `round ${round}`);
    await next.close();
    await eventually(() => assert.deepEqual(near.topics('drafts/'), []));
  }
});

/** What many processes have to know at once, and happens seldom. */
const rare = [
  'accounts/sessions',
  'blocks',
  'chat-standing',
  'end-users/changed',
  'end-users/token-revoked',
  'inboxes',
  'projects/changed',
  'projects/tokens-revoked',
  'push-jobs/due',
  'push/due',
  'webhooks/due',
];

test('[STA-27] what a process without clients hears is rare, and the same however much users write', async (t) => {
  const idle = createHeardTopics();
  const third = await startService({ beside: service, wrap: idle.wrap });
  t.after(() => third.stop());
  const { api } = chat.project;
  const { id: room } = await chat.conversation();
  const alice = await chat.user('alice');
  const device = await alice.connect();
  t.after(() => device.close());
  const start = idle.count('');
  for (let n = 0; n < 10; n++) {
    await api.call('sendMessage', { room, body: { text: `m${n}`, senderId: 'bob' } });
    await api.call('putChatUser', { userId: 'bob', body: { name: `Bob ${n}` } });
    await alice.api.call('setDraft', { room, body: { text: `d${n}` } });
  }
  await eventually(() =>
    assert.equal(device.frames.filter(({ type }) => type === 'draft.updated').length, 10, 'all of them were told'),
  );
  assert.deepEqual(idle.topics('').sort(), rare);
  assert.equal(idle.count(''), start);
});
