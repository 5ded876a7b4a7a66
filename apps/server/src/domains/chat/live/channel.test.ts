import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChangeEntry } from './change.ts';
import { createChannel } from './channel.ts';

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
  });
  channel.setMember('alice', { role: 'MEMBER', readSeq: 1, unread: 0, asOf: 1 });
  // The mark overtook the message.
  channel.noteRead('alice', 2);
  channel.take(message(2, 'bob'), 0);
  assert.equal(channel.member('alice')?.unread, 0);
  channel.take(message(3, 'bob'), 0);
  assert.equal(channel.member('alice')?.unread, 1);
});
