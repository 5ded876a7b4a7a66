import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ApiError } from '../errors.ts';
import { createChangeLog } from './change-log.ts';
import type { Change, Message, MessageRecord } from './records.ts';
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
  | { is: 'reply'; pick: number }
  | { is: 'edit'; pick: number }
  | { is: 'delete'; pick: number }
  | { is: 'react' | 'unreact'; pick: number; emoji: string; userId: string };

/** Frames go to everybody, so they do not say what one user did. */
const framed = (message: MessageRecord): MessageRecord => ({
  ...message,
  reactions: message.reactions.map(({ reacted: _, ...shared }) => shared),
});

/** A conversation as a server would keep it: the numbered log, and by change number every record after it. */
function play(steps: readonly Step[]): { log: Change[]; states: MessageRecord[][] } {
  let records: MessageRecord[] = [];
  const log: Change[] = [];
  const states: MessageRecord[][] = [[]];
  const put = (next: MessageRecord): void => {
    records = records.map((one) => (one.id === next.id ? next : one));
  };
  for (const step of steps) {
    const change = log.length + 1;
    const createdAt = new Date(change).toISOString();
    const target = 'pick' in step ? records[step.pick % records.length] : undefined;
    if (step.is === 'send') {
      const message = record(records.length + 1, change, { createdAt });
      records = [...records, message];
      log.push({ type: 'message', change, message });
    } else if (!target || target.deleted) {
    } else if (step.is === 'reply') {
      const threadRootId = target.threadRootId ?? target.id;
      const message = record(records.length + 1, change, { createdAt, replyTo: target.id, threadRootId });
      const root = records.find(({ id }) => id === threadRootId) ?? assert.fail('no root');
      put({ ...root, replyCount: root.replyCount + 1, lastReplyAt: createdAt });
      records = [...records, message];
      log.push({ type: 'message', change, message });
    } else {
      if (step.is === 'edit') {
        const message = { ...target, change, text: `text ${change}`, edited: true };
        put(message);
        log.push({ type: 'message.updated', change, message: framed(message) });
      } else if (step.is === 'delete') {
        const message = { ...target, change, text: null, reactions: [], deleted: true };
        put(message);
        const root = records.find(({ id }) => id === target.threadRootId);
        const replies = records.filter((one) => one.threadRootId === root?.id && !one.deleted);
        const lastReplyAt = replies.at(-1)?.createdAt ?? null;
        if (root) put({ ...root, replyCount: replies.length, lastReplyAt });
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
    if (states.length === log.length) states.push(records);
  }
  return { log, states };
}

const pick = fc.nat(50);
const emoji = fc.constantFrom('👍', '❤');
const userId = fc.constantFrom('ada', 'bob', 'cleo');
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ is: fc.constant('send' as const) }),
  fc.record({ is: fc.constantFrom('edit' as const, 'reply' as const), pick }),
  fc.record({ is: fc.constant('delete' as const), pick }),
  fc.record({ is: fc.constantFrom('react' as const, 'unreact' as const), pick, emoji, userId }),
);

const comparable = (
  list: readonly Pick<Message, 'id' | 'text' | 'deleted' | 'replyCount' | 'lastReplyAt' | 'reactions'>[],
) =>
  list.map(({ id, text, deleted, replyCount, lastReplyAt, reactions }) => ({
    id,
    text,
    deleted,
    replyCount,
    lastReplyAt,
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
      const start = roll(2) * roll(log.length + 1);
      changes.start(start);
      const live = log.slice(start).flatMap((change) => Array.from({ length: roll(4) }, () => change));
      const hasHistory = roll(2) === 0;
      for (const change of live.toSorted(() => roll(3) - 1)) {
        if (hasHistory && roll(4) === 0) {
          const moment = roll(states.length);
          for (const one of states[moment] ?? []) timeline.upsert(one, Math.min(moment, changes.last ?? 0));
        }
        changes.take(change);
      }
      // What a reader of `changes` would get: what happened, with the messages as they are now.
      const last = states.at(-1) ?? [];
      const missed = log.slice(changes.last ?? 0).map((change) => {
        const message = 'message' in change && last.find(({ id }) => id === change.message.id);
        return message ? { ...change, message } : change;
      });
      changes.cover(missed, log.length);
      for (const change of missed) if ('message' in change) timeline.upsert(change.message, log.length);
      // Who was there from the beginning needs no history.
      if (start === 0 && !hasHistory) assert.deepEqual(comparable(timeline.list()), comparable(last));
      for (const one of last) timeline.upsert(one, log.length);

      assert.deepEqual(
        given,
        log.slice(start).map(({ change }) => change),
      );
      assert.ok(!changes.hasGap);
      assert.deepEqual(comparable(timeline.list()), comparable(last));
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

test('[SDK-10] an own reaction is known after an edit that does not carry it, also beyond the ten who are listed', () => {
  const timeline = new Timeline('conv_1', 'ada');
  const userIds = Array.from({ length: 10 }, (_, at) => `user${at}`);
  const of = (message: string) => timeline.view(message)?.reactions.map(({ emoji, reacted }) => [emoji, reacted]);
  timeline.upsert(
    record(1, 1, {
      reactions: [
        { emoji: '👍', count: 12, userIds, reacted: true },
        { emoji: '❤', count: 1, userIds: ['ada'], reacted: true },
        { emoji: '🎉', count: 1, userIds: ['bob'], reacted: false },
      ],
    }),
  );
  const reactions = [
    { emoji: '👍', count: 12, userIds },
    { emoji: '❤', count: 1, userIds: ['bob'] },
    { emoji: '🎉', count: 2, userIds: ['bob', 'ada'] },
  ];
  timeline.apply({ type: 'message.updated', change: 2, message: record(1, 2, { reactions }) });
  assert.deepEqual(of('msg_1'), [
    ['👍', true],
    ['❤', false],
    ['🎉', true],
  ]);
  // Seen for the first time, with more than are listed: not known, so not said.
  timeline.apply({ type: 'message.updated', change: 3, message: record(2, 3, { reactions: reactions.slice(0, 1) }) });
  assert.deepEqual(of('msg_2'), [['👍', undefined]]);
});

test('[SDK-10] replies of one moment are each counted once, and a page of history does not count them again', () => {
  const timeline = new Timeline('conv_1', 'ada');
  const count = () => timeline.view('msg_1')?.replyCount;
  const reply = (seq: number): Change => ({
    type: 'message',
    change: seq,
    message: record(seq, seq, { createdAt: '2026-01-01T00:00:01.000Z', threadRootId: 'msg_1' }),
  });
  timeline.upsert(record(1, 1));
  timeline.apply(reply(2));
  timeline.apply(reply(3));
  assert.equal(count(), 2);
  // Read before them, come after them.
  timeline.upsert(record(1, 1), 1);
  assert.equal(count(), 2);
  timeline.upsert(record(1, 1, { replyCount: 3, lastReplyAt: '2026-01-01T00:00:01.000Z' }), 3);
  timeline.apply(reply(4));
  assert.equal(count(), 3);
});

test('[SDK-10] a reply that is deleted leaves the count, once', () => {
  const timeline = new Timeline('conv_1', 'ada');
  const at = (second: number) => `2026-01-01T00:00:0${second}.000Z`;
  const shown = () => [timeline.view('msg_1')?.replyCount, timeline.view('msg_1')?.lastReplyAt];
  const reply = (seq: number, fields: Partial<MessageRecord> = {}) =>
    record(seq, seq, { createdAt: at(seq), threadRootId: 'msg_1', ...fields });
  timeline.upsert(record(1, 1));
  for (const seq of [2, 3, 4]) timeline.apply({ type: 'message', change: seq, message: reply(seq) });
  // Our own: the answer comes first, then its change.
  timeline.confirmRemoved('msg_4', at(9));
  const gone = (seq: number, change: number) => reply(seq, { change, deleted: true });
  timeline.apply({ type: 'message.deleted', change: 5, message: gone(4, 5) });
  assert.deepEqual(shown(), [2, at(3)]);
  timeline.apply({ type: 'message.deleted', change: 6, message: gone(2, 6) });
  assert.deepEqual(shown(), [1, at(3)]);
  // Missed: it was written and deleted meanwhile.
  timeline.apply({ type: 'message', change: 7, message: { ...gone(7, 8), seq: 5, id: 'msg_5' } });
  timeline.apply({ type: 'message.deleted', change: 8, message: { ...gone(7, 8), seq: 5, id: 'msg_5' } });
  assert.deepEqual(shown(), [1, at(3)]);
  // Missed: it was edited and then deleted, and its edit comes with what it is now.
  timeline.apply({ type: 'message.updated', change: 9, message: gone(3, 10) });
  timeline.apply({ type: 'message.deleted', change: 10, message: gone(3, 10) });
  assert.deepEqual(shown(), [0, null]);
});

test('[MOD-23] messages with the same seq are in the order of their time, however they come', () => {
  const second = (n: number): string => `2026-01-01T00:00:0${n}.000Z`;
  const own = (n: number, seq: number) => record(seq, seq, { id: `own_${n}`, senderId: 'alice', createdAt: second(n) });
  const records = [
    own(0, 0),
    record(1, 1, { createdAt: second(1) }),
    own(2, 1),
    own(3, 1),
    record(2, 2, { createdAt: second(4) }),
    own(5, 2),
  ];
  fc.assert(
    fc.property(fc.shuffledSubarray(records, { minLength: records.length }), (shuffled) => {
      const timeline = new Timeline('conv_1', 'alice');
      for (const one of shuffled) timeline.upsert(one);
      assert.deepEqual(
        timeline.list().map(({ id }) => id),
        records.map(({ id }) => id),
      );
    }),
  );
});
