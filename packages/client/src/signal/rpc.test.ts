import assert from 'node:assert/strict';
import { test } from 'node:test';
import { settle } from '../../testkit/fake-world.ts';
import { systemRuntime } from '../runtime.ts';
import { createRpc } from './rpc.ts';

/** Two ends and a server between them that passes questions on. */
function createPair() {
  const ends = ['ada', 'bob'].map((identity) => {
    const rpc = createRpc({
      runtime: systemRuntime,
      request: async ({ method, payload = null }) => {
        const requestId = 'r1';
        queueMicrotask(() => other(identity).receiveRequest({ requestId, from: identity, method, payload }));
        return { requestId };
      },
      respond: ({ requestId, payload = null, error = null }) =>
        other(identity).receiveResponse({ requestId, payload, error }),
    });
    return { identity, rpc };
  });
  const other = (identity: string) => ends.find((end) => end.identity !== identity)?.rpc ?? assert.fail();
  return [ends[0]?.rpc ?? assert.fail(), ends[1]?.rpc ?? assert.fail()] as const;
}

test('[SDK-22] a question gets its answer, or says why there is none', async () => {
  const [ada, bob] = createPair();
  const stop = bob.handle('greet', async (payload, from) => `${payload}, ${from}`);
  assert.equal(await ada.ask('bob', 'greet', 'hello', 100), 'hello, ada');
  stop();
  await assert.rejects(ada.ask('bob', 'greet', 'hello', 100), { code: 'METHOD_NOT_FOUND' });
  bob.handle('greet', () => {
    throw new Error('a detail that stays here');
  });
  await assert.rejects(ada.ask('bob', 'greet', 'hello', 100), {
    code: 'HANDLER_FAILED',
    message: 'The handler failed.',
  });
});

test('[SDK-22] a response that overtakes the id of its request is not lost', async () => {
  const rpc = createRpc({
    runtime: systemRuntime,
    request: async () => {
      rpc.receiveResponse({ requestId: 'r1', payload: 'fast', error: null });
      await settle();
      return { requestId: 'r1' };
    },
    respond: () => {},
  });
  assert.equal(await rpc.ask('bob', 'greet', '', 100), 'fast');
});
