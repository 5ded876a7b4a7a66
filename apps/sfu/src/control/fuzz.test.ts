import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { fuzzControlPort } from '../../testkit/fuzz-control.ts';
import { startTestNode, type TestNode } from '../../testkit/node.ts';

/** The seeded part of `tools/proof/fuzz.ts`. */
const SEED = 20_261_115;

let kit: TestNode;
before(async () => {
  kit = await startTestNode();
});
after(() => kit.stop());

test('[SEC-20] whatever comes to the ports of a media node, before and after authentication, ends at most its connection', async () => {
  const { byStatus, byCode, closed, faults } = await fuzzControlPort({ kit, seed: SEED, requests: 300, frames: 600 });
  assert.deepEqual(faults.slice(0, 3), []);
  // One that is refused at the door only proves little.
  for (const status of ['200', '400', '403', '404']) assert.ok(byStatus.has(status), `no ${status}`);
  for (const code of ['', 'BAD_REQUEST', 'NOT_FOUND']) assert.ok(byCode.has(code), `no "${code}"`);
  assert.ok(closed.has(1008), 'what is no command ends its connection');
});
