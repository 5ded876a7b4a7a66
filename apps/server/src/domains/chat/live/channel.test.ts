import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChangeEntry } from './change.ts';
import { createChannel, recentBytesMax } from './channel.ts';

const conversationId = 'conv_1';

const message = (change: number, senderId: string): ChangeEntry => ({
  conversationId,
  change,
  type: 'message',
  body: '{}',
  at: 0,
  seq: change,
  senderId,
});

test('[READ-1] a message whose read mark arrives before it is not unread', () => {
  const channel = createChannel({
    conversationId,
    uuid: 'u',
    epoch: 'e',
    name: 'n',
    status: 'ACTIVE',
    lastChange: 1,
    lastSeq: 1,
    lastPosition: 1,
    isSilent: false,
  });
  channel.setMember('alice', { role: 'MEMBER', readSeq: 1, unread: 0, asOf: 1, blocked: [] });
  // The mark overtook the message.
  channel.noteRead('alice', 2);
  channel.take(message(2, 'bob'), 0);
  assert.equal(channel.member('alice')?.unread, 0);
  channel.take(message(3, 'bob'), 0);
  assert.equal(channel.member('alice')?.unread, 1);
});

test('[CHATWS-16] what a conversation keeps in memory is bounded by its bytes too, and told by `tail`', () => {
  const start = { conversationId, uuid: 'u', epoch: 'e', name: 'n', status: 'ACTIVE', isSilent: false } as const;
  const channel = createChannel({ ...start, lastChange: 0, lastSeq: 0, lastPosition: 0 });
  const kept = () =>
    channel
      .after(channel.tail)
      .reduce((sum, { body, message: text = '' }) => sum + Buffer.byteLength(body) + Buffer.byteLength(text), 0);
  const long = (change: number) => ({
    ...message(change, 'bob'),
    messageId: `m${change}`,
    // Three bytes each.
    message: '語'.repeat(21_000),
  });
  for (let change = 1; change <= 400; change++) {
    channel.take(long(change), 0);
    if (change % 20 === 0) assert.ok(kept() <= 2 * recentBytesMax);
  }
  channel.forget(0);
  assert.ok(kept() <= recentBytesMax && kept() > recentBytesMax - 70_000);
  assert.equal(channel.head, 400);
  assert.equal(channel.after(channel.tail)[0]?.change, channel.tail + 1);
  // What was deleted takes no room any longer.
  const before = kept();
  channel.take({ ...message(401, 'bob'), type: 'message.deleted', messageId: 'm400', message: '{}' }, 0);
  assert.ok(kept() < before);
});
