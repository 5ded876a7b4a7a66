import assert from 'node:assert/strict';
import { test } from 'node:test';
import { envelopeOf, messagesOf } from './envelope.ts';

test('[STA-19] a text that is JSON crosses the bus as it is, without an escape', () => {
  const body = JSON.stringify({ type: 'message', conversationId: 'conv_1', text: 'said "so"' });
  const messages = [{ entry: { change: 1, body, message: body } }, { frame: body, by: 'alice' }];
  const envelope = envelopeOf('sender', messages);
  assert.equal(envelope.split(body).length - 1, 3);
  assert.deepEqual(messagesOf(envelope), messages);
});
