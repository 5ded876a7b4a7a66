import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Message } from '@parley/client/chat';
import { sampleMessage } from '../../gallery/sample-messages.ts';
import { choicesFor, completed, mentionAt } from './mentions.ts';
import { continues, finderOf, keyOf, readersAt, startsDay, threadOf, withLinks } from './rows.ts';

const message = (seq: number, more: Partial<Message> = {}): Message => sampleMessage(seq, { senderId: 'ada', ...more });

test('[KIT-37] the message that is answered is found by one walk over the list, however many answers there are', () => {
  let reads = 0;
  const counted = (one: Message): Message => ({
    ...one,
    get id() {
      reads++;
      return one.id;
    },
  });
  const messages = Array.from({ length: 1000 }, (_, at) => counted(message(at + 1)));
  const find = finderOf(messages);
  assert.equal(find(null), undefined);
  assert.equal(reads, 0, 'a list without answers pays nothing');
  for (const seq of [1, 500, 1000]) assert.equal(find(`m${seq}`), messages[seq - 1]);
  assert.equal(find('elsewhere'), undefined);
  assert.equal(reads, 1000);
});

describe('[KIT-22] what a list of messages shows between them', () => {
  test('the name is said once for messages that follow each other, and again after a while, an answer or a day', () => {
    const at = (time: string, more: Partial<Message> = {}) => message(1, { createdAt: `2026-03-01T${time}Z`, ...more });
    const first = at('10:00:00');
    assert.equal(continues(first, undefined), false);
    assert.equal(continues(at('10:04:00'), first), true);
    assert.equal(continues(at('10:06:00'), first), false);
    assert.equal(continues(at('10:01:00', { senderId: 'bob' }), first), false);
    assert.equal(continues(at('10:01:00', { replyTo: 'm0' }), first), false);
    assert.equal(startsDay(at('10:01:00'), first), false);
    assert.equal(startsDay(message(2, { createdAt: '2026-03-03T10:00:00Z' }), first), true);
  });

  test('a mark is shown at the last message that its reader has read', () => {
    const marks = new Map([
      ['bob', 2],
      ['cleo', 3],
      ['dan', 1],
    ]);
    assert.deepEqual(readersAt(marks, message(2), message(4)), ['bob', 'cleo']);
    assert.deepEqual(readersAt(marks, message(4), undefined), []);
    assert.deepEqual(readersAt(marks, message(1, { seq: null }), undefined), [], 'it is not stored yet');
  });

  test('a thread has its root, older replies that were read, live ones and what is on its way', () => {
    const root = message(1, { id: 'root', replyCount: 3 });
    const reply = (seq: number, more: Partial<Message> = {}) => message(seq, { threadRootId: 'root', ...more });
    const live = [message(5), reply(6), message(7, { id: null, seq: null, replyTo: 'root' })];
    const shown = threadOf(root, live, [reply(6), reply(2)]);
    assert.deepEqual(
      shown.map(({ seq }) => seq),
      [1, 2, 6, null],
    );
  });

  test('a key is the same before and after a message is stored, and never that of another user', () => {
    const stored = message(1, { clientMessageId: 'c1' });
    assert.equal(keyOf({ ...stored, id: null }, 'ada'), keyOf(stored, 'ada'));
    assert.notEqual(keyOf(stored, 'bob'), keyOf({ ...stored, senderId: 'bob', id: 'other' }, 'bob'));
  });

  test('links of the web are links, without the full stop behind them, and nothing else is', () => {
    assert.deepEqual(withLinks('see https://a.example/x?y=1. And'), ['see ', 'https://a.example/x?y=1', '. And']);
    assert.deepEqual(withLinks('javascript:alert(1)'), ['javascript:alert(1)']);
    assert.deepEqual(withLinks('http://a.example'), ['', 'http://a.example', '']);
  });
});

describe('[KIT-26] names after an @', () => {
  const names = ['Ada Lovelace', 'Bob', 'Adam', 'Grace Adams'];

  test('a mention is where the caret is, and not inside of a word', () => {
    assert.deepEqual(mentionAt('hi @ad', 6), { start: 3, query: 'ad' });
    assert.deepEqual(mentionAt('@', 1), { start: 0, query: '' });
    assert.equal(mentionAt('mail@ad', 7), null);
    assert.equal(mentionAt('@ada done', 9), null);
  });

  test('those who are present are offered, and the chosen name is written out', () => {
    assert.deepEqual(choicesFor({ start: 0, query: 'ad' }, names), ['Ada Lovelace', 'Adam', 'Grace Adams']);
    assert.deepEqual(choicesFor({ start: 0, query: 'x' }, names), []);
    assert.deepEqual(completed('hi @ad you', { start: 3, query: 'ad' }, 'Adam'), { text: 'hi @Adam you', caret: 8 });
    assert.deepEqual(completed('@b', { start: 0, query: 'b' }, 'Bob'), { text: '@Bob ', caret: 5 });
  });
});
