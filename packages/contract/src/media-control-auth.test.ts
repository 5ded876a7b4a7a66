import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signMediaControl, verifyMediaControl } from './media-control-auth.ts';

const nonce = 'abcdefghijklmnop';

test('[MED-20] a control token is good for its node, its secret and a minute', async () => {
  const token = await signMediaControl('secret', 'node-1', 1_000_000_000, nonce);
  assert.equal(await verifyMediaControl('secret', 'node-1', 1_000_059_000, token), nonce);
  assert.equal(await verifyMediaControl('secret', 'node-1', 1_000_061_000, token), null);
  assert.equal(await verifyMediaControl('secret', 'node-2', 1_000_000_000, token), null);
  assert.equal(await verifyMediaControl('other', 'node-1', 1_000_000_000, token), null);
  assert.equal(await verifyMediaControl('secret', 'node-1', 1_000_000_000, token.replace(/.$/, 'x')), null);
  assert.equal(await verifyMediaControl('secret', 'node-1', 1_000_000_000, 'v1.a.b.c'), null);
});
