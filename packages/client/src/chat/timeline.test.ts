import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ApiError } from '../errors.ts';
import { createChangeLog } from './change-log.ts';
import type { Change, MessageRecord } from './records.ts';
import { Timeline } from './timeline.ts';

const at = '2026-01-01T00:00:00.000Z';

function record(seq: number, change: number, fields: Partial<MessageRecord> = {}): MessageRecord {
  return {
    id: `msg_${seq}`,
    publicId: `msg_${seq}`,
    conversationId: 'conv_1',
    seq,
    change,
    type: 'text',
    text: `text ${change}`,
    senderId: 'bob',
    senderRole: 'MEMBER',
    replyTo: null,
    threadRootId: null,
    replyCount: 0,
    lastReplyAt: null,
    clientMessageId: null,
    attachmentId: null,
    attachment: null,
    metadata: {},
    reactions: [],
    edited: false,
    editedAt: null,
    deleted: false,
    deletedAt: null,
    deletedBy: null,
    clientSentAt: null,
    createdAt: at,
    updatedAt: at,
    ...fields,
  };
}

type Step =
  | { is: 'send' }
  | { is: 'edit'; pick: number }
  | { is: 'delete'; pick: number }
  | { is: 'react' | 'unreact'; pick: number; emoji: string; userId: string };

/** A conversation as a server would keep it: the numbered log, and every record after every change. */
function play(steps: readonly Step[]): { log: Change[]; states: MessageRecord[][] } {
  let records: MessageRecord[] = [];
  const log: Change[] = [];
  const states: MessageRecord[][] = [[]];
  const put = (next: MessageRecord): void => {
    records = records.map((one) => (one.id === next.id ? next : one));
  };
  for (const step of steps) {
    const change = log.length + 1;
    if (step.is === 'send') {
      const message = record(records.length + 1, change);
      records = [...records, message];
      log.push({ type: 'message', change, message });
    } else {
      const target = records[step.pick % records.length];
      if (!target || target.deleted) continue;
      if (step.is === 'edit') {
        const message = { ...target, change, text: `text ${change}`, edited: true };
        put(message);
        log.push({ type: 'message.updated', change, message });
      } else if (step.is === 'delete') {
        const message = { ...target, change, text: null, reactions: [], deleted: true };
        put(message);
        log.push({ type: 'message.deleted', change, message });
      } else {
        const isAdded = step.is === 'react';
        const known = target.reactions.find((one) => one.emoji === step.emoji);
        const users = new Set(known?.userIds);
        if (users.has(step.userId) === isAdded) continue;
        if (isAdded) users.add(step.userId);
        else users.delete(step.userId);
        const summary = { emoji: step.emoji, count: users.size, userIds: [...users], reacted: users.has('ada') };
        const others = target.reactions.filter((one) => one !== known);
        put({ ...target, change, reactions: users.size > 0 ? [...others, summary] : others });
        const { emoji, userId } = step;
        const type = isAdded ? 'reaction.added' : 'reaction.removed';
        log.push({ type, change, messageId: target.id, userId, emoji, count: users.size });
      }
    }
    states.push(records);
  }
  return { log, states };
}

const pick = fc.nat(50);
const emoji = fc.constantFrom('👍', '❤');
const userId = fc.constantFrom('ada', 'bob', 'cleo');
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ is: fc.constant('send' as const) }),
  fc.record({ is: fc.constant('edit' as const), pick }),
  fc.record({ is: fc.constant('delete' as const), pick }),
  fc.record({ is: fc.constantFrom('react' as const, 'unreact' as const), pick, emoji, userId }),
);

const comparable = (
  list: readonly { id: string | null; text: string | null; deleted: boolean; reactions: object[] }[],
) =>
  list.map(({ id, text, deleted, reactions }) => ({
    id,
    text,
    deleted,
    reactions: reactions.map((one) => JSON.stringify(one, Object.keys(one).sort())).sort(),
  }));

test('[SDK-10] live frames late, early, lost or twice, and history of any moment: the list is what the server has', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), fc.infiniteStream(fc.nat(1_000_000)), (steps, dice) => {
      const { log, states } = play(steps);
      const roll = (size: number): number => (dice.next().value ?? 0) % Math.max(1, size);
      const timeline = new Timeline('conv_1', 'ada');
      const given: number[] = [];
      const changes = createChangeLog((change) => {
        given.push(change.change);
        timeline.apply(change);
      });
      const start = roll(log.length + 1);
      changes.start(start);
      const live = log.slice(start).flatMap((change) => Array.from({ length: roll(4) }, () => change));
      for (const change of live.toSorted(() => roll(3) - 1)) {
        if (roll(4) === 0) for (const one of states[roll(states.length)] ?? []) timeline.upsert(one);
        changes.take(change);
      }
      // What a reader of `changes` would get, then the whole history.
      changes.cover(log.slice(changes.last ?? 0), log.length);
      for (const one of states.at(-1) ?? []) timeline.upsert(one);

      assert.deepEqual(
        given,
        log.slice(start).map(({ change }) => change),
      );
      assert.ok(!changes.hasGap);
      assert.deepEqual(comparable(timeline.list()), comparable(states.at(-1) ?? []));
    }),
    { numRuns: 500 },
  );
});

test('[SDK-11] an own message is shown once: on its way, then stored', () => {
  const timeline = new Timeline('conv_1', 'ada');
  timeline.upsert(record(1, 1));
  timeline.addPending('c1', { text: 'hello' }, 0, false);
  assert.deepEqual(
    timeline.list().map(({ text, delivery, id }) => [text, delivery, id]),
    [
      ['text 1', 'sent', 'msg_1'],
      ['hello', 'sending', null],
    ],
  );
  // Another sender's message with the same clientMessageId is another message.
  timeline.upsert(record(2, 2, { clientMessageId: 'c1', senderId: 'bob' }));
  assert.equal(timeline.list().length, 3);
  timeline.upsert(record(3, 3, { clientMessageId: 'c1', senderId: 'ada', text: 'hello' }));
  assert.deepEqual(
    timeline.list().map(({ delivery }) => delivery),
    ['sent', 'sent', 'sent'],
  );
});

test('[SDK-12] refused: a send and an edit are kept as failed, a removal and a reaction are taken back', () => {
  const timeline = new Timeline('conv_1', 'ada');
  timeline.upsert(record(1, 1));
  const error = new ApiError({ code: 'SVC_CONVERSATION_ARCHIVED', message: 'No.' });
  timeline.addPending('c1', { text: 'hello' }, 0, false);
  timeline.setPending('c1', { error });
  assert.equal(timeline.list().at(-1)?.delivery, 'failed');

  timeline.setEdit('msg_1', { patch: { text: 'new' }, error: null });
  assert.deepEqual([timeline.view('msg_1')?.text, timeline.view('msg_1')?.delivery], ['new', 'sending']);
  timeline.setEdit('msg_1', { patch: { text: 'new' }, error });
  assert.deepEqual([timeline.view('msg_1')?.text, timeline.view('msg_1')?.delivery], ['new', 'failed']);
  timeline.setEdit('msg_1', null);

  timeline.setRemoved('msg_1', true);
  assert.deepEqual([timeline.view('msg_1')?.text, timeline.view('msg_1')?.deleted], [null, true]);
  timeline.setRemoved('msg_1', false);
  timeline.setReaction('msg_1', '👍', true);
  assert.deepEqual(timeline.view('msg_1')?.reactions, [{ emoji: '👍', count: 1, userIds: ['ada'], reacted: true }]);
  timeline.setReaction('msg_1', '👍', null);
  assert.deepEqual(
    [timeline.view('msg_1')?.text, timeline.view('msg_1')?.deleted, timeline.view('msg_1')?.reactions],
    ['text 1', false, []],
  );
});

test('[SDK-11] a message object stays the same until the message changes', () => {
  const timeline = new Timeline('conv_1', 'ada');
  timeline.upsert(record(1, 1));
  timeline.upsert(record(2, 2));
  const [first, second] = timeline.list();
  timeline.apply({ type: 'reaction.added', change: 3, messageId: 'msg_2', userId: 'bob', emoji: '👍', count: 1 });
  assert.equal(timeline.list()[0], first);
  assert.notEqual(timeline.list()[1], second);
});
