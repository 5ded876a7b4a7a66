import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limitRows } from '@parley/contract';
import fc from 'fast-check';
import { createFakeWorld, settle } from '../../testkit/fake-world.ts';
import { ApiError, ConnectionError, RateLimitError, type SvcError } from '../errors.ts';
import type { Operation, OperationFrame, OperationReply } from './operations.ts';
import { createOutbox, type Outbox } from './outbox.ts';
import { memoryQueue, type QueueStorage } from './queue-storage.ts';
import { createSendBudget, SENDS_MAX, WINDOW_MS } from './send-budget.ts';

const send = (id: string): Operation => ({
  kind: 'send',
  id,
  userId: 'ada',
  conversationId: 'conv_1',
  at: 0,
  draft: { text: id },
});
const react = (id: string): Operation => ({
  kind: 'react',
  id,
  userId: 'ada',
  conversationId: 'conv_1',
  at: 0,
  messageId: 'msg_1',
  emoji: '👍',
});

const idOf = (frame: OperationFrame) => (frame.type === 'message.send' ? frame.clientMessageId : undefined);

function rig(answer: (frame: OperationFrame) => Promise<unknown>, storage = memoryQueue) {
  const world = createFakeWorld();
  const went: { id: string | undefined; at: number }[] = [];
  const refused: string[] = [];
  const outbox: Outbox = createOutbox({
    runtime: world,
    storage,
    budget: createSendBudget(world),
    request(frame) {
      went.push({ id: idOf(frame) ?? frame.type, at: world.now() });
      // As the test says, whatever the frame's row promises.
      return answer(frame) as Promise<OperationReply>;
    },
    onMove: () => {},
    onDone: () => {},
    onRefused: (operation) => refused.push(operation.id),
    onCount: () => {},
    onError: (error: SvcError) => assert.fail(error),
  });
  return { world, went, refused, outbox };
}

test('[SDK-13] the budget is that of the server, and no window sees more', () => {
  assert.equal(SENDS_MAX, limitRows.CHAT_SEND_RATE_LIMIT.default);
  assert.equal(WINDOW_MS, limitRows.RATE_LIMIT_WINDOW_SECONDS.default * 1000);
  fc.assert(
    fc.property(fc.array(fc.nat(20_000), { maxLength: 200 }), (pauses) => {
      let now = 0;
      const budget = createSendBudget({ now: () => now });
      const sent: number[] = [];
      for (const pause of pauses) {
        now += pause % 3 === 0 ? pause : 0;
        for (let wait = budget.take(); wait > 0; wait = budget.take()) now += wait;
        sent.push(now);
      }
      for (const from of sent)
        assert.ok(sent.filter((time) => time >= from && time < from + WINDOW_MS).length <= SENDS_MAX);
    }),
  );
});

test('[SDK-13] forty messages written offline go out in order, thirty in the first minute', async () => {
  const { world, went, outbox } = rig(async () => ({}));
  const ids = Array.from({ length: 40 }, (_, index) => `m${index}`);
  const outcomes = await Promise.all(ids.map((id) => outbox.add(send(id))));
  assert.deepEqual(new Set(outcomes), new Set(['queued']));
  outbox.open('ada');
  await world.advance(59_000);
  assert.equal(went.length, 30);
  await world.advance(60_000);
  assert.deepEqual(
    went.map(({ id }) => id),
    ids,
  );
  assert.equal(outbox.count, 0);
});

test('[SDK-13] RATE_LIMITED sets the wait; the message goes out after it', async () => {
  let isRefused = true;
  const { world, went, outbox } = rig(async () => {
    if (isRefused) throw new RateLimitError({ code: 'SVC_RATE_LIMITED', message: 'Wait.' }, 20);
    return {};
  });
  outbox.open('ada');
  await settle();
  const sent = outbox.add(send('m1'));
  await world.advance(19_000);
  isRefused = false;
  assert.equal(went.length, 1);
  await world.advance(2_000);
  assert.equal(await sent, 'sent');
});

test('[SDK-14] an unknown outcome is settled by the same clientMessageId, never by a second message', async () => {
  let answers = 0;
  const { world, went, outbox } = rig(async () => {
    if (++answers === 1) throw new ConnectionError('network', { code: 'timeout' });
    return {};
  });
  outbox.open('ada');
  await settle();
  const sent = outbox.add(send('m1'));
  await world.advance(5_000);
  assert.equal(await sent, 'sent');
  assert.deepEqual(
    went.map(({ id }) => id),
    ['m1', 'm1'],
  );
});

test('[SDK-14] a reaction taken back twice, because nobody knew of the first time, is done', async () => {
  const unreact: Operation = { ...react('u1'), kind: 'unreact' } as Operation;
  const gone = new ApiError({ code: 'SVC_REACTION_NOT_FOUND', message: 'Not there.' });
  let answers = 0;
  const { world, outbox, refused } = rig(async () => {
    throw ++answers === 1 ? new ConnectionError('network', { code: 'timeout' }) : gone;
  });
  outbox.open('ada');
  await settle();
  const sent = outbox.add(unreact);
  await world.advance(5_000);
  assert.deepEqual([await sent, refused, outbox.count], ['sent', [], 0]);
  // The first time it is the caller's mistake.
  await assert.rejects(outbox.add({ ...unreact, id: 'u2' }), { code: 'SVC_REACTION_NOT_FOUND' });

  // Cut before the answer, it is sent again by the next connection; or by the next page.
  answers = 0;
  const lost = outbox.add({ ...unreact, id: 'u3' });
  outbox.close();
  assert.equal(await lost, 'queued');
  outbox.open('ada');
  await world.advance(5_000);
  const stored = { ...memoryQueue, load: () => [unreact] };
  const later = rig(async () => Promise.reject(gone), stored);
  later.outbox.open('ada');
  await later.world.advance(1_000);
  assert.deepEqual([refused, later.refused, later.outbox.count], [['u2'], [], 0]);
});

test('[SDK-12] a refused send is reported and does not hold up the next one', async () => {
  const { outbox, refused } = rig(async (frame) => {
    if (idOf(frame) === 'bad') throw new ApiError({ code: 'SVC_TEXT_TOO_LONG', message: 'Too long.' });
    return {};
  });
  outbox.open('ada');
  await settle();
  const bad = assert.rejects(outbox.add(send('bad')), { code: 'SVC_TEXT_TOO_LONG' });
  assert.equal(await outbox.add(send('good')), 'sent');
  await bad;
  assert.deepEqual(refused, ['bad']);
});

test('[SDK-13] a reaction does not wait behind messages that wait for their budget', async () => {
  const { went, outbox } = rig(async () => ({}));
  outbox.open('ada');
  await settle();
  for (let index = 0; index < 35; index++) void outbox.add(send(`m${index}`));
  assert.equal(await outbox.add(react('r1')), 'sent');
  await settle();
  assert.ok(went.some(({ id }) => id === 'reaction.add'));
  assert.ok(went.filter(({ id }) => id?.startsWith('m')).length <= 30);
});

test('[SDK-14] what an earlier page left is sent by the next one, for the same user only', async () => {
  const stored = new Map<string, Operation>([
    ['old', send('old')],
    ['other', { ...send('other'), userId: 'bob' }],
  ]);
  const storage: QueueStorage = {
    load: () => [...stored.values()],
    put: (operation) => void stored.set(operation.id, operation),
    remove: (id) => void stored.delete(id),
  };
  const { went, outbox } = rig(async () => ({}), storage);
  outbox.open('ada');
  await settle();
  await settle();
  assert.deepEqual(
    went.map(({ id }) => id),
    ['old'],
  );
  assert.deepEqual([...stored.keys()], ['other']);
});

test('[SDK-12] a discarded message is not sent', async () => {
  const { went, outbox, world } = rig(async () => ({}));
  await outbox.add(send('m1'));
  outbox.discard('m1');
  outbox.open('ada');
  await world.advance(1_000);
  assert.deepEqual([went.length, outbox.count], [0, 0]);
});
